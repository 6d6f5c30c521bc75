import random

import pytest

from atento.data import SPECIAL_TOKENS, Subwords
from atento.data.text.subwords import SPACE_SIGN
from atento.errors import InputError

TEXTS = ["low lower lowest", "new newer newest", "wide wider widest"] * 7


def learn(most):
    return Subwords.learn(TEXTS, size=most, least_count=1)


def test_words_are_encoded_one_by_one_as_the_text_would_be(monkeypatch):
    """The space before a word belongs to it, and several spaces are several subwords; few words are remembered."""
    monkeypatch.setattr("atento.data.text.subwords.REMEMBERED", 7)
    subwords, chance = Subwords.learn(["a bab ab", "ba ab, ba.", "é ▁"] * 3, size=40, least_count=1), random.Random(0)
    for _ in range(500):
        text = "".join(chance.choices("ab é.,\t▁", k=chance.randint(0, 9)))
        whole = subwords.tokenizer.encode(text.replace("▁", "\ue000"))
        assert subwords.encode(text) == whole.ids
        assert len(subwords.known) <= 7


def test_frequent_pieces_grow_with_the_vocabulary():
    small, large = learn(17), learn(200)
    assert len(small) == 17
    assert len(small.encode("lowest newer")) > len(large.encode("lowest newer"))
    assert large.tokens(large.encode("low new")) == [f"{SPACE_SIGN}low", f"{SPACE_SIGN}new"]


def test_a_new_word_is_made_of_known_pieces():
    vocabulary = learn(60)
    numbers = vocabulary.encode("newst widew")
    assert min(numbers) >= len(SPECIAL_TOKENS)
    assert vocabulary.decode(numbers) == "newst widew"
    assert "".join(vocabulary.tokens(numbers)) == f"{SPACE_SIGN}newst{SPACE_SIGN}widew"


def test_the_marks_come_first():
    vocabulary = learn(60)
    assert vocabulary.tokens(range(len(SPECIAL_TOKENS))) == list(SPECIAL_TOKENS)


def test_spaces_within_a_text_are_kept():
    vocabulary = learn(60)
    assert vocabulary.decode(vocabulary.encode("low  new")) == "low  new"


def test_anything_else_is_refused():
    with pytest.raises(InputError, match="not a subword vocabulary"):
        Subwords.from_text("{}")
