"""Values and slopes worked by hand; what every activation owes to who makes its product."""

import copy
import math

import pytest
import torch

from atento.errors import InputError
from atento.layers import ACTIVATIONS, MAXOUT, Activation, maxout
from atento.recurrent import ElmanCell, GRUCell, LSTMCell, unroll

BATCH, STEPS, INPUT, HIDDEN = 2, 3, 5, 7

AT = [-2.0, -0.5, 0.0, 0.5, 3.0]
VALUES = {  # e^−2 = .1353, e^−.5 = .6065, e^.5 = 1.6487, e^3 = 20.0855
    "sigmoid": [0.1192, 0.3775, 0.5, 0.6225, 0.9526],
    "tanh": [-0.9640, -0.4621, 0.0, 0.4621, 0.9951],
    "relu": [0.0, 0.0, 0.0, 0.5, 3.0],
    "leaky-relu": [-0.2, -0.05, 0.0, 0.5, 3.0],
    "elu": [-0.8647, -0.3935, 0.0, 0.5, 3.0],
    "identity": AT,
}
SLOPES = {
    "sigmoid": [0.1050, 0.2350, 0.25, 0.2350, 0.0452],
    "tanh": [0.0707, 0.7864, 1.0, 0.7864, 0.0099],
    "relu": [0.0, 0.0, None, 1.0, 1.0],  # None: a corner
    "leaky-relu": [0.1, 0.1, None, 1.0, 1.0],
    "elu": [0.1353, 0.6065, 1.0, 1.0, 1.0],
    "identity": [1.0] * 5,
}


@pytest.mark.spec("L07")
@pytest.mark.parametrize("name", VALUES)
def test_values_and_slopes_by_hand(name):
    at = torch.tensor(AT, requires_grad=True)
    values = ACTIVATIONS[name](at)
    assert [round(value, 4) for value in values.tolist()] == VALUES[name]
    (slopes,) = torch.autograd.grad(values.sum(), at)
    for slope, expected in zip(slopes.tolist(), SLOPES[name], strict=True):
        assert expected is None or round(slope, 4) == expected


@pytest.mark.spec("L07")
def test_maxout_by_hand():
    """Units (a, b, c): the first maps stand first, then the second ones."""
    first, second = [1.0, -2.0, 0.5], [-1.0, -3.0, 4.0]
    product = torch.tensor([first + second], requires_grad=True)
    bent = MAXOUT(product)
    assert bent.tolist() == [[1.0, -2.0, 4.0]]
    (slopes,) = torch.autograd.grad(bent.sum(), product)
    assert slopes.tolist() == [[1.0, 1.0, 0.0, 0.0, 0.0, 1.0]]
    assert maxout(3)(torch.tensor([1.0, 2.0, 5.0, 0.0, 3.0, 4.0])).tolist() == [5.0, 4.0]


def test_maxout_holds_relu_and_the_absolute_value():
    """max(x, 0) and max(x, −x) are maxouts of two linear maps (Goodfellow et al., 2013, fig. 1)."""
    at = torch.tensor(AT)
    assert torch.equal(MAXOUT(torch.cat([at, 0 * at])), ACTIVATIONS["relu"](at))
    assert torch.equal(MAXOUT(torch.cat([at, -at])), at.abs())


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_product_so_much_wider_comes_out_as_wide_as_its_units(name):
    activation = ACTIVATIONS[name]
    assert activation(torch.randn(BATCH, STEPS, activation.expansion * HIDDEN)).shape == (BATCH, STEPS, HIDDEN)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_copy_is_the_same_activation(name):
    """Kernels are chosen by equality, also in a copied model."""
    assert copy.deepcopy(ACTIVATIONS[name]) == ACTIVATIONS[name]
    assert len(set(ACTIVATIONS.values())) == len(ACTIVATIONS)


def by_hand(name, value):
    """One activation of one unit, in plain Python; maxout of a pair."""
    if name == "maxout":
        return max(value)
    value = value[0]
    return {
        "sigmoid": lambda: 1 / (1 + math.exp(-value)),
        "tanh": lambda: (math.exp(2 * value) - 1) / (math.exp(2 * value) + 1),
        "relu": lambda: max(value, 0.0),
        "leaky-relu": lambda: value if value > 0 else 0.1 * value,
        "elu": lambda: value if value > 0 else math.exp(value) - 1,
        "identity": lambda: value,
    }[name]()


@pytest.mark.spec("L07", "R01")
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_plain_cell_with_any_activation_unit_by_unit(name):
    activation = ACTIVATIONS[name]
    cell = ElmanCell(INPUT, HIDDEN, activation=activation)
    inputs = torch.randn(BATCH, STEPS, INPUT)
    found = unroll(cell, inputs).outputs
    read, recur = cell.read, cell.recur
    for row in range(BATCH):
        state = torch.zeros(HIDDEN)
        for time in range(STEPS):
            product = read.weight @ inputs[row, time] + read.bias + recur.weight @ state + recur.bias
            units = [
                by_hand(name, [product[map_ * HIDDEN + unit].item() for map_ in range(activation.expansion)])
                for unit in range(HIDDEN)
            ]
            state = torch.tensor(units)
            torch.testing.assert_close(found[row, time], state, rtol=0, atol=1e-12)


@pytest.mark.spec("L07")
@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("kind", [LSTMCell, GRUCell])
def test_gated_cells_bend_their_candidate_with_any_activation(kind, name):
    """From a zero state with the gates' weights at zero, every gate is a half: h = ½·tanh(½ g) or ½·n."""
    activation = ACTIVATIONS[name]
    cell = kind(INPUT, HIDDEN, activation=activation)
    content = slice(2 * HIDDEN, (2 + activation.expansion) * HIDDEN)
    with torch.no_grad():
        for parameter in cell.parameters():
            kept = parameter[content].clone()
            parameter.zero_()
            parameter[content] = kept
    item = torch.randn(1, INPUT)
    product = (cell.read.weight @ item[0])[content]
    units = [
        by_hand(name, [product[map_ * HIDDEN + unit].item() for map_ in range(activation.expansion)])
        for unit in range(HIDDEN)
    ]
    expected = [0.5 * math.tanh(0.5 * unit) if kind is LSTMCell else 0.5 * unit for unit in units]
    hidden = cell(item, cell.start(item)).hidden[0]
    torch.testing.assert_close(hidden, torch.tensor(expected), rtol=0, atol=1e-12)


def test_wrong_choices_are_refused():
    with pytest.raises(InputError, match="at least two linear maps"):
        maxout(1)
    with pytest.raises(InputError, match="2 times as wide"):
        MAXOUT(torch.randn(3, 5))
    with pytest.raises(InputError, match="expansion must be positive"):
        Activation(torch.tanh, "tanh(x)", expansion=0)
