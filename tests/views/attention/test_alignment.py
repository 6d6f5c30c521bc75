import json
from dataclasses import replace

import numpy as np
import pytest

from atento.errors import InputError
from atento.views import AlignmentView
from atento.views.attention.alignment import (
    are_characters,
    joined_text,
    mean_of_heads,
    output_text,
    printable,
    weights_of,
)


def test_weights_are_layers_heads_outputs_sources(boards):
    alignment = boards.make_alignment("transformer", "dreiundvierzig", "forty - three")

    assert weights_of(alignment).shape == (2, 4, 4, 14)
    expected = np.mean(alignment.weights[0], axis=0)
    np.testing.assert_allclose(mean_of_heads(alignment, layer=0), expected)


@pytest.mark.parametrize(
    "weights, found",
    [
        ([[[[0.5, 0.5, 0.0]]]], "weights (1, 1, 1, 3), 1 output and 2 source tokens"),
        ([[[0.5, 0.5]]], "weights (1, 1, 2)"),
        ([[[[0.5, 0.5], [1.0]]]], "uneven"),
        ([], "a model without attention"),
    ],
)
def test_weights_that_do_not_fit_are_refused(weights, found):
    with pytest.raises(InputError) as error:
        weights_of(AlignmentView(source=["a", "b"], output=["c"], weights=weights))

    assert found in str(error.value)


@pytest.mark.parametrize(
    "tokens, text",
    [
        (["d", "r", "e", "i", "<end>"], "drei"),
        (["forty", "-", "three", "<end>"], "forty-three"),
        (["▁vier", "und", "▁mehr"], "vierund mehr"),
        (["(", "so", ")", ",", "he", "said", "."], "(so), he said."),
        ([], ""),
    ],
)
def test_tokens_become_running_text(tokens, text):
    assert joined_text(tokens) == text


def test_what_was_written_is_the_models_own_text_where_it_gives_one():
    output = ["forty", "-", "three"]
    alignment = AlignmentView(source=[], output=output, weights=[], reference="forty - three", correct=True)

    assert output_text(replace(alignment, text="Forty-three")) == "Forty-three"
    assert output_text(alignment) == "forty - three"
    assert output_text(replace(alignment, correct=False)) == "forty-three"


def test_an_alignment_is_the_same_again_from_its_json():
    alignment = AlignmentView(source=["a"], output=["b"], weights=[[[[1.0]]]], model="lstm+dot", kind="worst")
    image = replace(alignment, image="data:image/png;base64,", grid=[1, 1], name="a scene")
    for one in (alignment, image):
        assert AlignmentView(**json.loads(json.dumps(one.to_json()))) == one
    assert "image" not in alignment.to_json()


def test_what_cannot_be_seen_gets_a_sign():
    assert [printable(token) for token in (" ", "", "\n", "a\x1b[2Jb", "né")] == ["␣", "␣", "␣", "a\ufffd[2Jb", "né"]


def test_characters_are_told_from_words():
    assert are_characters([*"dreiundvierzig", "<end>"])
    assert not are_characters(["das", "Haus", "a"])


def test_a_minus_joins_no_two_numbers():
    assert joined_text(["-0.070", "0.254", "-0.145", "-.5", "1e-3"]) == "-0.070 0.254 -0.145 -.5 1e-3"
    assert joined_text(["0.5,-1", "-2,3"]) == "0.5,-1 -2,3"
    assert joined_text(["well", "-", "known"]) == "well-known"
