"""The feed-forward network by hand, and linear layers that collapse to one."""

import pytest
import torch
from torch import nn

from atento.errors import InputError
from atento.layers import FeedForward, collapse_linear

SIZE, INSIDE = 3, 7


def test_each_position_by_itself():
    """W₂ act(W₁ x + b₁) + b₂, unit by unit."""
    for activation in (torch.relu, torch.tanh):
        layer = FeedForward(SIZE, INSIDE, activation=activation)
        values = torch.randn(2, 5, SIZE)
        outputs = layer(values)
        for row in range(2):
            for at in range(5):
                inside = [
                    activation((layer.widen.weight[unit] * values[row, at]).sum() + layer.widen.bias[unit])
                    for unit in range(INSIDE)
                ]
                for unit in range(SIZE):
                    product = sum(layer.narrow.weight[unit, place] * value for place, value in enumerate(inside))
                    torch.testing.assert_close(outputs[row, at, unit], product + layer.narrow.bias[unit])


def test_dropout_stands_inside():
    layer = FeedForward(SIZE, INSIDE, dropout=0.999)
    dropped = layer(torch.randn(2, 5, SIZE))
    assert torch.equal(dropped[0, 0], layer.narrow.bias)  # nothing got through
    assert not torch.allclose(layer.eval()(torch.randn(2, 5, SIZE)), layer.narrow.bias)


@pytest.mark.spec("B05")
def test_layers_without_a_non_linearity_collapse_to_one_matrix():
    layers = [nn.Linear(2, 3), nn.Linear(3, 7), nn.Linear(7, 5)]
    one = collapse_linear(layers)
    first, second, third = (layer.weight for layer in layers)
    torch.testing.assert_close(one.weight, third @ second @ first)
    bias = third @ (second @ layers[0].bias + layers[1].bias) + layers[2].bias
    torch.testing.assert_close(one.bias, bias)
    inputs = torch.randn(11, 2)
    torch.testing.assert_close(one(inputs), nn.Sequential(*layers)(inputs))


@pytest.mark.spec("B05")
def test_by_hand():
    """x -> 2x + 1 -> 3x − 1 is x -> 6x + 2."""
    layers = [nn.Linear(1, 1), nn.Linear(1, 1)]
    with torch.no_grad():
        for layer, (weight, bias) in zip(layers, [(2.0, 1.0), (3.0, -1.0)], strict=True):
            layer.weight.fill_(weight)
            layer.bias.fill_(bias)
    assert (collapse_linear(layers).weight.item(), collapse_linear(layers).bias.item()) == (6.0, 2.0)


@pytest.mark.spec("B05")
def test_exclusive_or_needs_an_activation_however_many_layers_there_are():
    """The best a linear map can do is say one half everywhere: a mean squared error of 1/4."""
    inputs = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    truth = torch.tensor([[0.0], [1.0], [1.0], [0.0]])
    errors = {}
    for activation in (nn.Identity(), nn.Tanh()):
        torch.manual_seed(0)
        network = nn.Sequential(nn.Linear(2, 8), activation, nn.Linear(8, 8), activation, nn.Linear(8, 1))
        optimiser = torch.optim.Adam(network.parameters(), lr=0.02, fused=True)
        for _ in range(400):
            optimiser.zero_grad()
            error = (network(inputs) - truth).square().mean()
            error.backward()
            optimiser.step()
        errors[type(activation)] = error.item()
    assert errors[nn.Identity] == pytest.approx(0.25, abs=1e-3)
    assert errors[nn.Tanh] < 1e-3


def test_biases_may_be_missing_and_one_layer_is_itself():
    layers = [nn.Linear(2, 3, bias=False), nn.Linear(3, 5)]
    inputs = torch.randn(7, 2)
    torch.testing.assert_close(collapse_linear(layers)(inputs), nn.Sequential(*layers)(inputs))
    torch.testing.assert_close(collapse_linear(layers[:1])(inputs), layers[0](inputs))


@pytest.mark.parametrize("layers, found", [([], "no layer"), ([nn.Linear(2, 3), nn.Linear(2, 3)], "2 -> 3, 2 -> 3")])
def test_layers_that_do_not_follow_on_are_refused(layers, found):
    with pytest.raises(InputError, match=found):
        collapse_linear(layers)
