"""Monotonicity against scipy's Kendall τ and by hand; attention weight in a box, pixel by pixel and by hand."""

import numpy as np
import pytest
from scipy import stats

from atento.errors import InputError
from atento.metrics import monotonicity, regions_in_box, weight_in_box
from atento.metrics.alignment import mean_positions

OUTPUTS, STEPS = 5, 11


def test_positions_are_weighted_means():
    weights = np.random.default_rng(0).random((OUTPUTS, STEPS))
    expected = [sum(n * weight for n, weight in enumerate(row)) / sum(row) for row in weights]
    np.testing.assert_allclose(mean_positions(weights), expected)
    assert mean_positions(np.zeros((1, STEPS))).tolist() == [0.0]


@pytest.mark.spec("K13")
@pytest.mark.parametrize("seed", range(5))
def test_order_is_kendall_s(seed):
    weights = np.random.default_rng(seed).random((OUTPUTS, STEPS)) ** 8
    weights[3] = weights[1]  # a tie
    found = monotonicity(weights)
    assert found.kendall_tau == pytest.approx(stats.kendalltau(found.positions, np.arange(OUTPUTS)).statistic)
    assert found.forward_share == pytest.approx(np.mean(np.diff(found.positions) >= 0))


def test_forward_backward_and_too_short_to_say():
    steps = np.eye(OUTPUTS)
    assert monotonicity(steps)[:2] == (1.0, 1.0)
    assert monotonicity(steps[::-1])[:2] == (0.0, -1.0)
    assert monotonicity(steps[:1])[:2] == (1.0, 1.0)


GRID, SIDE = (3, 5), 30.0


@pytest.mark.parametrize("box", [(0, 0, 30, 30), (7.5, 2, 13, 11), (6, 10, 12, 20), (29, 29, 40, 40), (-5, 3, 1, 4)])
def test_regions_that_share_a_pixel_with_the_box(box):
    """By brute force: fine points of every region, is one inside?"""
    left, top, right, bottom = box
    found = regions_in_box(box, GRID, SIDE).reshape(GRID)
    for row in range(GRID[0]):
        for column in range(GRID[1]):
            down = (row + np.linspace(0.001, 0.999, 99)) * SIDE / GRID[0]
            across = (column + np.linspace(0.001, 0.999, 99)) * SIDE / GRID[1]
            inside = ((down > top) & (down < bottom)).any() and ((across > left) & (across < right)).any()
            assert found[row, column] == inside


def test_a_share_is_of_all_weight():
    weights = np.arange(15.0)
    assert weight_in_box(weights, (6, 10, 12, 20), GRID, SIDE) == pytest.approx(6 / weights.sum())  # row 2, column 2
    assert weight_in_box(weights, (0, 0, 30, 30), GRID, SIDE) == 1.0
    assert weight_in_box(np.zeros(15), (0, 0, 30, 30), GRID, SIDE) == 0.0


@pytest.mark.parametrize(
    "box, grid, side", [((3, 0, 3, 1), GRID, SIDE), ((0, 0, 1, 1), (0, 2), SIDE), ((0, 0, 1, 1), GRID, 0)]
)
def test_boxes_that_are_none(box, grid, side):
    with pytest.raises(InputError, match="a box needs left < right"):
        regions_in_box(box, grid, side)
