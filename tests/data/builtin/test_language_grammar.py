"""The small grammar: what its sentences promise."""

from collections import defaultdict

import pytest

from atento.data.builtin import BUILTIN
from atento.data.builtin.language import BOTH, GRAMMAR_SIZES
from atento.errors import InputError
from atento.spec import DataRecipe


@pytest.fixture(scope="module")
def parts():
    return BUILTIN["grammar"].make(DataRecipe(train="grammar"), 0)


def test_parts_share_no_sentence_and_follow_from_the_seed(parts):
    assert [len(part) for part in parts[:3]] == list(GRAMMAR_SIZES)
    sources = [source for part in parts[:3] for source, _ in part]
    assert len(set(sources)) == len(sources)
    assert BUILTIN["grammar"].make(DataRecipe(train="grammar"), 0) == parts
    assert BUILTIN["grammar"].make(DataRecipe(train="grammar"), 1) != parts


def test_every_word_has_a_tag_and_every_sentence_a_verb(parts):
    for source, target in parts.train:
        tags = target.split("\t")
        assert len(source.split("\t")) == len(tags)
        assert "VERB" in tags and tags.count("CONJ") <= 1


@pytest.mark.spec("K04")
def test_words_are_nouns_here_and_verbs_there_and_some_are_new(parts):
    tags = defaultdict(set)
    for source, target in parts.train:
        for word, tag in zip(source.split("\t"), target.split("\t"), strict=True):
            tags[word].add(tag)
    assert all({"NOUN", "VERB"} <= tags[word] for word in BOTH)
    words = [word for source, _ in parts.test for word in source.split("\t")]
    assert 0.05 < sum(word not in tags for word in words) / len(words) < 0.2


@pytest.mark.parametrize("key", ["source", "target", "label", "length"])
def test_there_is_nothing_to_choose(key):
    with pytest.raises(InputError, match=rf"data\.{key} has no meaning for the built-in grammar"):
        BUILTIN["grammar"].make(DataRecipe(train="grammar", **{key: 5 if key == "length" else "x"}), 0)
