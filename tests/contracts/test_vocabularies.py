"""Laws of every level of cutting: what is cut can be put together again."""

import json

import pytest

from atento.data import SPECIAL_TOKENS, learn_vocabulary, load_vocabulary
from atento.data.text.levels import LEVELS
from atento.data.text.subwords import SPACE_SIGN
from atento.data.text.vocabulary import END, JOINER, PAD, START, UNKNOWN

ODD_TEXTS = [
    "otitis crónica",
    "Who's there? It's -- well, forty-three (43)!",
    "¿Quién comió 1.234,56 €, y por qué…?",
    "你好，世界。漢字かな交じり文",
    "שלום, עולם! مرحبا بالعالم",
    "😀 👩‍👩‍👧 naïve café Ångström",
    "क्षत्रिय हिन्दी ไทย",
    "a_b __init__ x-y_z",
    f"a{JOINER}b {JOINER} {JOINER}c d{JOINER} {JOINER}{JOINER} -{JOINER}-",
    f"a{SPACE_SIGN}b {SPACE_SIGN} {SPACE_SIGN}c d{SPACE_SIGN}",
    "<end> <pad>x<start> <unknown> a<b>c",
    "* - + = a=b 'quoted' \"twice\"",
    "\u200b x\u200dy \ufeffz",
]

every_level = pytest.mark.parametrize("level", LEVELS)


def learn(level, texts=ODD_TEXTS, size=2000):
    return learn_vocabulary(level, texts, size=size, least_count=1)


@every_level
def test_text_comes_back_as_it_was(level):
    vocabulary = learn(level)
    for text in ODD_TEXTS:
        numbers = vocabulary.encode(text)
        assert vocabulary.decode(numbers) == text
        assert all(len(SPECIAL_TOKENS) <= number < len(vocabulary) for number in numbers), text  # none unknown, no mark
        assert len(vocabulary.tokens(numbers)) == len(numbers), text
        assert all(vocabulary.tokens(numbers)), text


@every_level
def test_a_saved_vocabulary_is_the_same(level):
    vocabulary = learn(level)
    again = load_vocabulary(json.loads(json.dumps(vocabulary.to_json())))
    assert type(again) is type(vocabulary)
    assert len(again) == len(vocabulary)
    for text in [*ODD_TEXTS, "never seen: Ж"]:
        assert again.encode(text) == vocabulary.encode(text)
        assert again.decode(again.encode(text)) == vocabulary.decode(vocabulary.encode(text))


@every_level
def test_marks_in_a_text_are_text(level):
    vocabulary = learn(level)
    for mark in SPECIAL_TOKENS:
        numbers = vocabulary.encode(f"a{mark}b {mark}")
        assert not {PAD, START, END} & set(numbers)
    assert UNKNOWN not in vocabulary.encode("<end>")
    assert vocabulary.decode(vocabulary.encode("<end>")) == "<end>"


@every_level
def test_what_was_never_seen_is_unknown_and_left_out(level):
    vocabulary = learn(level, ["a b a b"])
    numbers = vocabulary.encode("a Ж b")
    assert UNKNOWN in numbers
    assert vocabulary.decode(numbers).split() == ["a", "b"]


@every_level
def test_marks_are_never_written(level):
    vocabulary = learn(level)
    numbers = vocabulary.encode("naïve café")
    assert vocabulary.decode([START, *numbers, END, PAD, PAD]) == vocabulary.decode(numbers)
    assert vocabulary.decode([]) == ""
    assert vocabulary.encode("") == []


@every_level
def test_the_same_texts_give_the_same_vocabulary(level):
    assert learn(level).to_json() == learn(level).to_json()


@every_level
def test_a_vocabulary_is_no_larger_than_asked(level):
    texts = [f"{word} word{word}" for word in "abcdefghijklmnopqrstuvwxyz"]
    small = learn(level, texts, size=31)
    assert len(small) <= 31 + len(SPECIAL_TOKENS)
