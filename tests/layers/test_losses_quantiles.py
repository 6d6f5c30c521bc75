"""Quantiles: the loss against scikit-learn and by hand, its minimum, and an order that never breaks."""

import numpy as np
import pytest
import torch
from sklearn.metrics import mean_pinball_loss

from atento.errors import InputError
from atento.layers import median_weights, pinball_loss, sort_quantiles

LEVELS = (0.1, 0.3, 0.8)
ROWS, STEPS = 5, 7


def by_hand(outputs, truth, levels):
    total = 0.0
    for row in range(ROWS):
        for step in range(STEPS):
            for place, level in enumerate(levels):
                off = float(truth[row, step] - outputs[row, step, place])
                total += (level * off if off > 0 else (level - 1) * off) / len(levels)
    return total


@pytest.mark.spec("K08")
def test_the_pinball_loss_by_hand_and_by_scikit_learn():
    outputs, truth = torch.randn(ROWS, STEPS, len(LEVELS)), torch.randn(ROWS, STEPS)
    loss = pinball_loss(outputs, truth, LEVELS)
    assert loss.items == ROWS * STEPS
    assert float(loss.total) == pytest.approx(by_hand(outputs, truth, LEVELS), abs=1e-12)
    theirs = [
        mean_pinball_loss(truth.flatten().numpy(), outputs[..., place].flatten().numpy(), alpha=level)
        for place, level in enumerate(LEVELS)
    ]
    assert float(loss.mean) == pytest.approx(np.mean(theirs), abs=1e-12)


def test_its_gradient():
    outputs, truth = torch.randn(ROWS, STEPS, len(LEVELS), requires_grad=True), torch.randn(ROWS, STEPS)
    assert torch.autograd.gradcheck(lambda given: pinball_loss(given, truth, LEVELS).total, outputs)


def test_it_is_smallest_at_the_quantiles():
    """Of 1001 numbers the loss of a constant is least at numpy's own quantile."""
    truth = torch.randn(1001)
    grid = torch.linspace(-3, 3, 1201)
    for level in LEVELS:
        losses = [float(pinball_loss(torch.full((1001, 1), float(at)), truth, (level,)).total) for at in grid]
        assert float(grid[int(np.argmin(losses))]) == pytest.approx(np.quantile(truth.numpy(), level), abs=0.02)


def test_sorted_quantiles_never_cross_and_are_never_worse():
    outputs, truth = torch.randn(ROWS, STEPS, len(LEVELS)), torch.randn(ROWS, STEPS)
    ordered = sort_quantiles(outputs)
    assert (ordered.diff(dim=-1) >= 0).all()
    for row in range(ROWS):  # number by number, not only in the mean
        before, after = (pinball_loss(given[row], truth[row], LEVELS).total for given in (outputs, ordered))
        assert after <= before + 1e-12
    assert sort_quantiles(outputs[..., :1]) is not None


@pytest.mark.parametrize(
    "levels, shares",
    [
        ((), [1.0]),
        ((0.1, 0.5, 0.9), [0.0, 1.0, 0.0]),
        ((0.1, 0.4, 0.9), [0.0, 0.8, 0.2]),
        ((0.2, 0.8), [0.5, 0.5]),
        ((0.7, 0.9), [1.0, 0.0]),
        ((0.1, 0.2), [0.0, 1.0]),
        ((0.5,), [1.0]),
    ],
)
def test_the_median_lies_between_its_neighbours(levels, shares):
    assert median_weights(levels) == pytest.approx(shares)


def test_as_many_outputs_as_levels():
    with pytest.raises(InputError, match="one output for each quantile level"):
        pinball_loss(torch.zeros(ROWS, 2), torch.zeros(ROWS), LEVELS)
