"""The walks on a CPU against the cells step by step: values, hand-written gradients, second derivatives, padding."""

from functools import partial

import pytest
import torch

from atento.layers.activations import RELU
from atento.recurrent.cells import ElmanCell, GRUCell
from atento.recurrent.cpu.steps import StepOrder
from atento.recurrent.unroll import WALKS, step_by_step, unroll, walks_on_cpu

BATCH, TIME, INPUT, HIDDEN = 5, 7, 3, 2
CELLS = {"gru": GRUCell, "elman": ElmanCell, "elman relu": partial(ElmanCell, activation=RELU)}

every_cell = pytest.mark.parametrize("make", CELLS.values(), ids=CELLS)


def some_mask(kind):
    """Nothing padded; holes and a row of padding alone; padding alone."""
    if kind == "dense":
        return None
    valid = torch.rand(BATCH, TIME) < 0.6
    valid[2] = False
    return valid if kind == "ragged" else valid & False


def some_case(make):
    cell = make(INPUT, HIDDEN)
    for parameter in cell.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    inputs, start = torch.randn(BATCH, TIME, INPUT, requires_grad=True), torch.randn(BATCH, HIDDEN, requires_grad=True)
    return cell, inputs, start


def found(cell, inputs, start, valid, backward):
    outputs, last = unroll(cell, inputs, cell.state_type(start), valid=valid, backward=backward)
    return outputs, *last


@every_cell
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("padding", ["dense", "ragged", "empty"])
def test_values_and_gradients_are_those_of_the_steps(make, padding, backward):
    cell, inputs, start = some_case(make)
    valid = some_mask(padding)
    assert walks_on_cpu(cell, inputs)
    walked = found(cell, inputs, start, valid, backward)
    with step_by_step():
        assert not walks_on_cpu(cell, inputs)
        expected = found(cell, inputs, start, valid, backward)
    torch.testing.assert_close(walked, expected, rtol=1e-13, atol=1e-13)
    upstream, wanted = [torch.randn_like(part) for part in expected], [inputs, start, *cell.parameters()]
    gradients = [torch.autograd.grad(parts, wanted, upstream, materialize_grads=True) for parts in (walked, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-12, atol=1e-12)


@every_cell
def test_second_derivatives(make):
    cell, inputs, start = some_case(make)
    steps = StepOrder.of(inputs, some_mask("ragged"), backward=False)
    weights = [part.detach()[:].requires_grad_() for part in cell.parameters()]
    walk = partial(WALKS[type(cell), cell.activation], steps)
    assert torch.autograd.gradgradcheck(walk, (inputs, start, *weights))


@every_cell
def test_padding_is_never_read(make):
    """Its content, NaN too, changes neither a value nor a gradient, and neither does its amount."""
    cell, inputs, start = some_case(make)
    valid = some_mask("ragged")
    spoiled = inputs.detach().masked_fill(~valid.unsqueeze(-1), torch.nan).requires_grad_()
    longer = torch.nn.functional.pad(inputs.detach(), (0, 0, 0, 4)).requires_grad_()
    masks = [valid, valid, torch.nn.functional.pad(valid, (0, 4))]
    results = []
    for values, mask in zip([inputs, spoiled, longer], masks, strict=True):
        outputs, last = found(cell, values, start, mask, False)
        sums = torch.autograd.grad(outputs.sum() + last.square().sum(), [values, start, *cell.parameters()])
        results.append([outputs[:, :TIME], last, sums[0][:, :TIME], *sums[1:]])
    for other in results[1:]:
        torch.testing.assert_close(other, results[0], rtol=0, atol=0)
    assert (results[0][0][~valid] == 0).all()


@every_cell
def test_large_steps_and_products_in_float32(make):
    """Where oneDNN multiplies: a step of 67 rows of width 151 and more."""
    cell = make(41, 211).float()
    inputs = torch.randn(101, 3, 41, dtype=torch.float32)
    valid = torch.arange(3) < torch.randint(1, 4, (101,)).unsqueeze(1)
    outputs = unroll(cell, inputs, valid=valid).outputs
    exact = unroll(cell.double(), inputs.double(), valid=valid).outputs
    torch.testing.assert_close(outputs.double(), exact, rtol=0, atol=2e-6)


def test_a_batch_of_one_short_row_keeps_its_start():
    cell = GRUCell(INPUT, HIDDEN)
    start = torch.randn(2, HIDDEN)
    valid = torch.tensor([[False, False], [True, False]])
    last = unroll(cell, torch.randn(2, 2, INPUT), cell.state_type(start), valid=valid).last.hidden
    torch.testing.assert_close(last[0], start[0], rtol=0, atol=0)
    assert not torch.equal(last[1], start[1])
