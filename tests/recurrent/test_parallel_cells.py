"""minGRU and minLSTM against their equations, at gates that are shut or open for good, and over long sequences."""

import copy

import pytest
import torch

from atento.errors import InputError
from atento.layers import ACTIVATIONS, MAXOUT, Activation
from atento.recurrent import HiddenState, MinGRUCell, MinLSTMCell, unroll
from atento.recurrent.unroll import run_kernel, step_by_step

BATCH, INPUT, HIDDEN, STEPS = 2, 3, 5, 7

every_kind = pytest.mark.parametrize("kind", [MinGRUCell, MinLSTMCell])


def shaken(cell):
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.copy_(torch.randn_like(parameter))
    return cell


def part(cell, place, item):
    """W x + b of one part of the product, unit by unit."""
    units = range(place * HIDDEN, (place + 1) * HIDDEN)
    return torch.stack([(cell.read.weight[unit] * item).sum() + cell.read.bias[unit] for unit in units])


def sigmoid(value):
    return 1 / (1 + torch.exp(-value))


def min_gru(cell, item, hidden, act):
    """z = σ(W_z x); h̃ = W x; h' = (1 − z) h + z h̃  (Feng et al., 2024, § 3.1)."""
    update = sigmoid(part(cell, 0, item))
    return (1 - update) * hidden + update * act([part(cell, 1 + place, item) for place in range(act.parts)])


def min_lstm(cell, item, hidden, act):
    """f, i = σ(W x); f' = f / (f + i); i' = i / (f + i); h' = f' h + i' h̃  (§ 3.2)."""
    write, keep = sigmoid(part(cell, 0, item)), sigmoid(part(cell, 1, item))
    new = act([part(cell, 2 + place, item) for place in range(act.parts)])
    return keep / (keep + write) * hidden + write / (keep + write) * new


def linear(parts):
    return parts[0]


def widest(parts):
    return torch.where(parts[0] > parts[1], *parts)


linear.parts, widest.parts = 1, 2

EQUATIONS = {MinGRUCell: min_gru, MinLSTMCell: min_lstm}


@every_kind
@pytest.mark.parametrize("options, act", [({}, linear), ({"activation": MAXOUT}, widest)], ids=["linear", "maxout"])
def test_cells_follow_their_equations(kind, options, act):
    """Values and gradients of all steps: one by one, and by the scan."""
    cell = shaken(kind(INPUT, HIDDEN, **options))
    inputs = torch.randn(BATCH, STEPS, INPUT, requires_grad=True)
    start = torch.randn(BATCH, HIDDEN, requires_grad=True)
    leaves = [inputs, start, *cell.parameters()]
    rows = []
    for row in range(BATCH):
        hidden, states = start[row], []
        for step in range(STEPS):
            hidden = EQUATIONS[kind](cell, inputs[row, step], hidden, act)
            states.append(hidden)
        rows.append(torch.stack(states))
    expected = torch.stack(rows)
    upstream = torch.randn_like(expected)
    gradients = torch.autograd.grad(expected, leaves, upstream)
    state, stepped = HiddenState(start), []
    for step in range(STEPS):
        state = cell(inputs[:, step], state)
        stepped.append(state.hidden)
    for actual in (torch.stack(stepped, dim=1), unroll(cell, inputs, HiddenState(start)).outputs):
        torch.testing.assert_close(actual, expected, rtol=0, atol=1e-12)
        torch.testing.assert_close(torch.autograd.grad(actual, leaves, upstream), gradients, rtol=0, atol=1e-11)


def test_gates_are_what_multiplies_state_and_candidate():
    item, state = torch.randn(INPUT), HiddenState(torch.randn(HIDDEN))
    small, large = shaken(MinGRUCell(INPUT, HIDDEN)), shaken(MinLSTMCell(INPUT, HIDDEN))
    found = small.gates(small.read(item), state)
    assert list(found) == ["update"]
    torch.testing.assert_close(found["update"], sigmoid(part(small, 0, item)), rtol=0, atol=1e-14)
    found = large.gates(large.read(item), state)
    write, keep = sigmoid(part(large, 0, item)), sigmoid(part(large, 1, item))
    assert list(found) == ["input", "forget"]
    torch.testing.assert_close(found["input"], write / (write + keep), rtol=0, atol=1e-14)
    torch.testing.assert_close(found["forget"], keep / (write + keep), rtol=0, atol=1e-14)


@every_kind
def test_no_weights_multiply_the_state(kind):
    cell = kind(INPUT, HIDDEN)
    assert cell.recurrences() == {}
    assert [name for name, _ in cell.named_parameters()] == ["read.weight", "read.bias"]
    assert (cell.read.bias == 0).all()
    for sizes, named in (((0, 5), "input_size"), ((3, 0), "hidden_size")):
        with pytest.raises(InputError, match=f"{named} must be at least 1"):
            kind(*sizes)


@every_kind
def test_the_scan_takes_every_activation(kind):
    """Also one that is not in the table, and in a copy: what reads no state can be computed for all steps."""
    inputs = torch.randn(BATCH, STEPS, INPUT)
    for activation in (*ACTIVATIONS.values(), Activation(torch.sin, "sin x")):
        cell = copy.deepcopy(kind(INPUT, HIDDEN, activation=activation))
        outputs, last = run_kernel(cell, inputs, cell.start(inputs[:, 0]), None)
        assert torch.equal(outputs[:, -1], last.hidden)


@every_kind
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_gates_that_are_shut_or_open_for_good_give_numbers(kind, dtype):
    """±1e4 before every sigmoid: 0 / 0 where both gates of a minLSTM are shut, unless it is computed by logarithms."""
    cell = kind(1, 4).to(dtype)
    signs = torch.tensor([[1.0, 1.0, -1.0, -1.0], [1.0, -1.0, 1.0, -1.0]])
    cell.read.weight.data.zero_()
    cell.read.bias.data[:-4] = (1e4 * signs[: len(cell.layout) - 1]).flatten()
    cell.read.bias.data[-4:] = 3.0
    inputs = torch.zeros(1, STEPS, 1, dtype=dtype, requires_grad=True)
    for walk in (unroll(cell, inputs), by_steps(cell, inputs)):
        expected = [3.0, 3.0, 0.0, 0.0] if kind is MinGRUCell else [3 * (1 - 0.5**STEPS), 3.0, 0.0]
        last = walk.last.hidden[0].double()[: len(expected)]  # both shut: by how much each is, which rounding decides
        torch.testing.assert_close(last, torch.tensor(expected), rtol=1e-2, atol=1e-12)
        assert walk.outputs.isfinite().all()
        gradients = torch.autograd.grad(walk.outputs.sum(), [inputs, *cell.parameters()])
        assert all(gradient.isfinite().all() for gradient in gradients)


def by_steps(cell, inputs, **options):
    with step_by_step():
        return unroll(cell, inputs, **options)


@every_kind
def test_ten_thousand_steps_in_float32(kind):
    """The scan is as near to float64 as the walk is; the last states of ragged rows are their own."""
    cell, inputs = shaken(kind(INPUT, HIDDEN)), torch.randn(BATCH, 10_000, INPUT)
    valid = torch.arange(10_000) < torch.tensor([[10_000], [7919]])
    expected = by_steps(cell, inputs, valid=valid)
    walk = unroll(cell.float(), inputs.float(), valid=valid)
    torch.testing.assert_close(walk.outputs.double(), expected.outputs, rtol=0, atol=1e-4)
    torch.testing.assert_close(walk.last.hidden.double(), expected.last.hidden, rtol=0, atol=1e-4)


@every_kind
def test_weights_in_bfloat16_lose_nothing_more_on_the_way(kind):
    """The scan is in float32: its states are those of the same rounded products, rounded once more."""
    cell, inputs = shaken(kind(INPUT, HIDDEN)).bfloat16(), torch.randn(BATCH, 997, INPUT).bfloat16()
    cell.read.bias.data[-2 * HIDDEN : -HIDDEN] -= 4.0 if kind is MinGRUCell else -4.0  # a long memory
    outputs = unroll(cell, inputs).outputs
    reads = cell.read(inputs).double()
    state = HiddenState(torch.zeros(BATCH, HIDDEN))
    for step in range(reads.size(1)):
        state = cell.advance(reads[:, step], state)
    assert outputs.dtype == torch.bfloat16
    torch.testing.assert_close(outputs[:, -1].double(), state.hidden, rtol=2**-8, atol=1e-4)
