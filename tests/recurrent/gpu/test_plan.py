from functools import partial

import pytest
import torch

from atento.layers import MAXOUT, RELU
from atento.recurrent import ElmanCell, GRUCell, GRUResetBeforeCell, JordanCell, LSTMCell, MGUCell, MinGRUCell
from atento.recurrent.gpu import plan
from atento.recurrent.gpu.plan import batch_reason, cell_reason, decline_reason, plan_walk

INPUT, HIDDEN = 2, 3
INPUTS = torch.zeros(5, 7, INPUT, dtype=torch.float32)


class OurMGU(MGUCell):
    """A kind that no kernel knows."""


@pytest.mark.parametrize("kind", [ElmanCell, JordanCell, LSTMCell, GRUCell, GRUResetBeforeCell, MGUCell])
def test_cells_with_a_plug(kind):
    assert cell_reason(kind(INPUT, HIDDEN)) is None
    assert batch_reason(kind(INPUT, HIDDEN).float(), INPUTS) is None


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (OurMGU, "OurMGU"),
        (MinGRUCell, "MinGRUCell"),
        (partial(GRUCell, activation=MAXOUT), "max"),
        (partial(JordanCell, output_size=5), "another size"),
        (partial(JordanCell, output_activation=MAXOUT), "max"),
    ],
)
def test_cells_without_one(make, word):
    assert word in cell_reason(make(INPUT, HIDDEN))


def test_a_cell_that_is_too_wide():
    with torch.device("meta"):
        cell = MGUCell(INPUT, 1025)
    assert "1024" in cell_reason(cell)


def test_wide_cells_and_many_rows_go_to_cudnn_where_it_has_the_cell():
    many = torch.zeros(1025, 1, INPUT, dtype=torch.float32)
    for kind in (LSTMCell, GRUCell, partial(ElmanCell, activation=RELU)):
        with torch.device("meta"):
            wide = kind(INPUT, 513).float()
        assert "512" in batch_reason(wide, INPUTS)
        assert "1024" in batch_reason(kind(INPUT, HIDDEN).float(), many)
    assert batch_reason(MGUCell(INPUT, HIDDEN).float(), many) is None


def test_other_inputs_are_declined():
    cell = MGUCell(INPUT, HIDDEN)
    assert "float64" in batch_reason(cell, INPUTS.double())
    assert "nothing" in batch_reason(cell.float(), INPUTS[:0])
    assert "GPU" in decline_reason(cell, INPUTS)


def test_a_gpu_without_triton(monkeypatch):
    monkeypatch.setattr(plan, "find_spec", lambda name: None)
    plan.device_reason.cache_clear()
    assert "Triton" in plan.device_reason(torch.device("cuda", 0))
    plan.device_reason.cache_clear()


def test_the_plan_says_where_a_call_goes():
    assert str(plan_walk(MGUCell(INPUT, HIDDEN), INPUTS)) == (
        "CPU: the walk runs on a GPU, and the inputs are on the cpu"
    )
