"""Norms of ∂s_t/∂s_k against the Jacobians written out, on matrices whose powers are known."""

import math
from functools import partial

import pytest
import torch

from atento.errors import InputError
from atento.layers import ACTIVATIONS, IDENTITY
from atento.recurrent import (
    ElmanCell,
    GRUCell,
    GRUResetBeforeCell,
    JordanCell,
    LSTMCell,
    LSTMState,
    MGUCell,
    MinGRUCell,
    MinLSTMCell,
    unroll,
)
from atento.recurrent.gradient_flow import (
    cell_flow,
    log_norms_by_lag,
    probe_directions,
    record_steps,
    saturation_of,
    spectrum_of,
    verdict_of,
)

BATCH, STEPS, INPUT, HIDDEN = 3, 11, 2, 5

KINDS = {
    "rnn": ElmanCell,
    "rnn maxout": partial(ElmanCell, activation=ACTIVATIONS["maxout"]),
    "jordan": partial(JordanCell, output_size=3),
    "gru": GRUCell,
    "gru-before": GRUResetBeforeCell,
    "mgu": MGUCell,
    "mingru": MinGRUCell,
    "lstm": LSTMCell,
    "minlstm": MinLSTMCell,
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def linear(matrix):
    """h_t = W h_{t−1} + U x_t: every Jacobian is W."""
    cell = ElmanCell(INPUT, len(matrix), activation=IDENTITY)
    cell.recur.weight.data.copy_(matrix)
    return cell


def flow_of(cell, steps=41):
    return cell_flow(cell, [record_steps(cell, torch.randn(BATCH, steps, cell.input_size))])


@pytest.mark.spec("R13")
@pytest.mark.parametrize(
    "factor, verdict", [(0.9, "vanishes"), (0.99, "vanishes"), (1.0, "level"), (1.01, "explodes"), (1.1, "explodes")]
)
def test_a_rotation_times_a_number_has_the_slope_of_its_logarithm(factor, verdict):
    rotation = torch.linalg.qr(torch.randn(HIDDEN, HIDDEN)).Q
    flow = flow_of(linear(factor * rotation))
    assert flow.curve.slope == pytest.approx(math.log(factor), abs=1e-12)
    assert flow.curve.median == pytest.approx([factor**lag for lag in range(42)], rel=1e-10)
    assert flow.curve.low == pytest.approx(flow.curve.high, rel=1e-10)
    assert flow.matrices["content"] == pytest.approx((factor, factor))
    assert verdict_of(flow.curve) == verdict


@pytest.mark.spec("R13")
def test_singular_values_and_spectral_radii_worked_by_hand():
    worked = torch.tensor([[0.2, 0.1, 0.2], [0.3, 0.2, 0.1], [0.6, 0.4, 0.1]])
    assert [round(number, 4) for number in spectrum_of(worked)] == [0.8566, 0.6635]
    sheared = torch.tensor([[0.5, 2.0], [0.0, 0.5]])
    assert [round(number, 2) for number in spectrum_of(sheared)] == [2.12, 0.5]


@pytest.mark.spec("R13")
@pytest.mark.parametrize("steps", [3, 4, 5, 41])
def test_a_singular_value_over_one_is_no_explosion(steps):
    """(.5 2)(0 .5) stretches once by 2.12, and its powers vanish: ‖Wⁿ‖² = ½ⁿ·½ⁿ(2 + 16 n²)."""
    flow = flow_of(linear(torch.tensor([[0.5, 2.0], [0.0, 0.5]])), steps)
    expected = [0.5**lag * math.sqrt((2 + 16 * lag**2) / 2) for lag in range(steps + 1)]
    assert flow.curve.median == pytest.approx(expected, rel=1e-10)
    assert flow.step == pytest.approx((2.118, 0.5), abs=1e-3)
    assert verdict_of(flow.curve) != "explodes"
    if steps > 10:
        assert verdict_of(flow.curve) == "vanishes"


def jacobian(cell, inputs, start, first, last):
    """∂s_last/∂s_first of one row by autograd over the plain steps, the whole state flat."""
    state = start
    for time in range(first):
        state = cell(inputs[time : time + 1], state)
    widths = [part.size(-1) for part in state]

    def onward(flat):
        moved = type(state)(*flat.unsqueeze(0).split(widths, dim=-1))
        for time in range(first, last):
            moved = cell(inputs[time : time + 1], moved)
        return torch.cat(moved, dim=-1).squeeze(0)

    flat = torch.cat(state, dim=-1).squeeze(0).detach()
    return torch.autograd.functional.jacobian(onward, flat)


@pytest.mark.spec("R13")
@every_kind
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
def test_norms_are_those_of_the_whole_state_s_jacobian(kind, backward):
    """‖∂s_t/∂s_k‖ over √S, from the last step and from the middle of each row, ragged."""
    cell = kind(INPUT, HIDDEN)
    inputs = torch.randn(BATCH, STEPS, INPUT)
    valid = torch.ones(BATCH, STEPS, dtype=torch.bool)
    valid[1, [0, 4, 10]] = False
    bare = cell.start(inputs[:, 0])
    start = type(bare)(*(torch.randn_like(part) for part in bare))
    inputs = inputs.masked_fill(~valid.unsqueeze(-1), math.nan)
    steps = record_steps(cell, inputs, start, valid=valid, backward=backward)
    logs = log_norms_by_lag(cell, steps, paths=2 * BATCH)
    assert logs.shape == (2 * BATCH, STEPS + 1)
    place = 0
    for row in (0, 2, 1):  # the longest rows first
        items = inputs[row, valid[row]]
        items = items.flip(0) if backward else items
        own = type(start)(*(part[row : row + 1] for part in start))
        for end in (len(items) - len(items) // 2 // 2, len(items)):
            for lag in range(STEPS + 1):
                if lag > end:
                    assert logs[place, lag].isnan()
                    continue
                expected = jacobian(cell, items, own, end - lag, end)
                size = expected.norm().item() / math.sqrt(len(expected))
                assert logs[place, lag].exp().item() == pytest.approx(size, rel=1e-9)
            place += 1


def test_a_tanh_state_s_derivative_is_not_the_matrix_alone():
    """J = diag(1 − h²) W (Pascanu et al., 2013)."""
    cell, inputs = ElmanCell(INPUT, HIDDEN), torch.randn(1, 2, INPUT)
    last = unroll(cell, inputs).outputs[0, -1]
    flow = cell_flow(cell, [record_steps(cell, inputs)])
    expected = torch.diag(1 - last**2) @ cell.recur.weight
    assert flow.curve.median[1] == pytest.approx(expected.norm().item() / math.sqrt(HIDDEN), rel=1e-9)


@pytest.mark.spec("R13")
@pytest.mark.parametrize("kind", [GRUCell, GRUResetBeforeCell])
def test_an_update_gate_alone_is_the_slope(kind):
    """With no recurrent weights h_t = z h_{t−1} + …: the norm falls by z = sigmoid(b) a step."""
    cell = kind(INPUT, HIDDEN)
    cell.recur.weight.data.zero_()
    cell.read.weight.data.zero_()
    cell.read.bias.data[HIDDEN : 2 * HIDDEN] = 3.5
    flow = flow_of(cell)
    assert flow.curve.slope == pytest.approx(math.log(1 / (1 + math.exp(-3.5))), abs=1e-9)
    assert flow.gates["update"] == (0.0, 1.0)  # .9707 is open
    assert flow.gates["reset"] == (0.0, 0.0)


@pytest.mark.spec("R13")
def test_gates_of_a_walk_are_counted_over_its_real_steps():
    """The forget gate's values, by the cell's own states; what padding holds is no step."""
    cell = LSTMCell(INPUT, HIDDEN)
    for parameter in cell.parameters():
        parameter.data.copy_(3 * torch.randn_like(parameter))
    inputs, valid = torch.randn(BATCH, STEPS, INPUT), torch.ones(BATCH, STEPS, dtype=torch.bool)
    valid[1, 3:] = False
    values = []
    for row in range(BATCH):
        state = LSTMState(torch.zeros(HIDDEN), torch.zeros(HIDDEN))
        for item in inputs[row, valid[row]]:
            product = cell.read(item) + cell.recur(state.hidden)
            values.append(1 / (1 + torch.exp(-product[HIDDEN : 2 * HIDDEN])))
            state = cell(item, state)
    values = torch.cat(values)
    flow = cell_flow(cell, [record_steps(cell, inputs, valid=valid)])
    expected = ((values < 0.05).double().mean().item(), (values > 0.95).double().mean().item())
    assert flow.gates["forget"] == pytest.approx(expected)
    assert min(expected) > 0.05 and list(flow.gates) == ["input", "forget", "output"]


def test_a_gate_by_hand():
    assert saturation_of(torch.tensor([0.0, 0.04, 0.05, 0.5, 0.95, 0.96, 0.97, 1.0])) == (0.25, 0.375)


def test_some_directions_stand_for_all():
    """Orthonormal, the same each time; of a rotation's powers they tell the norm exactly, of others nearly."""
    some = probe_directions(torch.zeros(3, 97), most=31)
    torch.testing.assert_close(some @ some.mT, torch.eye(31), rtol=0, atol=1e-12)
    assert torch.equal(some, probe_directions(torch.zeros(97), most=31))
    assert torch.equal(probe_directions(torch.zeros(5), most=31), torch.eye(5))
    matrix = torch.randn(97, 97)
    assert ((some @ matrix).norm() / math.sqrt(31)).item() == pytest.approx(matrix.norm().item() / 97**0.5, rel=0.05)


def test_several_walks_are_one_curve():
    cell, inputs = GRUCell(INPUT, HIDDEN), torch.randn(2, STEPS, INPUT)
    both = cell_flow(cell, [record_steps(cell, inputs[:1]), record_steps(cell, inputs[1:, :7])])
    assert both.curve.lags == list(range(STEPS + 1))
    alone = cell_flow(cell, [record_steps(cell, inputs[:1])])
    assert both.curve.median[-1] == pytest.approx(alone.curve.median[-1])


def test_one_step_is_no_way_to_travel():
    cell = GRUCell(INPUT, HIDDEN)
    with pytest.raises(InputError, match="at least two steps"):
        cell_flow(cell, [record_steps(cell, torch.randn(BATCH, 1, INPUT))])


def test_a_long_walk_is_followed_five_hundred_steps_back():
    flow = flow_of(linear(torch.eye(2)), 601)
    assert flow.curve.lags[-1] == 500
    assert flow.curve.median[-1] == pytest.approx(1.0)


def test_a_matrix_that_is_no_number_is_not_taken_apart():
    assert all(math.isnan(number) for number in spectrum_of(torch.tensor([[math.nan, 1.0], [0.0, 1.0]])))
