"""Back-propagation through time written out, whole and truncated, for stacks of cells in float64."""

from contextlib import nullcontext
from typing import NamedTuple

import pytest
import torch

from atento.layers import Loss
from atento.recurrent import ElmanCell, GRUCell, LSTMCell, Stack, chunks
from atento.tasks.task import TruncatedBPTT
from atento.training.gradients import backpropagate_truncated

BATCH, STEPS, INPUT, HIDDEN = 2, 7, 3, 5


class Sequences(NamedTuple):
    inputs: torch.Tensor  # (B, T, I)
    targets: torch.Tensor  # (B, T, H)


@pytest.fixture(autouse=True)
def in_float64():
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def chunk_loss(stack, part, state, smoothing):
    """½‖h_t − y_t‖² over all steps of a chunk, and the state after it."""
    outputs, last = stack(part.inputs, state)
    return Loss(0.5 * (outputs - part.targets).square().sum(), outputs.size(1)), last


SQUARED = TruncatedBPTT(
    items=lambda batch: 1,
    start=lambda stack, batch: stack.start(batch.inputs[:, 0]),
    cut=lambda batch, steps: [
        Sequences(*(part[:, here] for part in batch)) for here in chunks(batch.inputs.size(1), steps)
    ],
    loss=chunk_loss,
)


def some_stack(kind=ElmanCell, layers=1):
    stack = Stack(kind, INPUT, HIDDEN, layers=layers)
    for parameter in stack.parameters():
        parameter.data.copy_(0.5 * torch.randn_like(parameter))
    return stack


def some_sequences(rows=1):
    return Sequences(torch.randn(rows, STEPS, INPUT), torch.randn(rows, STEPS, HIDDEN))


def gradients(stack, batch, recipe):
    stack.zero_grad()
    backpropagate_truncated(SQUARED, stack, batch, recipe, nullcontext())
    return [parameter.grad.clone() for parameter in stack.parameters()]


def by_the_book(cell, inputs, targets, *, chunk):
    """∂L/∂W = Σ_t Σ_{k ≤ t} ∂L_t/∂h_t (∏_{i=k+1..t} ∂h_i/∂h_{i−1}) ∂h_k/∂W, k no further back than t's own chunk.

    L_t = ½‖h_t − y_t‖², h_t = tanh(W h_{t−1} + U x_t + b), ∂h_i/∂h_{i−1} = diag(1 − h_i²) W. One sequence.
    """
    weight = cell.recur.weight.detach()
    states = [torch.zeros(HIDDEN)]
    for item in inputs:
        states.append(torch.tanh(weight @ states[-1] + cell.recur.bias + cell.read.weight @ item + cell.read.bias))
    states = [state.detach() for state in states]
    total = torch.zeros_like(weight)
    for t in range(1, len(states)):
        product = torch.eye(HIDDEN)
        for k in range(t, (t - 1) // chunk * chunk, -1):
            slopes = 1 - states[k] ** 2
            reaching = (states[t] - targets[t - 1]) @ product  # ∂L_t/∂h_k
            total += torch.outer(reaching * slopes, states[k - 1])  # times ∂h_k/∂W with h_{k−1} held
            product = product @ torch.diag(slopes) @ weight
    return total


@pytest.mark.spec("R12")
@pytest.mark.parametrize("chunk", [1, 2, 3, 5, STEPS, 11])
def test_a_truncated_gradient_is_the_sum_cut_off_at_each_chunk(whole_recipe, chunk):
    stack, batch = some_stack(), some_sequences()
    gradients(stack, batch, whole_recipe(bptt_steps=chunk).train)
    expected = by_the_book(stack.cell(0), batch.inputs[0], batch.targets[0], chunk=chunk)
    torch.testing.assert_close(stack.cell(0).recur.weight.grad, expected, rtol=0, atol=1e-12)


@pytest.mark.spec("R12")
def test_a_chunk_as_long_as_the_sequence_is_plain_back_propagation():
    stack, batch = some_stack(), some_sequences()
    (0.5 * (stack(batch.inputs).outputs - batch.targets).square().sum()).backward()
    expected = by_the_book(stack.cell(0), batch.inputs[0], batch.targets[0], chunk=STEPS)
    torch.testing.assert_close(stack.cell(0).recur.weight.grad, expected, rtol=0, atol=1e-12)


@pytest.mark.spec("R12")
@pytest.mark.parametrize("kind", [ElmanCell, LSTMCell, GRUCell])
@pytest.mark.parametrize("chunk", [1, 3, STEPS])
def test_the_state_is_reset_where_a_sequence_ends(whole_recipe, kind, chunk):
    """A batch holds whole sequences: the next batch starts from the initial state, whatever was learned before."""
    stack, recipe = some_stack(kind, layers=2), whole_recipe(bptt_steps=chunk).train
    before, after = some_sequences(BATCH), some_sequences(BATCH)
    alone = gradients(stack, after, recipe)
    gradients(stack, before, recipe)
    torch.testing.assert_close(gradients(stack, after, recipe), alone, rtol=0, atol=0)
    parts = [gradients(stack, Sequences(*(side[row : row + 1] for side in after)), recipe) for row in range(BATCH)]
    torch.testing.assert_close([sum(rows) for rows in zip(*parts, strict=True)], alone, rtol=0, atol=1e-12)
