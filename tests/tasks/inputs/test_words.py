"""Words and tags to numbers and back, from the training part alone."""

import json

import pytest
import torch

from atento.data.text.encoding import MOST_LETTERS
from atento.data.text.vocabulary import UNKNOWN
from atento.errors import InputError
from atento.spec import TokensRecipe
from atento.tasks.catalogue import TAG

PAIRS = [("The\tcat\tsat", "DET\tNOUN\tVERB"), ("the\tdog", "DET\tNOUN"), ("a\tcat", "DET\tNOUN")]
SPANS = [("Ann\tLee\tsat", "B-per\tI-per\tO"), ("sat", "O")]


def test_numbers_of_words_and_letters():
    codec = TAG.learning.learn(TokensRecipe(), PAIRS)
    assert codec.input.words == ["cat", "The", "a", "dog", "sat", "the"]  # the commonest first, then by the alphabet
    assert codec.output.tagset == (("DET", "NOUN", "VERB"), "")
    numbers = codec.input.encode_words(["dog", "cow"])
    letters = {letter: number for number, letter in enumerate(codec.input.letters, 4)}
    assert numbers[0].tolist() == [7, letters["d"], letters["o"], letters["g"]]
    assert numbers[1].tolist() == [UNKNOWN, letters["c"], letters["o"], UNKNOWN]  # no w was seen
    encoded = TAG.learning.encode(codec, PAIRS[0])
    assert encoded.source.shape == (3, 4) and encoded.target.tolist() == [0, 1, 2]
    assert codec.input.sizes == (10, 4 + len(set("Thecatsadogthe")))


def test_small_letters_are_looked_up_and_letters_stay():
    codec = TAG.learning.learn(TokensRecipe(lowercase=True), PAIRS)
    assert codec.input.words == ["cat", "the", "a", "dog", "sat"]
    capital, small = codec.input.encode_words(["The"])[0], codec.input.encode_words(["the"])[0]
    assert capital[0] == small[0] and capital[1] != small[1]


def test_rare_words_are_unknown_but_seen():
    codec = TAG.learning.learn(TokensRecipe(min_count=2), PAIRS)
    assert codec.input.words == ["cat"] and codec.input.encode_words(["dog"])[0, 0] == UNKNOWN
    assert {"dog", "The", "the"} <= codec.input.seen
    assert len(TAG.learning.learn(TokensRecipe(vocab_size=8), PAIRS * 9).input.words) == 6


def test_a_long_word_keeps_its_ends():
    codec = TAG.learning.learn(TokensRecipe(), [("abc" * 20 + "\tx", "A\tB")])
    assert codec.input.encode_words(["abc" * 20]).shape == (1, 1 + MOST_LETTERS)
    long, longer = (
        codec.input.encode_words(["a" + "bc" * 20 + "x"])[0],
        codec.input.encode_words(["a" + "bc" * 40 + "x"])[0],
    )
    assert torch.equal(long[1:], longer[1:])


def test_saved_and_loaded_it_is_the_same():
    codec = TAG.learning.learn(TokensRecipe(lowercase=True), SPANS)
    again = TAG.learning.load(json.loads(json.dumps(codec.to_json())))
    assert again.output.tagset == codec.output.tagset == (("O", "B-per", "I-per"), "iob2")
    assert again.input.seen == codec.input.seen and again.input.lower
    assert torch.equal(again.input.encode(SPANS[0][0]), codec.input.encode(SPANS[0][0]))


@pytest.mark.parametrize("key, value", [("words", None), ("tags", []), ("seen", [3]), ("scheme", "iob9")])
def test_a_damaged_file_is_refused(key, value):
    saved = TAG.learning.learn(TokensRecipe(), PAIRS).to_json()
    half = "input" if key in saved["input"] else "output"
    saved = {**saved, half: {**saved[half], key: value}}
    with pytest.raises(InputError, match="the vocabulary file"):
        TAG.learning.load(saved)


def test_notes_say_how_text_is_cut_and_what_tags_mark():
    notes = TAG.learning.learn(TokensRecipe(), SPANS).notes
    assert "cut at white space" in notes[0] and "tags mark spans (iob2)" in notes[2]
    assert len(TAG.learning.learn(TokensRecipe(), PAIRS).notes) == 2


def test_levels_other_than_words_are_refused():
    with pytest.raises(InputError, match=r"model\.characters reads the letters inside words"):
        TAG.learning.learn(TokensRecipe(source="char"), PAIRS)
