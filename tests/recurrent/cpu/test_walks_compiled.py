"""The compiled walks in float32 against the cells step by step in float64, for every set of instructions."""

from functools import partial

import pytest
import torch

from atento.layers.activations import RELU
from atento.layers.products import bf16_products
from atento.recurrent.cells import ElmanCell, GRUCell, LSTMCell
from atento.recurrent.cpu.steps import StepOrder
from atento.recurrent.unroll import WALKS, step_by_step, unroll, walks_on_cpu
from cases import law_over
from compiled import INSTRUCTIONS, take_library

BATCH, TIME, INPUT = 29, 7, 5
CELLS = {"gru": GRUCell, "lstm": LSTMCell, "elman": ElmanCell, "elman relu": partial(ElmanCell, activation=RELU)}


def some_case(make, hidden, padding):
    torch.manual_seed(hidden)
    cell = make(INPUT, hidden).float()
    for parameter in cell.parameters():
        torch.nn.init.normal_(parameter, std=0.7 if parameter.dim() == 1 else hidden**-0.5)
    inputs = torch.randn(BATCH, TIME, INPUT, dtype=torch.float32)
    state = [torch.randn(BATCH, hidden, dtype=torch.float32) for _ in cell.state_type._fields]
    valid = None if padding == "dense" else torch.rand(BATCH, TIME) < 0.6
    if valid is not None:
        valid[2] = False
    return cell, inputs, state, valid


def walked(cell, inputs, state, valid, backward):
    """Values and gradients by the walk."""
    leaves = [part.clone().requires_grad_() for part in (inputs, *state)]
    weights = cell.read.weight, cell.read.bias, cell.recur.weight, cell.recur.bias
    steps = StepOrder.of(inputs, valid, backward=backward)
    found = WALKS[type(cell), cell.activation](steps, *leaves, *weights)
    return found, torch.autograd.grad(found, [*leaves, *weights], upstream_of(found))


def stepped(cell, inputs, state, valid, backward):
    """The same in float64, step by step."""
    cell = cell.double()
    leaves = [part.double().requires_grad_() for part in (inputs, *state)]
    with step_by_step():
        outputs, last = unroll(cell, leaves[0], cell.state_type(*leaves[1:]), valid=valid, backward=backward)
    weights = cell.read.weight, cell.read.bias, cell.recur.weight, cell.recur.bias
    found = (outputs, *last)
    return found, torch.autograd.grad(found, [*leaves, *weights], upstream_of(found))


def upstream_of(parts):
    torch.manual_seed(1)
    return [torch.randn(part.shape, dtype=torch.float64).to(part.dtype) for part in parts]


def same(actual, expected, tolerance):
    for one, other in zip(actual, expected, strict=True):
        scale = other.abs().max().item()
        torch.testing.assert_close(one.double(), other, rtol=0, atol=tolerance * scale)


@law_over(
    make=list(CELLS), instructions=list(INSTRUCTIONS), hidden=[3, 16, 37, 80], padding=["dense", "ragged"],
    backward=[False, True],
)  # fmt: skip
def test_values_and_gradients(monkeypatch, make, instructions, hidden, padding, backward):
    take_library(monkeypatch, instructions)
    cell, *case = some_case(CELLS[make], hidden, padding)
    (values, gradients), (exact, slopes) = walked(cell, *case, backward), stepped(cell, *case, backward)
    same(values, exact, 2e-6)
    same(gradients, slopes, 5e-6)


@law_over(make=list(CELLS), padding=["dense", "ragged"])
def test_rounded_products(monkeypatch, make, padding):
    """Factors in bfloat16, sums and states in float32: errors are those of a rounding to eight bits."""
    if not take_library(monkeypatch).has_bf16:
        pytest.skip("this processor has no instructions for bfloat16")
    monkeypatch.setattr("atento.layers.products.WORTH_ROUNDING", 1)
    cell, *case = some_case(CELLS[make], 37, padding)
    with bf16_products(True):
        values, gradients = walked(cell, *case, False)
    exact, slopes = stepped(cell, *case, False)
    for one, other in zip((*values, *gradients), (*exact, *slopes), strict=True):
        assert (one.double() - other).norm() < 0.1 * other.norm()  # a rounding may move a unit across the bend of ReLU
    assert (values[0].double() - exact[0]).abs().max() > 1e-5  # they are rounded indeed


@pytest.mark.parametrize("make", CELLS.values(), ids=CELLS)
def test_rows_do_not_depend_on_threads_or_neighbours(monkeypatch, make):
    take_library(monkeypatch)
    cell, inputs, state, valid = some_case(make, 16, "ragged")
    alone = walked(cell, inputs[:9], [part[:9] for part in state], valid[:9], False)[0]
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    together = walked(cell, inputs, state, valid, False)[0]
    for one, other in zip(alone, together, strict=True):
        torch.testing.assert_close(one, other[:9], rtol=0, atol=1e-6)


def test_an_lstm_walks_where_the_library_is_faster(monkeypatch):
    """Over padding, and in training where it is small and in float32."""
    take_library(monkeypatch)
    small, inputs, _, valid = some_case(LSTMCell, 16, "ragged")
    large = some_case(LSTMCell, 97, "ragged")[0]
    for cell in (small, large):
        assert walks_on_cpu(cell, inputs, valid)
        with torch.no_grad():
            assert walks_on_cpu(cell, inputs, valid)
            assert not walks_on_cpu(cell, inputs, None)
    assert walks_on_cpu(small, inputs, None) and walks_on_cpu(small, inputs, torch.ones_like(valid))
    assert not walks_on_cpu(large, inputs, None)
    monkeypatch.setattr("atento.layers.products.WORTH_ROUNDING", 1)
    with bf16_products(True):
        assert not walks_on_cpu(small, inputs, None) and walks_on_cpu(small, inputs, valid)
    assert not walks_on_cpu(small.double(), inputs.double(), valid)  # C computes float32 alone
