"""Meaning: sentences that share nothing between the parts, and words whose company tells what they are."""

from collections import Counter

import pytest

from atento.data.builtin import BUILTIN
from atento.data.builtin.language import KINDS, PEOPLE, TRAITS
from atento.errors import InputError
from atento.spec import DataRecipe


def make(seed=0, **choices):
    return BUILTIN["meaning"].make(DataRecipe(train="meaning", **choices), seed)


def test_parts_share_nothing_and_a_seed_decides_all():
    parts = make()
    sentences = [said for part in parts[:3] for said, nothing in part]
    assert len(set(sentences)) == len(sentences) == 6600
    assert all(nothing == "" for part in parts[:3] for _, nothing in part)
    assert make() == parts and make(1).train != parts.train


def test_every_word_is_used_often_and_alike():
    used = Counter(word for said, _ in make().train for word in said.split())
    things = {word: kind for kind, (words, _) in KINDS.items() for word in words.split()}
    assert all(used[word] > 100 for word in (*things, *PEOPLE))
    assert [kind for kind, (words, _) in KINDS.items() if "apple" in words.split()] == ["fruit", "device"]
    assert used["his"] > 50 and used["crown"] > 30


def test_a_queen_is_to_a_king_as_a_woman_to_a_man():
    change = {"he": "she"}
    for man, woman in (("man", "woman"), ("king", "queen"), ("prince", "princess"), ("boy", "girl")):
        assert PEOPLE[woman] == tuple(change.get(trait, trait) for trait in PEOPLE[man])
    assert {trait for traits in PEOPLE.values() for trait in traits} == set(TRAITS)


def test_what_it_does_not_have_is_refused():
    with pytest.raises(InputError, match="length"):
        make(length=3)
