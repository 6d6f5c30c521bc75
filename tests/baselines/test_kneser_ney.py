"""Kneser–Ney models of texts: characters, words with their spelling, ends, and continuations."""

import math

import numpy as np
import pytest

from atento.baselines import KneserNeyText
from atento.baselines.kneser_ney import character_kneser_ney
from atento.errors import InputError
from atento.layers.kneser_ney import KneserNey

TEXT = "the cat sat on the mat. the dog sat on the log. the cat saw the dog. "


def words(order=3, least=2):
    return KneserNeyText("w", order, str.split, " ".join, least=least)


@pytest.mark.spec("K06")
def test_characters_are_counted_as_the_formula_says():
    model = character_kneser_ney().fit([TEXT * 3], [""])
    letters = {letter: number for number, letter in enumerate(sorted(set(TEXT)), start=2)}
    plain = KneserNey(7, len(letters) + 2).fit([np.array([letters[one] for one in TEXT * 3])])
    expected = np.log(plain.score(np.array([letters.get(one, 0) for one in "the zat"])).probabilities)
    assert model.log_probabilities("the zat").tolist() == pytest.approx(expected.tolist())


def test_an_unknown_word_is_spelled():
    """It costs what any unknown word costs, and its letters and an end, each as one of all letters, any other, end."""
    model = words().fit([TEXT], [""])
    assert "mat." not in model.tokens and "the" in model.tokens
    letter = math.log(len(set(TEXT)) + 2)
    known = np.log(model.model().score(model.row(["the", "zebra"])).probabilities)
    assert model.log_probabilities("the zebra").tolist() == pytest.approx([known[0], known[1] - 6 * letter])


def test_whole_texts_end():
    model = words(2, 1).fit(["a b"] * 31, [""] * 31)
    assert len(model.log_probabilities("a b")) == 3 and model.log_probabilities("a b").sum() > -0.2
    assert model.continuation("a", 9, lambda found: int(found.argmax()))[0] == " b"


@pytest.mark.parametrize("make", [character_kneser_ney, words])
def test_a_continuation_has_its_own_probability(make):
    model = make().fit([TEXT * 3], [""])
    added, score = model.continuation("the cat", 4, lambda found: int(found.argmax()))
    assert added and score == pytest.approx(
        model.log_probabilities("the cat" + added)[len(model.tokenize("the cat")) :].sum(), abs=1e-9
    )


def test_before_it_has_learned():
    with pytest.raises(InputError, match="has not learned"):
        character_kneser_ney().predict(["a"])
