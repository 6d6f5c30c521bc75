"""Estimators: by a float64 loop, and held to the contracts that a user can run."""

import pytest
import torch

from atento.checks import check
from atento.errors import InputError
from atento.models import LabelledBatch
from atento.models.builders import build_estimator
from atento.spec import ModelRecipe

CHANNELS = 3
FAMILIES = ["rnn", "gru", "lstm", "gru+additive", "lstm+dot+sparsemax", "transformer", "transformer+additive"]


def build(name, **choices):
    recipe = ModelRecipe(name=name, **{"hidden": 10, "heads": 2, "layers": 2, "feed_forward": 7, **choices})
    return build_estimator(recipe, CHANNELS).eval()


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_keeps_every_contract(name):
    for directions in (1, 2):
        checked = check(build(name, directions=directions))
        assert checked, checked
        assert checked["padding side"].verdict == "held"


@pytest.mark.parametrize("directions", [1, 2])
def test_an_estimate_by_hand(directions):
    """Walk the cells, take the last state of each direction, w · h + b."""
    model = build("gru", layers=1, directions=directions)
    values = torch.randn(1, 5, CHANNELS)
    ends = []
    for index in range(directions):
        cell = model.encoder.stack.cell(index)
        state = cell.start(values[:, 0])
        for time in reversed(range(5)) if index else range(5):
            state = cell(values[:, time], state)
        ends.append(state.hidden)
    expected = torch.cat(ends, dim=-1) @ model.head.map.weight.mT + model.head.map.bias
    found = model(LabelledBatch(values, torch.ones(1, 5, dtype=torch.bool), torch.zeros(1, 1)))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    "name, choices, message",
    [
        ("gru/lstm", {}, "has one part"),
        ("gru+dot+local", {}, "a pooling attends to the whole sequence"),
        ("gru", {"hidden": 7}, r"model\.hidden must be even"),
        ("gru", {"attend": "bahdanau"}, r"model\.attend has no meaning"),
        ("transformer+linformer", {}, "linformer"),
        ("nothing", {}, "no model 'nothing'"),
    ],
)
def test_what_makes_no_estimator(name, choices, message):
    with pytest.raises(InputError, match=message):
        build(name, **choices)
