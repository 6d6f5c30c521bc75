"""Backpropagation through time written out, whole and truncated."""

import pytest
import torch

from atento.errors import InputError
from atento.recurrent import GRU, LSTM, Elman, Hidden, Memory, Stack, unroll_truncated
from atento.recurrent.truncated import chunks, detached, restarted

STEPS, INPUT, HIDDEN = 7, 3, 5


def plain_stack(*, layers=1, kind=Elman):
    stack = Stack(kind, INPUT, HIDDEN, layers=layers)
    for parameter in stack.parameters():
        parameter.data.copy_(0.5 * torch.randn_like(parameter))
    return stack


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


def gradient_of(stack, inputs, targets, *, chunk):
    """What training adds up: each chunk's loss by itself."""
    stack.zero_grad()
    for part in unroll_truncated(stack, inputs.unsqueeze(0), chunk=chunk):
        (0.5 * (part.outputs[0] - targets[part.steps]).square().sum()).backward()
    return stack.cell(0).recur.weight.grad


@pytest.mark.spec("R12")
def test_the_gradient_through_time_written_out():
    stack, inputs, targets = plain_stack(), torch.randn(STEPS, INPUT), torch.randn(STEPS, HIDDEN)
    (0.5 * (stack(inputs.unsqueeze(0)).outputs[0] - targets).square().sum()).backward()
    written_out = by_the_book(stack.cell(0), inputs, targets, chunk=STEPS)
    torch.testing.assert_close(stack.cell(0).recur.weight.grad, written_out, rtol=0, atol=1e-12)
    torch.testing.assert_close(gradient_of(stack, inputs, targets, chunk=STEPS), written_out, rtol=0, atol=1e-12)


@pytest.mark.spec("R12")
@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 11])
def test_a_truncated_gradient_is_the_sum_cut_off_at_each_chunk(chunk):
    stack, inputs, targets = plain_stack(), torch.randn(STEPS, INPUT), torch.randn(STEPS, HIDDEN)
    expected = by_the_book(stack.cell(0), inputs, targets, chunk=chunk)
    torch.testing.assert_close(gradient_of(stack, inputs, targets, chunk=chunk), expected, rtol=0, atol=1e-12)


@pytest.mark.spec("R12")
@pytest.mark.parametrize("kind", [Elman, LSTM, GRU])
def test_the_state_goes_on_and_its_gradient_does_not(kind):
    stack, inputs = plain_stack(layers=2, kind=kind), torch.randn(2, STEPS, INPUT, requires_grad=True)
    whole = stack(inputs)
    parts = list(unroll_truncated(stack, inputs, chunk=3))
    assert [part.steps for part in parts] == [slice(0, 3), slice(3, 6), slice(6, 7)]
    outputs = torch.cat([part.outputs for part in parts], dim=1)
    torch.testing.assert_close(outputs, whole.outputs, rtol=0, atol=1e-13)
    for carried, last in zip(parts[-1].last, whole.last, strict=True):
        torch.testing.assert_close(tuple(carried), tuple(last), rtol=0, atol=1e-13)
    (gradient,) = torch.autograd.grad(parts[1].outputs.square().sum(), inputs)
    assert (gradient[:, :3] == 0).all()
    assert (gradient[:, 3:6] != 0).any()
    (gradient,) = torch.autograd.grad(whole.outputs[:, 3:6].square().sum(), inputs)
    assert (gradient[:, :3] != 0).all()


@pytest.mark.spec("R12")
@pytest.mark.parametrize("chunk", [1, 3, 4, STEPS])
@pytest.mark.parametrize("kind", [Elman, LSTM, GRU])
def test_a_row_begins_anew_where_its_sequence_ends(kind, chunk):
    """Rows end at places of their own, in the middle of a chunk too."""
    stack = plain_stack(layers=2, kind=kind)
    inputs = torch.randn(2, STEPS, INPUT, requires_grad=True)
    reset = torch.zeros(2, STEPS, dtype=torch.bool)
    reset[0, [2, 3]] = True
    reset[1, 5] = True
    expected = torch.stack(
        [
            torch.cat([stack(inputs[:1, place]).outputs[0] for place in (slice(0, 2), slice(2, 3), slice(3, 7))]),
            torch.cat([stack(inputs[1:, place]).outputs[0] for place in (slice(0, 5), slice(5, 7))]),
        ]
    )
    outputs = torch.cat([part.outputs for part in unroll_truncated(stack, inputs, chunk=chunk, reset=reset)], dim=1)
    torch.testing.assert_close(outputs, expected, rtol=0, atol=1e-13)
    (gradient,) = torch.autograd.grad(outputs[:, -1].square().sum(), inputs)
    assert (gradient[0, :3] == 0).all() and (gradient[1, :5] == 0).all()
    if chunk == STEPS:  # and nothing but the resets cuts it
        torch.testing.assert_close(torch.autograd.grad(expected[:, -1].square().sum(), inputs)[0], gradient)


def test_a_walk_goes_on_from_an_earlier_one():
    stack, inputs = plain_stack(layers=2), torch.randn(2, STEPS, INPUT)
    first = list(unroll_truncated(stack, inputs[:, :4], chunk=3))
    rest = list(unroll_truncated(stack, inputs[:, 4:], first[-1].last, chunk=2))
    outputs = torch.cat([part.outputs for part in (*first, *rest)], dim=1)
    torch.testing.assert_close(outputs, stack(inputs).outputs, rtol=0, atol=1e-13)


def test_padding_between_chunks():
    stack, inputs = plain_stack(), torch.randn(2, STEPS, INPUT)
    valid = torch.tensor([[1, 1, 0, 0, 0, 0, 1], [0, 0, 0, 1, 1, 0, 1]], dtype=torch.bool)
    inputs = inputs.masked_fill(~valid.unsqueeze(-1), torch.nan)
    outputs = torch.cat([part.outputs for part in unroll_truncated(stack, inputs, chunk=2, valid=valid)], dim=1)
    torch.testing.assert_close(outputs, stack(inputs, valid=valid).outputs, rtol=0, atol=1e-13)


def test_chunks_follow_each_other():
    assert list(chunks(7, 3)) == [slice(0, 3), slice(3, 6), slice(6, 7)]
    assert list(chunks(6, 3)) == [slice(0, 3), slice(3, 6)]
    assert list(chunks(2, 3)) == [slice(0, 2)]


def test_nested_states():
    state = (Hidden(torch.ones(2, 3, requires_grad=True) * 2), (Memory(torch.ones(2, 5), torch.ones(2, 5)), None, 7))
    cut = detached(state)
    assert not cut[0].hidden.requires_grad
    assert type(cut[1][0]) is Memory and cut[1][1:] == (None, 7)
    mixed = restarted(state[:1], (Hidden(torch.zeros(2, 3)),), torch.tensor([False, True]))
    assert mixed[0].hidden.tolist() == [[2.0] * 3, [0.0] * 3]


def test_what_cannot_be_cut_is_refused():
    inputs = torch.randn(2, STEPS, INPUT)
    with pytest.raises(InputError, match="at least one step"):
        list(unroll_truncated(plain_stack(), inputs, chunk=0))
    with pytest.raises(InputError, match="both directions"):
        list(unroll_truncated(Stack(GRU, INPUT, HIDDEN, bidirectional=True), inputs, chunk=2))
