from functools import partial

import pytest
import torch

from atento.attention import Additive, Attention, Causal, Dot, Everything, Softmax, Sparsemax
from atento.attention.extents.extents import PreparedKeys
from atento.layers import MAXOUT, RELU
from atento.models.backbones.gpu.plan import inputs_reason, parts_reason, plan_decoder
from atento.recurrent import GRUCell, LSTMCell, MGUCell, Stack

SIZE = 3
ADDITIVE = partial(Additive, SIZE, SIZE, hidden_size=SIZE)


def parts(cell=GRUCell, layers=1, score=ADDITIVE, distribution=Softmax, extent=Everything):
    return Stack(cell, SIZE, SIZE, layers=layers), Attention(score(), distribution(), extent())


def source(keys=5, batch=2):
    return PreparedKeys(torch.zeros(batch, keys, SIZE), torch.zeros(batch, keys, SIZE), None)


@pytest.mark.parametrize("cell", [GRUCell, LSTMCell, partial(GRUCell, activation=RELU)])
def test_parts_that_the_walk_takes(cell):
    assert parts_reason(*parts(cell)) is None
    assert inputs_reason(parts(cell)[0].float().cell(0), torch.zeros(2, 7, SIZE, dtype=torch.float32), source()) is None


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"layers": 2}, "one layer"),
        ({"cell": MGUCell}, "MGUCell"),
        ({"cell": partial(GRUCell, activation=MAXOUT)}, "max"),
        ({"score": Dot}, "additive"),
        ({"score": partial(ADDITIVE, activation=RELU)}, "tanh"),
        ({"distribution": Sparsemax}, "softmax"),
        ({"extent": Causal}, "all keys"),
    ],
)
def test_parts_that_it_declines(changed, word):
    assert word in parts_reason(*parts(**changed))


def test_inputs_that_it_declines():
    cell = GRUCell(SIZE, SIZE)
    assert "single step" in inputs_reason(cell, torch.zeros(2, 1, SIZE), source())
    assert "1024" in inputs_reason(cell, torch.zeros(2, 7, SIZE), source(keys=1025))
    assert "each row" in inputs_reason(cell, torch.zeros(2, 7, SIZE), source(batch=1))
    assert "float64" in inputs_reason(cell, torch.zeros(2, 7, SIZE), source())


def test_the_plan_says_where_a_call_goes():
    plan = plan_decoder(*parts(), torch.zeros(2, 7, SIZE), source())
    assert str(plan) == "steps: the walk runs on a GPU, and the inputs are on the cpu"
