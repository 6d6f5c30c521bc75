"""Cells with a kernel and without over padded steps, exported with open lengths and compiled as one graph."""

import sys

import pytest
import torch
from torch.export import Dim

from atento.errors import InputError
from atento.recurrent import GRUCell, JordanCell, LSTMCell, MinGRUCell, Stack, unroll
from atento.recurrent.unroll import find_scan
from recording import same_recorded

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

ROWS, STEPS = Dim("rows"), Dim("steps")

CELLS = {
    "lstm both ways": (LSTMCell, True),
    "gru": (GRUCell, False),
    "jordan": (JordanCell, False),
    "mingru": (MinGRUCell, False),
}


@pytest.mark.parametrize("name", CELLS)
def test_cells_are_recorded_over_any_number_of_steps(name):
    make_cell, both = CELLS[name]

    def make(batch, steps):
        valid = torch.rand(batch, steps) < 0.7
        valid[0] = False
        return torch.randn(batch, steps, 3), valid

    def call(stack, values, valid):
        outputs, last = stack(values, valid=valid)
        return outputs, [part for state in last for part in state]

    open_sizes = ({0: ROWS, 1: STEPS},) * 2
    same_recorded(Stack(make_cell, 3, 5, bidirectional=both), call, make, [(3, 4), (2, 7), (1, 1)], open_sizes)


def test_a_torch_without_scan_is_said(monkeypatch):
    """The package can be imported, and steps of a known number run; an open number is refused with what to do."""
    monkeypatch.setitem(sys.modules, "torch._higher_order_ops", None)
    outputs, _ = unroll(JordanCell(3, 5), torch.randn(2, 4, 3))
    assert outputs.shape == (2, 4, 5)
    with pytest.raises(InputError, match="leave the time axis out of dynamic_shapes"):
        find_scan()
