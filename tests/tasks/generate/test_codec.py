"""Plain text as a row of tokens: nothing is lost, and what is unknown is spelled."""

import json
import math

import pytest
import torch

from atento.data.text.vocabulary import END, UNKNOWN
from atento.errors import InputError
from atento.spec import TokensRecipe, TrainRecipe
from atento.tasks.generate.codec import TextCodec

DOCUMENTS = [(f"the cat {number} sat\non the mat.", "") for number in range(25)]
LONG = [("the cat sat\non  the mat. " * 30, "")]


def learn(pairs, level="auto", **choices):
    return TextCodec.learn(TokensRecipe(source=level, **choices), pairs)


@pytest.mark.spec("K06")
@pytest.mark.parametrize("level", ["char", "word", "subword"])
@pytest.mark.parametrize("pairs", [DOCUMENTS, LONG])
def test_a_row_is_the_text(level, pairs):
    codec = learn(pairs, level)
    row = codec.row(pairs[0][0])
    assert row[0] == END
    assert (row[-1] == END) == (pairs is DOCUMENTS)
    assert codec.vocabulary.decode(row.tolist()) == pairs[0][0]
    assert len(codec.row(pairs[0][0], whole=False)) == len(row) - (pairs is DOCUMENTS)
    assert not codec.spelling(pairs[0][0], row).any()


@pytest.mark.spec("K06")
def test_an_unknown_word_costs_its_letters():
    """`zeal`: 4 letters and the sign that ends them, each one of the training characters, any other, or that sign."""
    codec = learn(LONG, "word")
    text = "the zeal sat"
    row = codec.row(text)
    letters = len(set(LONG[0][0]))
    assert row.tolist().count(UNKNOWN) == 1
    assert codec.spelling(text, row).tolist() == pytest.approx([0, 5 * math.log(letters + 2), 0])
    characters = learn(LONG, "char")
    assert not characters.spelling(text, characters.row(text)).any()


@pytest.mark.spec("K06")
def test_the_level_follows_from_the_text():
    few = learn([("one two three\n" * 200, "")])
    assert few.level == "lossless"
    assert "distinct words" in few.notes[0]
    words = " ".join(f"word{number}" for number in range(2000))
    assert learn([(words, "")]).level == "char"


def test_what_is_saved_is_the_same():
    codec = learn(DOCUMENTS, "word").suited(TrainRecipe(sequence_length=32, objective="masked", mask_probability=0.3))
    again = TextCodec.load(json.loads(json.dumps(codec.to_json())))
    assert again.to_json() == codec.to_json()
    assert (again.window, again.objective, again.masked, again.ends) == (32, "masked", 0.3, True)
    assert torch.equal(again.row("the cat"), codec.row("the cat"))
    for broken in ({}, {**codec.to_json(), "window": "wide"}, {**codec.to_json(), "words": [1]}):
        with pytest.raises(InputError):
            TextCodec.load(broken)


def test_small_letters_alone_are_refused():
    with pytest.raises(InputError, match=r"tokens\.lower"):
        learn(LONG, lowercase=True)
