"""Shares of attention on a box: pixel by pixel, by hand and by law."""

import numpy as np
import pytest

from atento.errors import InputError
from atento.metrics.alignment import regions_in, share_in

GRID, SIDE = (3, 5), 30.0


@pytest.mark.parametrize("box", [(0, 0, 30, 30), (7.5, 2, 13, 11), (6, 10, 12, 20), (29, 29, 40, 40), (-5, 3, 1, 4)])
def test_regions_that_share_a_pixel_with_the_box(box):
    """By brute force: fine points of every region, is one inside?"""
    left, top, right, bottom = box
    found = regions_in(box, GRID, SIDE).reshape(GRID)
    for row in range(GRID[0]):
        for column in range(GRID[1]):
            down = (row + np.linspace(0.001, 0.999, 99)) * SIDE / GRID[0]
            across = (column + np.linspace(0.001, 0.999, 99)) * SIDE / GRID[1]
            inside = ((down > top) & (down < bottom)).any() and ((across > left) & (across < right)).any()
            assert found[row, column] == inside


def test_a_share_is_of_all_weight():
    weights = np.arange(15.0)
    assert share_in(weights, (6, 10, 12, 20), GRID, SIDE) == pytest.approx(6 / weights.sum())  # row 2, column 2
    assert share_in(weights, (0, 0, 30, 30), GRID, SIDE) == 1.0
    assert share_in(np.zeros(15), (0, 0, 30, 30), GRID, SIDE) == 0.0


@pytest.mark.parametrize(
    "box, grid, side", [((3, 0, 3, 1), GRID, SIDE), ((0, 0, 1, 1), (0, 2), SIDE), ((0, 0, 1, 1), GRID, 0)]
)
def test_boxes_that_are_none(box, grid, side):
    with pytest.raises(InputError, match="a box lies on a picture"):
        regions_in(box, grid, side)
