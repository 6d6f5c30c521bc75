import pytest
import torch

from atento.recurrent import GRU, LSTM, Elman
from atento.recurrent.library import last_real, library_walk

BATCH, STEPS, INPUT, HIDDEN = 3, 5, 2, 7


class OurLSTM(LSTM):
    """A kind that no kernel knows."""


@pytest.mark.parametrize("kind", [Elman, LSTM, GRU])
def test_kernels_are_taken_for_cells_they_know(kind):
    cell, inputs = kind(INPUT, HIDDEN), torch.randn(BATCH, STEPS, INPUT)
    outputs, last = library_walk(cell, inputs, cell.start(inputs[:, 0]), None)
    assert torch.equal(outputs[:, -1], last.hidden)


def test_an_unknown_cell_is_left_to_the_walk():
    cell, inputs = OurLSTM(INPUT, HIDDEN), torch.randn(BATCH, STEPS, INPUT)
    assert library_walk(cell, inputs, cell.start(inputs[:, 0]), None) is None


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
