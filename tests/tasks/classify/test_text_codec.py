"""Texts and labels as numbers: learned from the training part, at the right level, and back from a file."""

import json

import numpy as np
import pytest
import torch
from sklearn.utils.class_weight import compute_class_weight

from atento.data.text.vocabulary import END, UNKNOWN
from atento.errors import InputError
from atento.spec import TokensRecipe
from atento.tasks.classify.text_codec import LabelCodec

PAIRS = [("A good film. Very good!", "pos"), ("a bad film\nnot good", "neg"), ("good good", "pos")]
SETS = [("one two", "a\tb"), ("two three", ""), ("three four", "b"), ("five six", "b")]


def learn(pairs=PAIRS, *, several=False, **choices):
    return LabelCodec.learn(TokensRecipe(**choices), pairs, several=several)


def test_words_and_the_ends_of_sentences():
    codec = learn(lower=True)
    assert codec.labels == ("neg", "pos")
    tokens = codec.read("A GOOD film. Very new!")
    assert codec.pieces(tokens) == ["a", "good", "film", ".", "¶", "very", "<unknown>", "!"]
    assert tokens.count(END) == 1
    assert tokens[6] == UNKNOWN
    assert codec.read("  ") == [UNKNOWN]
    assert codec.encode("good", ["pos"]).labels == [1]
    assert codec.encode("good", ["new"]).labels == []
    assert learn().read("A") != learn().read("a")
    assert "capital letters read as small ones" in codec.notes[0]
    assert codec.notes[1] == "2 labels, most often pos 67%, neg 33%"


@pytest.mark.spec("K12")
def test_strings_without_words_are_cut_into_characters_and_it_is_said():
    codec = learn([("ACGT", "x"), ("ACcA", "y")], lower=True)
    assert codec.source.level == "char"
    assert "strings without words, 1.0 a text, capital letters kept" in codec.notes[0]
    assert codec.pieces(codec.read("AcG")) == ["A", "c", "G"]
    asked = learn([("ACGT", "x"), ("ACcA", "y")], source="char", lower=True)
    assert codec.read("a") == [UNKNOWN] != asked.read("a")
    assert learn(source="subword", size=20).source.level == "subword"


@pytest.mark.parametrize("several, pairs", [(False, PAIRS), (True, SETS)])
def test_what_is_saved_is_read_again(several, pairs):
    codec = learn(pairs, several=several, lower=True)
    again = LabelCodec.load(json.loads(json.dumps(codec.to_json())))
    assert (again.labels, again.counts, again.texts, again.lower) == (codec.labels, codec.counts, codec.texts, True)
    assert again.read(pairs[0][0]) == codec.read(pairs[0][0])


@pytest.mark.parametrize(
    "change",
    [
        {"labels": []},
        {"labels": [1, 2]},
        {"labels": ["a", "a"]},
        {"counts": [1]},
        {"counts": "x"},
        {"texts": None},
        {"lower": 1},
    ],
)
def test_what_is_damaged_is_refused(change):
    with pytest.raises(InputError):
        LabelCodec.load({**learn().to_json(), **change})


def test_weights_of_rare_labels():
    """With balance 1 each label weighs as much as another in all; scikit-learn's balanced weights."""
    codec = learn([("a b", "x")] * 6 + [("c d", "y")] * 3 + [("e f", "z")])
    theirs = compute_class_weight("balanced", classes=np.array(["x", "y", "z"]), y=["x"] * 6 + ["y"] * 3 + ["z"])
    torch.testing.assert_close(codec.balanced(1.0), torch.from_numpy(theirs))
    torch.testing.assert_close(codec.balanced(0.0), torch.ones(3, dtype=torch.float64))
    counts = torch.tensor([6.0, 3.0, 1.0], dtype=torch.float64)
    half = codec.balanced(0.5)
    assert (half * counts).sum() == pytest.approx(10)
    assert (half[2] / half[0]).item() == pytest.approx(6**0.5)
    sets = learn(SETS, several=True)
    assert sets.labels == ("a", "b")
    assert sets.balanced_yes(1.0).tolist() == pytest.approx([3.0, 1 / 3])
    assert sets.balanced_yes(0.5).tolist() == pytest.approx([3**0.5, 3**-0.5])


def test_one_label_is_nothing_to_tell_apart():
    with pytest.raises(InputError, match="nothing to tell apart") as caught:
        learn([("a", "x"), ("b", "x")])
    assert "1 label: x" in caught.value.found
    assert learn([("a b", "x")], several=True).labels == ("x",)
