"""Whether an alignment moves forward: where each output looked, on average, against the order of the outputs."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
