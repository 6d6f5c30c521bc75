"""Measures of attention weights: how monotonic an alignment is, and how much weight lies in a box of an image."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.errors import InputError

# Axes: T outputs, N source steps, R = h·w regions of an image, row by row.

Numbers = NDArray[np.float64]
Box = tuple[float, float, float, float]  # left, top, right and bottom, in pixels


class Monotonicity(NamedTuple):
    """How steadily the mean source position rises from output to output."""

    forward_share: float  # of the moves from one output to the next that do not go back
    kendall_tau: float  # τ_b of position and output: 1 always later, −1 always earlier
    positions: Numbers  # (T,)


def mean_positions(weights: Numbers) -> Numbers:
    """Σ_n n w_tn / Σ_n w_tn of weights (T, N): (T,); 0 for an output without any weight."""
    total = weights.sum(axis=1)
    sums: Numbers = weights @ np.arange(weights.shape[1])
    return sums / np.where(total == 0, 1.0, total)


def monotonicity(weights: Numbers) -> Monotonicity:
    """The monotonicity of an alignment with weights (T, N); fewer than two outputs are monotonic."""
    positions = mean_positions(np.asarray(weights, dtype=np.float64))
    moves = np.diff(positions)
    forward_share = float((moves >= 0).mean()) if len(moves) else 1.0
    signs = np.sign(positions[None, :] - positions[:, None])[np.triu_indices(len(positions), k=1)]
    moved = int((signs != 0).sum())
    tau = float(signs.sum() / np.sqrt(moved * len(signs))) if moved else 1.0  # no two outputs tie in their order
    return Monotonicity(forward_share, tau, positions)


def regions_in_box(box: Box, grid: tuple[int, int], side: float) -> NDArray[np.bool_]:
    """Which regions (R,) of a square image of this side overlap a box."""
    left, top, right, bottom = box
    rows, columns = grid
    if side <= 0 or rows < 1 or columns < 1 or right <= left or bottom <= top:
        raise InputError(
            "a box needs left < right and top < bottom, the image a side and a grid of regions.",
            found=f"box {box}, grid {grid}, side {side}",
            fix="give the box in pixels, and a grid of at least one region",
        )
    tops, lefts = np.arange(rows) * (side / rows), np.arange(columns) * (side / columns)
    in_rows = (tops < bottom) & (tops + side / rows > top)  # (h,)
    in_columns = (lefts < right) & (lefts + side / columns > left)  # (w,)
    return (in_rows[:, None] & in_columns[None, :]).ravel()


def weight_in_box(weights: NDArray[np.float64], box: Box, grid: tuple[int, int], side: float) -> float:
    """The share of weights (R,) on the regions that overlap a box; 0 where all weights are 0."""
    total = float(weights.sum())
    return float(weights[regions_in_box(box, grid, side)].sum()) / total if total else 0.0
