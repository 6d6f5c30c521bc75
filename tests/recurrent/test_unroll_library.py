import copy
from functools import partial

import pytest
import torch

from atento.layers.activations import ACTIVATIONS, RELU
from atento.recurrent import GRU, LSTM, Elman, GRUBefore, Jordan, unroll
from atento.recurrent.unroll import last_real, library_walk

BATCH, STEPS, INPUT, HIDDEN = 3, 5, 2, 7


class OurLSTM(LSTM):
    """A kind that no kernel knows."""


@pytest.mark.parametrize("kind", [Elman, partial(Elman, activation=RELU), LSTM, GRU])
def test_kernels_are_taken_for_cells_they_know(kind):
    cell, inputs = kind(INPUT, HIDDEN), torch.randn(BATCH, STEPS, INPUT)
    outputs, last = library_walk(cell, inputs, cell.start(inputs[:, 0]), None)
    assert torch.equal(outputs[:, -1], last.hidden)


def test_an_unknown_cell_is_left_to_the_walk():
    cell, inputs = OurLSTM(INPUT, HIDDEN), torch.randn(BATCH, STEPS, INPUT)
    assert library_walk(cell, inputs, cell.start(inputs[:, 0]), None) is None


@pytest.mark.parametrize("kind", [Jordan, GRUBefore])
def test_cells_without_a_kernel_are_left_to_the_walk(kind):
    cell, inputs = kind(INPUT, HIDDEN), torch.randn(BATCH, STEPS, INPUT)
    assert library_walk(cell, inputs, cell.start(inputs[:, 0]), None) is None


@pytest.mark.spec("L07")
@pytest.mark.parametrize("kind", [Elman, LSTM, GRU])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_kernel_is_taken_for_the_activation_it_knows_alone(kind, name):
    """Also in a copy, where the activation is another object."""
    cell, inputs = copy.deepcopy(kind(INPUT, HIDDEN, activation=ACTIVATIONS[name])), torch.randn(BATCH, STEPS, INPUT)
    known = library_walk(cell, inputs, cell.start(inputs[:, 0]), None) is not None
    assert known == (name == "tanh" or (kind is Elman and name == "relu"))
    state = cell.start(inputs[:, 0])
    for time in range(STEPS):
        state = cell(inputs[:, time], state)
    torch.testing.assert_close(unroll(cell, inputs).outputs[:, -1], state.hidden, rtol=0, atol=1e-12)


def test_padding_freezes_the_carry_exactly():
    cell = LSTM(INPUT, HIDDEN)
    inputs = torch.randn(BATCH, STEPS, INPUT)
    valid = torch.zeros(BATCH, STEPS, dtype=torch.bool)
    start = type(cell.start(inputs[:, 0]))(torch.randn(BATCH, HIDDEN), 100 * torch.randn(BATCH, HIDDEN))
    _, last = library_walk(cell, inputs, start, valid)
    assert torch.equal(last.carry, start.carry)
    assert torch.equal(last.hidden, start.hidden)


def test_last_real_output():
    outputs, start = torch.randn(BATCH, STEPS, HIDDEN), torch.randn(BATCH, HIDDEN)
    valid = torch.tensor([[True] * 5, [True] * 2 + [False] * 3, [False] * 5])
    expected = torch.stack([outputs[0, 4], outputs[1, 1], start[2]])
    assert torch.equal(last_real(outputs, start, valid), expected)
