import random

import pytest

from atento.data import learn_vocabulary, load_vocabulary
from atento.data.text.levels import LEVELS, choose_level
from atento.errors import InputError


def test_single_words_are_cut_into_characters():
    level, reason = choose_level(["abandon", "zebra", "mouse"] * 5)
    assert level == "char"
    assert "1.0 per text" in reason


def test_few_words_used_often_stay_whole():
    level, reason = choose_level(["twenty one", "one and twenty"] * 50)
    assert (level, reason) == ("word", "only 3 distinct words")


def test_open_text_is_cut_into_subwords():
    chance = random.Random(0)
    words = ["".join(chance.choices("abcdefgh", k=5)) for _ in range(2000)]
    texts = [" ".join(chance.choices(words, k=7)) for _ in range(500)]
    assert choose_level(texts)[0] == "subword"


def test_few_words_used_seldom_are_not_taken_for_a_closed_vocabulary():
    assert choose_level(["one two three four", "five six seven eight"])[0] == "subword"


@pytest.mark.parametrize("level", LEVELS)
def test_one_text_at_three_levels(level):
    text = "otitis crónica"
    vocabulary = learn_vocabulary(level, [text] * 3, size=100, least_count=1)
    pieces = vocabulary.tokens(vocabulary.encode(text))
    assert vocabulary.level == level
    assert vocabulary.decode(vocabulary.encode(text)) == text
    assert len(pieces) == {"char": 14, "word": 2, "subword": 2}[level]


@pytest.mark.parametrize(
    "saved",
    [
        None,
        [],
        {"level": "char"},
        {"level": "word", "tokens": "abc"},
        {"level": "word", "tokens": [1, 2]},
        {"level": "subword", "tokenizer": 5},
        {"level": "syllable", "tokens": ["a"]},
    ],
)
def test_anything_else_is_no_vocabulary(saved):
    with pytest.raises(InputError, match="not a vocabulary"):
        load_vocabulary(saved)
