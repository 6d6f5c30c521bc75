"""How much of what was looked at lies where it should: shares of attention over the regions of a picture."""

import numpy as np
from numpy.typing import NDArray

from atento.errors import InputError

# Axes: R = h·w regions of a picture, row by row.

Box = tuple[float, float, float, float]  # left, top, right and bottom, in pixels


def regions_in(box: Box, grid: tuple[int, int], side: float) -> NDArray[np.bool_]:
    """Which regions (R,) of a picture of this side share more than an edge with a box; no margin is added."""
    left, top, right, bottom = box
    rows, columns = grid
    if side <= 0 or rows < 1 or columns < 1 or right <= left or bottom <= top:
        raise InputError(
            "a box lies on a picture that has regions.",
            found=f"box {box}, grid {grid}, side {side}",
            fix="give left < right and top < bottom, in pixels, and a grid of one region at least",
        )
    down, across = np.arange(rows) * (side / rows), np.arange(columns) * (side / columns)
    upright = (down < bottom) & (down + side / rows > top)  # (h,)
    lying = (across < right) & (across + side / columns > left)  # (w,)
    return (upright[:, None] & lying[None, :]).ravel()


def share_in(weights: NDArray[np.float64], box: Box, grid: tuple[int, int], side: float) -> float:
    """The share of weights (R,) on the regions of a box; of weights that are all 0, 0."""
    total = float(weights.sum())
    return float(weights[regions_in(box, grid, side)].sum()) / total if total else 0.0
