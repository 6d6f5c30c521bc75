"""Cells without gates: what a network says of its state, and what output recurrence forgets."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from atento.errors import InputError
from atento.layers.activations import MAXOUT, SIGMOID
from atento.recurrent import Elman, Jordan, Output, unroll

BATCH, STEPS, HIDDEN, SAID = 3, 5, 7, 2
LAG = 3


@pytest.mark.spec("R01")
@pytest.mark.parametrize("activation", [SIGMOID, MAXOUT], ids=["sigmoid", "maxout"])
def test_an_output_reads_the_state(activation):
    """o = g₂(V h + b), unit by unit; the bias is as wide as the output."""
    output = Output(HIDDEN, SAID, activation=activation)
    assert output.map.bias.shape == (SAID * activation.wider,)
    states = torch.randn(BATCH, STEPS, HIDDEN)
    said = output(states)
    for row in range(BATCH):
        for time in range(STEPS):
            units = [
                sum(output.map.weight[unit, place] * states[row, time, place] for place in range(HIDDEN))
                + output.map.bias[unit]
                for unit in range(SAID * activation.wider)
            ]
            if activation is SIGMOID:
                expected = [1 / (1 + torch.exp(-unit)) for unit in units]
            else:
                expected = [torch.maximum(units[unit], units[unit + SAID]) for unit in range(SAID)]
            torch.testing.assert_close(said[row, time], torch.stack(expected), rtol=0, atol=1e-13)


def learned_recall(cell, output):
    """Train to say the bit of three steps ago; the share said rightly, of unseen bits."""
    modules = nn.ModuleList([cell, output]).float()
    optimiser = torch.optim.Adam(modules.parameters(), lr=0.01, fused=True)
    for training in [True] * 300 + [False]:
        bits = torch.randint(2, (31, 23, 1)).float()
        said = output(unroll(cell, 2 * bits - 1).outputs)[:, LAG:]
        truth = bits[:, :-LAG]
        if training:
            functional.binary_cross_entropy(said, truth).backward()
            optimiser.step()
            optimiser.zero_grad()
    return ((said > 0.5) == (truth > 0.5)).double().mean().item()


@pytest.mark.spec("R02")
def test_what_the_output_has_no_room_for_is_forgotten():
    """An output no wider than the target, squashed, cannot carry the bits between; a state can."""
    torch.manual_seed(0)
    assert learned_recall(Elman(1, 24), Output(24, 1, activation=SIGMOID)) > 0.98
    assert learned_recall(Jordan(1, 24, output_size=1, squash=SIGMOID), nn.Identity()) < 0.7


def test_an_output_has_units():
    with pytest.raises(InputError, match="output_size must be at least 1"):
        Output(HIDDEN, 0)
