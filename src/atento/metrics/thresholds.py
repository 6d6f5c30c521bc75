"""From how likely each label is to which labels are said: one threshold a label, chosen for the best F1."""

import numpy as np
from numpy.typing import NDArray

# Axes: N examples, L labels, T thresholds.

USUAL = 0.5
LEAST_YES = 10  # examples of a label; with fewer its threshold is the one that is best for all labels together
GRID = np.linspace(0.02, 0.98, 49)  # (T,)


def best_thresholds(chances: NDArray[np.float64], truth: NDArray[np.bool_]) -> NDArray[np.float64]:
    """chances and truth (N, L) -> (L,): above it a label is said. What is best on few examples is mostly chance, so a
    label with few takes the common threshold, and all one half where there are no examples.
    """
    if not truth.any():
        return np.full(chances.shape[1], USUAL)
    quality = np.stack([f1_above(chances, truth, threshold) for threshold in GRID])  # (T, L)
    often = truth.sum(axis=0) >= LEAST_YES
    occurs = truth.any(axis=0)
    common = GRID[middle_of_best(quality[:, occurs].mean(axis=1))]
    own = np.array([GRID[middle_of_best(column)] for column in quality.T])
    return np.where(often, own, common)


def f1_above(chances: NDArray[np.float64], truth: NDArray[np.bool_], threshold: float) -> NDArray[np.float64]:
    """F1 (L,) of every label, said where it is likelier than the threshold; 0 where it is neither said nor true."""
    said = chances > threshold
    hits, both = (said & truth).sum(axis=0), said.sum(axis=0) + truth.sum(axis=0)
    return np.asarray(2 * hits / np.maximum(both, 1))


def middle_of_best(quality: NDArray[np.float64]) -> int:
    """The place of the best value; of a run of equally good ones its middle."""
    first = int(quality.argmax())
    last = first
    while last + 1 < len(quality) and quality[last + 1] == quality[first]:
        last += 1
    return (first + last) // 2
