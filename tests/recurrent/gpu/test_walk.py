"""The walk of each cell agrees with the loop in float64, gradients included, in Triton's interpreter.

The same cells run on a GPU in `benchmarks/gpu/recurrent.py`, behind such a gate."""

import copy
import importlib
import os
from functools import partial

import pytest
import torch

if torch.cuda.is_available():
    pytest.skip("the interpreter is for machines without a GPU", allow_module_level=True)
pytest.importorskip("triton")

from atento.errors import InputError
from atento.layers import SIGMOID
from atento.recurrent import (
    ElmanCell,
    GRUCell,
    GRUResetBeforeCell,
    HiddenState,
    JordanCell,
    LSTMCell,
    MGUCell,
    unroll,
)
from atento.recurrent.gpu import walk
from atento.recurrent.gpu.plan import NAMES

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # the interpreter computes hidden places in NumPy
    pytest.mark.skipif(os.name == "nt", reason="Triton has no build for it"),
]

BATCH, STEPS, INPUT, HIDDEN = 17, 3, 2, 19  # two tiles of rows, two of units
NEAR = 1e-5
CELLS = [ElmanCell, JordanCell, LSTMCell, GRUCell, GRUResetBeforeCell, MGUCell]
running = importlib.import_module("atento.recurrent.unroll")  # the package exports a function of that name


@pytest.fixture
def on_gpu(monkeypatch):
    """The walk is taken, as for tensors on a GPU, in several blocks of units."""
    monkeypatch.setattr(running, "walks_on_cpu", lambda *_: False)
    monkeypatch.setattr(running, "walks_on_gpu", lambda cell, inputs: inputs.dtype != torch.float64)
    monkeypatch.setattr(walk, "block_form", lambda size, dtype, programs: walk.BlockForm(16, 16, 1, 4, 1))


def some_cell(make):
    cell = make(INPUT, HIDDEN).float()
    with torch.no_grad():
        for part in cell.parameters():
            part += 0.1 * torch.randn_like(part)  # biases too
    return cell


def agree(cell, *, valid=None, backward=False, steps=STEPS):
    """Outputs, last states, and the gradients of inputs, first states and parameters, relative to the size of each."""
    inputs = torch.randn(BATCH, steps, INPUT, dtype=torch.float32)
    if valid is not None:
        inputs = inputs.masked_fill(~valid.unsqueeze(-1), torch.nan)
    first = [torch.randn(BATCH, HIDDEN, dtype=torch.float32) for _ in cell.state_type._fields]
    weights = [torch.randn(BATCH, steps, HIDDEN), *(torch.randn(BATCH, HIDDEN) for _ in first)]
    found = []
    for dtype in (torch.float64, torch.float32):
        module, leaves = copy.deepcopy(cell).to(dtype), [part.to(dtype).requires_grad_() for part in (inputs, *first)]
        start = cell.state_type(*leaves[1:])
        if dtype == torch.float64:
            with running.step_by_step():
                outputs, last = unroll(module, leaves[0], start, valid=valid, backward=backward)
        else:
            outputs, last = unroll(module, leaves[0], start, valid=valid, backward=backward)
        loss = sum((part * weight.to(dtype)).sum() for part, weight in zip((outputs, *last), weights, strict=True))
        found.append([outputs, *last, *torch.autograd.grad(loss, [*leaves, *module.parameters()])])
    for number, (exact, one) in enumerate(zip(*found, strict=True)):
        assert one.dtype == torch.float32
        assert (one.double() - exact).norm() / exact.norm() < NEAR, number


@pytest.mark.parametrize("kind", CELLS)
def test_a_ragged_batch_from_any_state(kind, on_gpu):
    """Padding anywhere, NaN in it; a row of padding alone keeps its state."""
    valid = torch.rand(BATCH, STEPS) < 0.7
    valid[0], valid[1] = False, True
    agree(some_cell(kind), valid=valid, backward=kind is LSTMCell)


@pytest.mark.parametrize("name", NAMES.values())
def test_activations(name, on_gpu):
    activation = next(one for one, known in NAMES.items() if known == name)
    agree(some_cell(partial(ElmanCell, activation=activation)), steps=2)


def test_both_activations_of_a_jordan_cell(on_gpu):
    agree(some_cell(partial(JordanCell, output_activation=SIGMOID)))


def test_a_batch_without_padding(on_gpu):
    agree(some_cell(GRUResetBeforeCell), backward=True)


def test_short_floats_keep_a_long_memory(on_gpu):
    """A state that changes little at a step is summed in float32: in bfloat16, 0.5 + 0.001 would stay 0.5."""
    cell = MGUCell(1, 1)
    with torch.no_grad():
        for part in cell.parameters():
            part.zero_()
        cell.read.bias[:] = torch.tensor([-6.2, 20.0])  # f = 0.002, n = 1
    start = HiddenState(torch.full((1, 1), 0.5, dtype=torch.bfloat16))
    outputs, _ = unroll(cell.bfloat16(), torch.zeros(1, 11, 1, dtype=torch.bfloat16), start)
    assert abs(outputs[0, -1].item() - (1 - 0.5 * (1 - torch.tensor(-6.2).sigmoid().item()) ** 11)) < 0.004


@pytest.mark.parametrize(("size", "programs"), [(7, 9), (128, 9), (256, 1), (256, 8), (600, 33), (1000, 3)])
def test_blocks_cover_all_units(size, programs):
    """Once, by programs that are all on the chip; in several rounds, where there are few of them."""
    for dtype in (torch.bfloat16, torch.float32):
        blocks = walk.block_form(size, dtype, programs)
        assert 1 <= blocks.splits <= programs or blocks.splits == 1
        assert (blocks.splits - 1) * blocks.units < size


def test_second_derivatives_are_refused(on_gpu):
    cell = some_cell(GRUCell)
    inputs = torch.randn(2, 2, INPUT, dtype=torch.float32, requires_grad=True)
    outputs = unroll(cell, inputs).outputs
    with pytest.raises(InputError, match="float64"):
        torch.autograd.grad(outputs.sum(), inputs, create_graph=True)
