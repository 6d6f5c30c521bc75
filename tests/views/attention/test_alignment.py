import numpy as np
import pytest

from atento.errors import InputError
from atento.views.attention.alignment import is_spelled, mean_of_heads, shown, spelled, weights_of, written


def test_weights_are_layers_heads_outputs_sources(boards):
    alignment = boards.make_alignment("transformer", "dreiundvierzig", "forty - three")

    assert weights_of(alignment).shape == (2, 4, 4, 14)
    expected = np.mean(alignment["weights"][0], axis=0)
    np.testing.assert_allclose(mean_of_heads(alignment, layer=0), expected)


@pytest.mark.parametrize(
    "weights, found",
    [
        ([[[[0.5, 0.5, 0.0]]]], "weights (1, 1, 1, 3), 1 output and 2 source pieces"),
        ([[[0.5, 0.5]]], "weights (1, 1, 2)"),
        ([[[[0.5, 0.5], [1.0]]]], "uneven"),
        ([], "a model without attention"),
    ],
)
def test_weights_that_do_not_fit_are_refused(weights, found):
    with pytest.raises(InputError) as error:
        weights_of({"source": ["a", "b"], "output": ["c"], "weights": weights})

    assert found in str(error.value)


@pytest.mark.parametrize(
    "pieces, text",
    [
        (["d", "r", "e", "i", "<end>"], "drei"),
        (["forty", "-", "three", "<end>"], "forty-three"),
        (["▁vier", "und", "▁mehr"], "vierund mehr"),
        (["(", "so", ")", ",", "he", "said", "."], "(so), he said."),
        ([], ""),
    ],
)
def test_pieces_become_running_text(pieces, text):
    assert spelled(pieces) == text


def test_what_was_written_is_the_models_own_text_where_it_gives_one():
    pieces = {"output": ["forty", "-", "three"], "reference": "forty - three", "correct": True}

    assert written({**pieces, "text": "Forty-three"}) == "Forty-three"
    assert written(pieces) == "forty - three"
    assert written({**pieces, "correct": False}) == "forty-three"


def test_what_cannot_be_seen_gets_a_sign():
    assert [shown(piece) for piece in (" ", "", "\n", "a\x1b[2Jb", "né")] == ["␣", "␣", "␣", "a\ufffd[2Jb", "né"]


def test_characters_are_told_from_words():
    assert is_spelled([*"dreiundvierzig", "<end>"])
    assert not is_spelled(["das", "Haus", "a"])


def test_a_minus_joins_no_two_numbers():
    assert spelled(["-0.070", "0.254", "-0.145", "-.5", "1e-3"]) == "-0.070 0.254 -0.145 -.5 1e-3"
    assert spelled(["0.5,-1", "-2,3"]) == "0.5,-1 -2,3"
    assert spelled(["well", "-", "known"]) == "well-known"
