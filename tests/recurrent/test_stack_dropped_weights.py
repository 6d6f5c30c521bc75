"""DropConnect on recurrent weights: the formula step by step, with the mask of the whole sequence."""

import pytest
import torch

from atento.errors import InputError
from atento.layers.dropout import drop
from atento.recurrent import ElmanCell, GRUCell, GRUResetBeforeCell, LSTMCell
from atento.recurrent.stack import Stack, dropped_recurrence

CELLS = [ElmanCell, GRUCell, GRUResetBeforeCell, LSTMCell]


@pytest.mark.parametrize("kind", CELLS)
def test_every_step_multiplies_by_the_same_dropped_weights(kind):
    """h_t = f(W x_t, (M ∘ U) h_{t−1}), one M for all steps, through the kernel as in a loop; gradients too."""
    torch.manual_seed(0)
    stack = Stack(kind, 3, 5, recurrent_dropout=0.4).double()
    cell, inputs = stack.cell(0), torch.randn(2, 7, 3, dtype=torch.float64)
    torch.manual_seed(1)
    stack(inputs).outputs.sin().sum().backward()
    found = {name: weight.grad.clone() for name, weight in cell.named_parameters()}
    torch.manual_seed(1)
    outputs = stack(inputs).outputs

    torch.manual_seed(1)
    whole = cell.recur.weight
    dropped = drop(whole, 0.4)
    loop = kind(3, 5).double()
    loop.load_state_dict({**cell.state_dict(), "recur.weight": dropped.detach()})
    state, expected = loop.start(inputs[:, 0]), []
    for step in range(7):
        state = loop(inputs[:, step], state)
        expected.append(state.hidden)
    assert torch.allclose(outputs, torch.stack(expected, dim=1), atol=1e-12)
    torch.stack(expected, dim=1).sin().sum().backward()
    mask = (dropped != 0).double() / 0.6
    assert torch.allclose(found["recur.weight"], loop.recur.weight.grad * mask, atol=1e-12)
    assert torch.allclose(found["read.weight"], loop.read.weight.grad, atol=1e-12)
    assert cell.recur.weight is whole and isinstance(whole, torch.nn.Parameter)


def test_nothing_is_dropped_in_evaluation_and_the_weights_return_after_an_error():
    torch.manual_seed(2)
    stack, inputs = Stack(LSTMCell, 3, 5, recurrent_dropout=0.5), torch.randn(2, 7, 3)
    plain = Stack(LSTMCell, 3, 5)
    plain.load_state_dict(stack.state_dict())
    assert torch.equal(stack.eval()(inputs).outputs, plain.eval()(inputs).outputs)
    cell = stack.cell(0)
    whole = cell.recur.weight
    with pytest.raises(ValueError, match="in between"), dropped_recurrence(cell, 0.5):
        assert (cell.recur.weight == 0).any()
        raise ValueError("in between")
    assert cell.recur.weight is whole
    with pytest.raises(InputError, match="below 1"):
        Stack(LSTMCell, 3, 5, recurrent_dropout=1.0)


def test_between_layers_one_mask_is_kept():
    """The second layer reads zeros at the same units at every step."""
    torch.manual_seed(3)
    stack, read = Stack(GRUResetBeforeCell, 3, 11, layers=2, dropout=0.5, locked=True), []
    stack.cell(1).read.register_forward_pre_hook(lambda module, given: read.append(given[0]))
    stack(torch.randn(2, 5, 3))
    (inputs,) = read  # (B, T, D)
    zero = inputs == 0
    assert torch.equal(zero, zero[:, :1].expand_as(zero)) and 0 < zero.double().mean() < 1
