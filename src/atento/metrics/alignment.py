"""Whether an alignment moves forward: where each output looked, on average, against the order of the outputs.

How much of what was looked at lies where it should: shares of attention over the regions of a picture.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.errors import InputError

# Axes: T outputs, N source steps.

Numbers = NDArray[np.float64]


class Forward(NamedTuple):
    """How steadily the mean position rises."""

    share: float  # of the moves from one output to the next, those that do not go back
    order: float  # Kendall's τ_b of position and output: 1, ever later; −1, ever earlier
    positions: Numbers  # (T,)


def mean_positions(weights: Numbers) -> Numbers:
    """Σ_n n w_tn / Σ_n w_tn of weights (T, N): (T,); an output that looked nowhere stands at 0."""
    total = weights.sum(axis=1)
    sums: Numbers = weights @ np.arange(weights.shape[1])
    return sums / np.where(total == 0, 1.0, total)


def moves_forward(weights: Numbers) -> Forward:
    """Of weights (T, N); fewer than two outputs cannot go back."""
    positions = mean_positions(np.asarray(weights, dtype=np.float64))
    moves = np.diff(positions)
    share = float((moves >= 0).mean()) if len(moves) else 1.0
    signs = np.sign(positions[None, :] - positions[:, None])[np.triu_indices(len(positions), k=1)]
    moved = int((signs != 0).sum())
    order = float(signs.sum() / np.sqrt(moved * len(signs))) if moved else 1.0  # no two outputs are the same one
    return Forward(share, order, positions)


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
