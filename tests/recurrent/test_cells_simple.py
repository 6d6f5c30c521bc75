"""Cells without gates: the output layer, and what output recurrence forgets."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from atento.errors import InputError
from atento.layers import MAXOUT, SIGMOID
from atento.recurrent import ElmanCell, JordanCell, OutputLayer, unroll

BATCH, STEPS, HIDDEN, OUTPUT = 3, 5, 7, 2
LAG = 3


@pytest.mark.spec("R01")
@pytest.mark.parametrize("activation", [SIGMOID, MAXOUT], ids=["sigmoid", "maxout"])
def test_an_output_reads_the_state(activation):
    """o = g₂(V h + b), unit by unit; the bias is as wide as the output."""
    output = OutputLayer(HIDDEN, OUTPUT, activation=activation)
    assert output.map.bias.shape == (OUTPUT * activation.expansion,)
    states = torch.randn(BATCH, STEPS, HIDDEN)
    outputs = output(states)
    for row in range(BATCH):
        for time in range(STEPS):
            units = [
                sum(output.map.weight[unit, place] * states[row, time, place] for place in range(HIDDEN))
                + output.map.bias[unit]
                for unit in range(OUTPUT * activation.expansion)
            ]
            if activation is SIGMOID:
                expected = [1 / (1 + torch.exp(-unit)) for unit in units]
            else:
                expected = [torch.maximum(units[unit], units[unit + OUTPUT]) for unit in range(OUTPUT)]
            torch.testing.assert_close(outputs[row, time], torch.stack(expected), rtol=0, atol=1e-13)


def learned_recall(cell, output):
    """Train to output the bit of three steps ago; the accuracy on unseen bits."""
    modules = nn.ModuleList([cell, output]).float()
    optimiser = torch.optim.Adam(modules.parameters(), lr=0.01, fused=True)
    for training in [True] * 300 + [False]:
        bits = torch.randint(2, (31, 23, 1)).float()
        outputs = output(unroll(cell, 2 * bits - 1).outputs)[:, LAG:]
        targets = bits[:, :-LAG]
        if training:
            functional.binary_cross_entropy(outputs, targets).backward()
            optimiser.step()
            optimiser.zero_grad()
    return ((outputs > 0.5) == (targets > 0.5)).double().mean().item()


@pytest.mark.spec("R02")
def test_what_the_output_has_no_room_for_is_forgotten():
    """An output no wider than the target, squashed, cannot carry the bits between; a state can."""
    torch.manual_seed(0)
    assert learned_recall(ElmanCell(1, 24), OutputLayer(24, 1, activation=SIGMOID)) > 0.98
    assert learned_recall(JordanCell(1, 24, output_size=1, output_activation=SIGMOID), nn.Identity()) < 0.7


def test_an_output_has_units():
    with pytest.raises(InputError, match="output_size must be at least 1"):
        OutputLayer(HIDDEN, 0)
