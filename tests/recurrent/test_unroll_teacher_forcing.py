"""Teacher-forced output recurrence: the same numbers as step by step, at a depth that does not grow."""

import math

import pytest
import torch
from torch.nn import functional

from atento.errors import InputError
from atento.layers import SIGMOID
from atento.recurrent import HiddenState, JordanCell, teacher_forced_outputs, unroll

BATCH, STEPS, INPUT, HIDDEN, OUTPUT = 3, 7, 2, 11, 5


def make():
    cell = JordanCell(INPUT, HIDDEN, output_size=OUTPUT)
    return cell, torch.randn(BATCH, STEPS, INPUT), torch.rand(BATCH, STEPS, OUTPUT)


def one_by_one(cell, inputs, targets, start):
    """Each step waits for the one before, whose output the target then replaces."""
    outputs, state = [], start
    for time in range(inputs.size(1)):
        outputs.append(cell(inputs[:, time], state).hidden)
        state = HiddenState(targets[:, time])
    return torch.stack(outputs, dim=1)


@pytest.mark.spec("R03")
@pytest.mark.parametrize("begun", [False, True], ids=["from zeros", "from a start"])
def test_all_steps_at_once_equal_teacher_forced_steps(begun):
    cell, inputs, targets = make()
    inputs.requires_grad_()
    start = HiddenState(torch.randn(BATCH, OUTPUT)) if begun else None
    expected = one_by_one(cell, inputs, targets, start or cell.start(inputs[:, 0]))
    outputs = teacher_forced_outputs(cell, inputs, targets, start)
    torch.testing.assert_close(outputs, expected, rtol=0, atol=1e-13)
    upstream, leaves = torch.randn_like(outputs), [inputs, *cell.parameters()]
    gradients = torch.autograd.grad(expected, leaves, upstream)
    torch.testing.assert_close(torch.autograd.grad(outputs, leaves, upstream), gradients, rtol=0, atol=1e-12)


def depth(tensor):
    """Operations one after another on the longest way back through the graph."""
    deepest = {}
    waiting = [tensor.grad_fn]
    while waiting:
        node = waiting[-1]
        below = [child for child, _ in node.next_functions if child is not None]
        unseen = [child for child in below if child not in deepest]
        if unseen:
            waiting += unseen
        else:
            deepest[node] = 1 + max((deepest[child] for child in below), default=0)
            waiting.pop()
    return deepest[tensor.grad_fn]


@pytest.mark.spec("R03")
def test_the_depth_of_the_graph_does_not_grow_with_the_sequence():
    cell, _, _ = make()
    forced, free = [], []
    for steps in (3, 30, 300):
        inputs, targets = torch.randn(1, steps, INPUT), torch.rand(1, steps, OUTPUT)
        forced.append(depth(teacher_forced_outputs(cell, inputs, targets)))
        free.append(depth(unroll(cell, inputs).outputs))
    assert forced[0] == forced[1] == forced[2] < 12
    assert free[1] - free[0] >= 2 * 27
    assert free[2] > 600


def dishes(batch, days):
    """Today's dish (B, T, 3) is yesterday's when it is sunny, the next one when it rains (B, T, 2)."""
    rain = torch.randint(2, (batch, days))
    first = torch.randint(3, (batch,))
    menu = (first.unsqueeze(1) + rain.cumsum(dim=1)) % 3
    one_hot = functional.one_hot
    return one_hot(rain, 2).float(), one_hot(menu, 3).float(), HiddenState(one_hot(first, 3).float())


@pytest.mark.spec("R03")
def test_taught_in_parallel_it_runs_free():
    """It learned with the true dish of yesterday alone; then it cooks longer months on its own outputs."""
    cell = JordanCell(2, 24, output_size=3, output_activation=SIGMOID).float()
    optimiser = torch.optim.Adam(cell.parameters(), lr=0.03, fused=True)
    for _ in range(250):
        weather, menu, start = dishes(31, 7)
        functional.binary_cross_entropy(teacher_forced_outputs(cell, weather, menu, start), menu).backward()
        optimiser.step()
        optimiser.zero_grad()
    weather, menu, start = dishes(53, 30)
    cooked = unroll(cell, weather, start).outputs
    assert (cooked.argmax(dim=-1) == menu.argmax(dim=-1)).all()


VALID = torch.tensor([[1, 1, 1, 1, 1, 1, 1], [0, 1, 1, 0, 1, 0, 1], [0, 0, 0, 0, 0, 0, 0]], dtype=torch.bool)


@pytest.mark.parametrize("nothing", [math.nan, math.inf])
def test_padding_never_matters(nothing):
    cell, inputs, targets = make()
    start = HiddenState(torch.randn(BATCH, OUTPUT))
    inputs = inputs.masked_fill(~VALID.unsqueeze(-1), nothing).requires_grad_()
    targets = targets.masked_fill(~VALID.unsqueeze(-1), nothing)
    outputs = teacher_forced_outputs(cell, inputs, targets, start, valid=VALID)
    assert (outputs[~VALID] == 0).all()
    for row in range(2):
        real = VALID[row]
        alone = teacher_forced_outputs(
            cell, inputs[row : row + 1, real], targets[row : row + 1, real], HiddenState(start.hidden[row : row + 1])
        )
        torch.testing.assert_close(outputs[row, real], alone[0], rtol=0, atol=1e-13)
    gradients = torch.autograd.grad(outputs.sum(), [inputs, *cell.parameters()])
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert (gradients[0][~VALID] == 0).all()


def test_truth_of_another_shape_is_refused():
    cell, inputs, targets = make()
    with pytest.raises(InputError, match="one output for each step"):
        teacher_forced_outputs(cell, inputs, targets[:, 1:])
    with pytest.raises(InputError, match="one output for each step"):
        teacher_forced_outputs(cell, inputs, targets[..., 1:])
