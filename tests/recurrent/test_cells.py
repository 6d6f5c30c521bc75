"""Each cell against its equations, gate by gate, and against torch's cell with the same weights."""

import pytest
import torch
from torch import nn

from atento.recurrent import GRU, LSTM, Elman, Hidden, Memory

BATCH, INPUT, HIDDEN, STEPS = 2, 3, 5, 7


def shaken(cell):
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.copy_(torch.randn_like(parameter))
    return cell


def gate(cell, place, item, hidden):
    """W x + b and U h + c of one gate, unit by unit."""
    read, recur = [], []
    for unit in range(place * HIDDEN, (place + 1) * HIDDEN):
        read.append((cell.read.weight[unit] * item).sum() + cell.read.bias[unit])
        recur.append((cell.recur.weight[unit] * hidden).sum() + cell.recur.bias[unit])
    return torch.stack(read), torch.stack(recur)


def sigmoid(value):
    return 1 / (1 + torch.exp(-value))


def elman(cell, item, state):
    read, recur = gate(cell, 0, item, state.hidden)
    return Hidden(torch.tanh(read + recur))


def lstm(cell, item, state):
    """i, f, o are sigmoids, g a tanh; c' = f c + i g; h' = o tanh(c')  (Gers et al., 2000)."""
    i, f, g, o = (sum(gate(cell, place, item, state.hidden)) for place in range(4))
    carry = sigmoid(f) * state.carry + sigmoid(i) * torch.tanh(g)
    return Memory(sigmoid(o) * torch.tanh(carry), carry)


def gru(cell, item, state):
    """n = tanh(W x + b + r (U h + c)); h' = z h + (1 − z) n, the reset after the product."""
    reset, keep = (sigmoid(sum(gate(cell, place, item, state.hidden))) for place in range(2))
    read, recur = gate(cell, 2, item, state.hidden)
    new = torch.tanh(read + reset * recur)
    return Hidden(keep * state.hidden + (1 - keep) * new)


def first_state(kind):
    parts = {Elman: Hidden, GRU: Hidden, LSTM: Memory}[kind]._fields
    values = [torch.randn(BATCH, HIDDEN, requires_grad=True) for _ in parts]
    return Memory(*values) if kind is LSTM else Hidden(*values)


@pytest.mark.parametrize(
    "kind, equations",
    [
        pytest.param(Elman, elman, marks=pytest.mark.spec("R01")),
        pytest.param(LSTM, lstm, marks=pytest.mark.spec("R08")),
        (GRU, gru),
    ],
)
def test_cells_follow_their_equations(kind, equations):
    cell = shaken(kind(INPUT, HIDDEN))
    inputs, start = torch.randn(BATCH, STEPS, INPUT, requires_grad=True), first_state(kind)
    leaves = [inputs, *start, *cell.parameters()]
    expected = []
    for row in range(BATCH):
        state = type(start)(*(part[row] for part in start))
        for step in range(STEPS):
            state = equations(cell, inputs[row, step], state)
        expected.append(torch.stack(state))
    expected = torch.stack(expected, dim=1)  # (parts of the state, B, H)

    state = start
    for step in range(STEPS):
        state = cell(inputs[:, step], state)
    actual = torch.stack(state)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-12)
    upstream = torch.randn_like(expected)
    gradients = torch.autograd.grad(expected, leaves, upstream)
    torch.testing.assert_close(torch.autograd.grad(actual, leaves, upstream), gradients, rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    "kind, theirs",
    [
        pytest.param(Elman, nn.RNNCell, marks=pytest.mark.spec("R01")),
        pytest.param(LSTM, nn.LSTMCell, marks=pytest.mark.spec("R08")),
        (GRU, nn.GRUCell),
    ],
)
@pytest.mark.parametrize("dtype, tolerance", [(torch.float64, 1e-13), (torch.float32, 1e-5)])
def test_cells_equal_torch_for_equal_weights(kind, theirs, dtype, tolerance):
    cell, theirs = shaken(kind(INPUT, HIDDEN)).to(dtype), theirs(INPUT, HIDDEN).to(dtype)
    for ours, name in [(cell.read, "ih"), (cell.recur, "hh")]:
        getattr(theirs, f"weight_{name}").data.copy_(ours.weight)
        getattr(theirs, f"bias_{name}").data.copy_(ours.bias)
    state = type(first_state(kind))(*(part.detach().to(dtype) for part in first_state(kind)))
    item = torch.randn(BATCH, INPUT, dtype=dtype)
    expected = theirs(item, tuple(state) if kind is LSTM else state.hidden)
    expected = expected if kind is LSTM else (expected,)
    torch.testing.assert_close(tuple(cell(item, state)), expected, rtol=0, atol=tolerance)
