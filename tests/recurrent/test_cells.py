"""Each cell against its equations, gate by gate, and against torch's cell with the same weights."""

import pytest
import torch
from torch import nn

from atento.errors import InputError
from atento.layers import MAXOUT
from atento.recurrent import (
    ElmanCell,
    GRUCell,
    GRUResetBeforeCell,
    HiddenState,
    JordanCell,
    LSTMCell,
    LSTMState,
    MGUCell,
)

BATCH, INPUT, HIDDEN, STEPS = 2, 3, 5, 7
OUTPUT = 11  # width of a Jordan cell's output


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
    return HiddenState(torch.tanh(read + recur))


def lstm(cell, item, state):
    """i, f, o are sigmoids, g a tanh; c' = f c + i g; h' = o tanh(c')  (Gers et al., 2000)."""
    i, f, g, o = (sum(gate(cell, place, item, state.hidden)) for place in range(4))
    carry = sigmoid(f) * state.carry + sigmoid(i) * torch.tanh(g)
    return LSTMState(sigmoid(o) * torch.tanh(carry), carry)


def gru(cell, item, state):
    """n = tanh(W x + b + r (U h + c)); h' = z h + (1 − z) n, the reset after the product."""
    reset, keep = (sigmoid(sum(gate(cell, place, item, state.hidden))) for place in range(2))
    read, recur = gate(cell, 2, item, state.hidden)
    new = torch.tanh(read + reset * recur)
    return HiddenState(keep * state.hidden + (1 - keep) * new)


def gru_before(cell, item, state):
    """n = tanh(W x + b + U (r h) + c); h' = z h + (1 − z) n, the reset before the product (Cho et al., 2014, eq. 8)."""
    reset, keep = (sigmoid(sum(gate(cell, place, item, state.hidden))) for place in range(2))
    read, recur = gate(cell, 2, item, reset * state.hidden)
    return HiddenState(keep * state.hidden + (1 - keep) * torch.tanh(read + recur))


def mgu(cell, item, state):
    """f = σ(W_f x + U_f h + b_f); n = tanh(W x + b + U (f h) + c); h' = (1 − f) h + f n  (Zhou et al., 2016)."""
    forget = sigmoid(sum(gate(cell, 0, item, state.hidden)))
    new = torch.tanh(sum(gate(cell, 1, item, forget * state.hidden)))
    return HiddenState((1 - forget) * state.hidden + forget * new)


def jordan(cell, item, state):
    """h' = tanh(W o + U x + b); o' = tanh(V h' + c)."""
    hidden = torch.tanh(sum(gate(cell, 0, item, state.hidden)))
    outputs = [(cell.output.map.weight[unit] * hidden).sum() + cell.output.map.bias[unit] for unit in range(OUTPUT)]
    return HiddenState(torch.tanh(torch.stack(outputs)))


def wide_jordan(input_size, hidden_size):
    return JordanCell(input_size, hidden_size, output_size=OUTPUT)


def first_state(kind):
    bare = kind(INPUT, HIDDEN).start(torch.zeros(BATCH, INPUT))
    return type(bare)(*(torch.randn_like(part).requires_grad_() for part in bare))


@pytest.mark.parametrize(
    "kind, equations",
    [
        pytest.param(ElmanCell, elman, marks=pytest.mark.spec("R01")),
        pytest.param(wide_jordan, jordan, marks=pytest.mark.spec("R02")),
        pytest.param(LSTMCell, lstm, marks=pytest.mark.spec("R08")),
        pytest.param(GRUCell, gru, marks=pytest.mark.spec("R09")),
        pytest.param(GRUResetBeforeCell, gru_before, marks=pytest.mark.spec("R09")),
        (MGUCell, mgu),
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
        pytest.param(ElmanCell, nn.RNNCell, marks=pytest.mark.spec("R01")),
        pytest.param(LSTMCell, nn.LSTMCell, marks=pytest.mark.spec("R08")),
        pytest.param(GRUCell, nn.GRUCell, marks=pytest.mark.spec("R09")),
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
    expected = theirs(item, tuple(state) if kind is LSTMCell else state.hidden)
    expected = expected if kind is LSTMCell else (expected,)
    torch.testing.assert_close(tuple(cell(item, state)), expected, rtol=0, atol=tolerance)


@pytest.mark.spec("R09")
def test_the_two_forms_of_the_gru_part_when_the_reset_gate_says_something():
    """Equal where the reset gate is open or shut everywhere; not between."""
    after, before = shaken(GRUCell(INPUT, HIDDEN)), GRUResetBeforeCell(INPUT, HIDDEN)
    before.load_state_dict(after.state_dict())
    item, state = torch.randn(BATCH, INPUT), HiddenState(torch.randn(BATCH, HIDDEN))
    assert not torch.allclose(after(item, state).hidden, before(item, state).hidden)
    for cell in (after, before):
        cell.read.bias.data[:HIDDEN] = 1e4
    torch.testing.assert_close(after(item, state).hidden, before(item, state).hidden, rtol=0, atol=1e-13)
    for cell in (after, before):
        cell.read.bias.data[:HIDDEN] = -1e4
        cell.recur.bias.data[2 * HIDDEN :] = 0.0  # the reset is before this bias in one form, after it in the other
    torch.testing.assert_close(after(item, state).hidden, before(item, state).hidden, rtol=0, atol=1e-13)


def test_the_minimal_gated_unit_is_a_gru_whose_two_gates_are_one():
    """The reset gate of the GRU of 2014 is f, its update gate 1 − f: the sigmoid of the negative product."""
    small, large = shaken(MGUCell(INPUT, HIDDEN)), GRUResetBeforeCell(INPUT, HIDDEN)
    for ours, theirs in zip(small.parameters(), large.parameters(), strict=True):
        theirs.data.copy_(torch.cat([ours[:HIDDEN], -ours[:HIDDEN], ours[HIDDEN:]]))
    item, state = torch.randn(BATCH, INPUT), HiddenState(torch.randn(BATCH, HIDDEN))
    torch.testing.assert_close(small(item, state).hidden, large(item, state).hidden, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    "kind, names",
    [
        (ElmanCell, ["content"]),
        (LSTMCell, ["input", "forget", "content", "output"]),
        (GRUCell, ["reset", "update", "content"]),
        (GRUResetBeforeCell, ["reset", "update", "content"]),
        (MGUCell, ["forget", "content"]),
    ],
)
def test_recurrent_matrices_by_name(kind, names):
    cell = kind(INPUT, HIDDEN)
    found = cell.recurrences()
    assert list(found) == names
    assert torch.equal(torch.cat(list(found.values())), cell.recur.weight)
    assert list(kind(INPUT, HIDDEN, activation=MAXOUT).recurrences()) == [
        name for part in names for name in (["content 1", "content 2"] if part == "content" else [part])
    ]


def test_an_output_reaches_the_next_through_two_matrices():
    cell = wide_jordan(INPUT, HIDDEN)
    expected = torch.einsum("oh,hp->op", cell.output.map.weight, cell.recur.weight)
    assert list(cell.recurrences()) == ["V W"]
    torch.testing.assert_close(cell.recurrences()["V W"], expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", [LSTMCell, GRUCell, GRUResetBeforeCell, MGUCell])
def test_shares_are_the_gates_of_the_step(kind):
    cell, item, state = shaken(kind(INPUT, HIDDEN)), torch.randn(BATCH, INPUT), first_state(kind)
    found = cell.gates(cell.read(item), state)
    assert list(found) == [name for name in cell.layout if name != "content"]
    for name, values in found.items():
        place = cell.layout.index(name)
        for row in range(BATCH):
            expected = sigmoid(sum(gate(cell, place, item[row], state.hidden[row])))
            torch.testing.assert_close(values[row], expected, rtol=0, atol=1e-13)
    assert ElmanCell(INPUT, HIDDEN).gates(torch.zeros(BATCH, HIDDEN), first_state(ElmanCell)) == {}


@pytest.mark.parametrize("kind", [ElmanCell, JordanCell, LSTMCell, GRUCell, GRUResetBeforeCell, MGUCell])
def test_sizes_are_at_least_one(kind):
    with pytest.raises(InputError, match="input_size must be at least 1"):
        kind(0, 5)
    with pytest.raises(InputError, match="hidden_size must be at least 1"):
        kind(3, 0)


def test_an_output_size_is_at_least_one():
    with pytest.raises(InputError, match="output_size must be at least 1"):
        JordanCell(3, 5, output_size=0)


def widest(first, second):
    return torch.where(first > second, first, second)


def step_with_maxout(cell, item, state):
    """One step of a gated cell whose candidate is the larger of two parts, each of five units."""
    at = {name: place for place, name in enumerate(cell.recurrences())}

    def product(name, hidden):
        return gate(cell, at[name], item, hidden)

    gates = {name: sigmoid(sum(product(name, state.hidden))) for name in at if not name.startswith("content")}
    if isinstance(cell, LSTMCell):
        content = widest(*(sum(product(name, state.hidden)) for name in ("content 1", "content 2")))
        carry = gates["forget"] * state.carry + gates["input"] * content
        return LSTMState(gates["output"] * torch.tanh(carry), carry)
    if isinstance(cell, MGUCell):
        forget = gates["forget"]
        content = widest(*(sum(product(name, forget * state.hidden)) for name in ("content 1", "content 2")))
        return HiddenState((1 - forget) * state.hidden + forget * content)
    parts = []
    for name in ("content 1", "content 2"):
        if isinstance(cell, GRUResetBeforeCell):
            parts.append(sum(product(name, gates["reset"] * state.hidden)))
        else:
            read, recur = product(name, state.hidden)
            parts.append(read + gates["reset"] * recur)
    return HiddenState(gates["update"] * state.hidden + (1 - gates["update"]) * widest(*parts))


@pytest.mark.spec("L07", "R09")
@pytest.mark.parametrize("kind", [LSTMCell, GRUCell, GRUResetBeforeCell, MGUCell])
def test_gated_cells_with_a_wider_candidate(kind):
    cell, item = shaken(kind(INPUT, HIDDEN, activation=MAXOUT)), torch.randn(BATCH, INPUT)
    state = first_state(kind)
    moved = cell(item, state)
    for row in range(BATCH):
        expected = step_with_maxout(cell, item[row], type(state)(*(part[row] for part in state)))
        torch.testing.assert_close(tuple(part[row] for part in moved), tuple(expected), rtol=0, atol=1e-13)
