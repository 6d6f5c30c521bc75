import copy
from functools import partial

import pytest
import torch

from atento.layers import ACTIVATIONS, RELU
from atento.layers.products import bf16_products, has_bf16_instructions
from atento.recurrent import ElmanCell, GRUCell, GRUResetBeforeCell, JordanCell, LSTMCell, MGUCell, unroll
from atento.recurrent.unroll import last_valid_output, run_kernel
from cases import in_case

BATCH, STEPS, INPUT, HIDDEN = 3, 5, 2, 7


class OurLSTM(LSTMCell):
    """A kind that no kernel knows."""


@pytest.mark.parametrize("kind", [ElmanCell, partial(ElmanCell, activation=RELU), LSTMCell, GRUCell])
def test_kernels_are_taken_for_cells_they_know(kind):
    cell, inputs = kind(INPUT, HIDDEN), torch.randn(BATCH, STEPS, INPUT)
    outputs, last = run_kernel(cell, inputs, cell.start(inputs[:, 0]), None)
    assert torch.equal(outputs[:, -1], last.hidden)


def test_an_unknown_cell_is_left_to_the_walk():
    cell, inputs = OurLSTM(INPUT, HIDDEN), torch.randn(BATCH, STEPS, INPUT)
    assert run_kernel(cell, inputs, cell.start(inputs[:, 0]), None) is None


@pytest.mark.parametrize("kind", [JordanCell, GRUResetBeforeCell, MGUCell])
def test_cells_without_a_kernel_are_left_to_the_walk(kind):
    cell, inputs = kind(INPUT, HIDDEN), torch.randn(BATCH, STEPS, INPUT)
    assert run_kernel(cell, inputs, cell.start(inputs[:, 0]), None) is None


@pytest.mark.spec("L07")
@pytest.mark.parametrize("kind", [ElmanCell, LSTMCell, GRUCell])
def test_a_kernel_is_taken_for_the_activation_it_knows_alone(kind):
    """Also in a copy, where the activation is another object."""
    inputs = torch.randn(BATCH, STEPS, INPUT)
    for name, activation in ACTIVATIONS.items():
        cell = copy.deepcopy(kind(INPUT, HIDDEN, activation=activation))
        state = cell.start(inputs[:, 0])
        known = run_kernel(cell, inputs, state, None) is not None
        assert known == (name == "tanh" or (kind is ElmanCell and name == "relu")), name
        for time in range(STEPS):
            state = cell(inputs[:, time], state)
        with in_case(name):
            torch.testing.assert_close(unroll(cell, inputs).outputs[:, -1], state.hidden, rtol=0, atol=1e-12)


def test_padding_freezes_the_carry_exactly():
    cell = LSTMCell(INPUT, HIDDEN)
    inputs = torch.randn(BATCH, STEPS, INPUT)
    valid = torch.zeros(BATCH, STEPS, dtype=torch.bool)
    start = type(cell.start(inputs[:, 0]))(torch.randn(BATCH, HIDDEN), 100 * torch.randn(BATCH, HIDDEN))
    _, last = run_kernel(cell, inputs, start, valid)
    assert torch.equal(last.carry, start.carry)
    assert torch.equal(last.hidden, start.hidden)


def test_last_real_output():
    outputs, start = torch.randn(BATCH, STEPS, HIDDEN), torch.randn(BATCH, HIDDEN)
    valid = torch.tensor([[True] * 5, [True] * 2 + [False] * 3, [False] * 5])
    expected = torch.stack([outputs[0, 4], outputs[1, 1], start[2]])
    assert torch.equal(last_valid_output(outputs, start, valid), expected)


@pytest.mark.skipif(not has_bf16_instructions(), reason="this processor has no bf16 instructions")
@pytest.mark.parametrize("backward", [False, True])
def test_a_large_lstm_in_bf16_is_near_float64_and_passes_over_padding(backward):
    torch.manual_seed(0)
    batch, steps, width, hidden = 37, 29, 67, 61
    cell, inputs = LSTMCell(width, hidden).float(), torch.randn(batch, steps, width, dtype=torch.float32)
    exact = copy.deepcopy(cell).double()
    valid = torch.arange(steps) < torch.randint(1, steps + 1, (batch, 1))
    upstream = torch.randn(batch, steps, hidden, dtype=torch.float32)
    with bf16_products(True):
        found = unroll(cell, inputs, valid=valid, backward=backward)
        (found.outputs * upstream).sum().backward()
        again = unroll(cell, inputs.masked_fill(~valid.unsqueeze(-1), torch.nan), valid=valid, backward=backward)
    wanted = unroll(exact, inputs.double(), valid=valid, backward=backward)
    (wanted.outputs * upstream).sum().backward()
    assert found.outputs.dtype == found.last.carry.dtype == torch.float32
    assert not torch.equal(found.outputs, unroll(cell, inputs, valid=valid, backward=backward).outputs)  # it is taken
    torch.testing.assert_close(found.outputs.double(), wanted.outputs, rtol=0, atol=2e-2)
    torch.testing.assert_close(found.last.carry.double(), wanted.last.carry, rtol=0, atol=4e-2)
    assert torch.equal(again.outputs, found.outputs) and not found.outputs[~valid].any()
    for one, other in zip(cell.parameters(), exact.parameters(), strict=True):
        assert ((one.grad - other.grad).norm() / other.grad.norm()).item() < 2e-2
