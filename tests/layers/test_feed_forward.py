import torch

from atento.layers.feed_forward import FeedForward

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
