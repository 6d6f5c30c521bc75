"""Words and tags to numbers and back, from the training part alone."""

import json

import pytest
import torch

from atento.data.text.vocabulary import UNKNOWN
from atento.errors import InputError
from atento.spec import TokensRecipe
from atento.tasks.tag.codec import MOST_LETTERS, TagCodec

PAIRS = [("The\tcat\tsat", "DET\tNOUN\tVERB"), ("the\tdog", "DET\tNOUN"), ("a\tcat", "DET\tNOUN")]
SPANS = [("Ann\tLee\tsat", "B-per\tI-per\tO"), ("sat", "O")]


def test_numbers_of_words_and_letters():
    codec = TagCodec.learn(TokensRecipe(), PAIRS)
    assert codec.words == ["cat", "The", "a", "dog", "sat", "the"]  # the commonest first, then by the alphabet
    assert codec.tagset == (("DET", "NOUN", "VERB"), "")
    numbers = codec.read(["dog", "cow"])
    letters = {letter: number for number, letter in enumerate(codec.letters, 4)}
    assert numbers[0].tolist() == [7, letters["d"], letters["o"], letters["g"]]
    assert numbers[1].tolist() == [UNKNOWN, letters["c"], letters["o"], UNKNOWN]  # no w was seen
    encoded = codec.encode(PAIRS[0])
    assert encoded.words.shape == (3, 4) and encoded.tags.tolist() == [0, 1, 2]
    assert codec.sizes == (10, 4 + len(set("Thecatsadogthe")))


def test_small_letters_are_looked_up_and_letters_stay():
    codec = TagCodec.learn(TokensRecipe(lower=True), PAIRS)
    assert codec.words == ["cat", "the", "a", "dog", "sat"]
    capital, small = codec.read(["The"])[0], codec.read(["the"])[0]
    assert capital[0] == small[0] and capital[1] != small[1]


def test_rare_words_are_unknown_but_seen():
    codec = TagCodec.learn(TokensRecipe(least_count=2), PAIRS)
    assert codec.words == ["cat"] and codec.read(["dog"])[0, 0] == UNKNOWN
    assert {"dog", "The", "the"} <= codec.seen
    assert len(TagCodec.learn(TokensRecipe(size=8), PAIRS * 9).words) == 6


def test_a_long_word_keeps_its_ends():
    codec = TagCodec.learn(TokensRecipe(), [("abc" * 20 + "\tx", "A\tB")])
    assert codec.read(["abc" * 20]).shape == (1, 1 + MOST_LETTERS)
    long, longer = codec.read(["a" + "bc" * 20 + "x"])[0], codec.read(["a" + "bc" * 40 + "x"])[0]
    assert torch.equal(long[1:], longer[1:])


def test_saved_and_loaded_it_is_the_same():
    codec = TagCodec.learn(TokensRecipe(lower=True), SPANS)
    again = TagCodec.load(json.loads(json.dumps(codec.to_json())))
    assert again.tagset == codec.tagset == (("O", "B-per", "I-per"), "iob2")
    assert again.seen == codec.seen and again.lower
    assert torch.equal(again.encode(SPANS[0]).words, codec.encode(SPANS[0]).words)


@pytest.mark.parametrize("key, value", [("words", None), ("tags", []), ("seen", [3]), ("scheme", "iob9")])
def test_a_damaged_file_is_refused(key, value):
    saved = {**TagCodec.learn(TokensRecipe(), PAIRS).to_json(), key: value}
    with pytest.raises(InputError, match="the vocabulary file"):
        TagCodec.load(saved)


def test_notes_say_how_text_is_cut_and_what_tags_mark():
    notes = TagCodec.learn(TokensRecipe(), SPANS).notes
    assert "cut at white space" in notes[0] and "tags mark spans (iob2)" in notes[1]
    assert len(TagCodec.learn(TokensRecipe(), PAIRS).notes) == 1


def test_levels_other_than_words_are_refused():
    with pytest.raises(InputError, match=r"model\.characters reads the letters inside words"):
        TagCodec.learn(TokensRecipe(source="char"), PAIRS)
