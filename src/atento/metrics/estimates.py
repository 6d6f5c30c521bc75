"""How far estimated numbers are from the true ones. Outputs and references are numbers as text."""

from collections.abc import Sequence

import numpy as np

from atento.metrics.metric import Metric, Sums


def error_statistics(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Sums:
    """(N, 4): squared error, the truth, its square, and one; of several references the nearest counts."""
    said = np.asarray([float(output) for output in outputs])
    allowed = [np.asarray([float(reference) for reference in some]) for some in references]
    truth = np.asarray([some[np.abs(some - number).argmin()] for some, number in zip(allowed, said, strict=True)])
    return np.stack([np.square(said - truth), truth, np.square(truth), np.ones(len(said))], axis=1)


def mean_error(sums: Sums) -> Sums:
    """Σ (y − ŷ)² / n."""
    return np.asarray(sums[:, 0] / sums[:, 3])


def explained(sums: Sums) -> Sums:
    """1 − Σ (y − ŷ)² / Σ (y − ȳ)²; where the truth never changes, 1 for no error and 0 for any."""
    spread = sums[:, 2] - np.square(sums[:, 1]) / sums[:, 3]
    constant = spread <= 1e-12 * np.maximum(sums[:, 2], 1e-300)
    share = 1 - sums[:, 0] / np.where(constant, 1.0, spread)
    return np.asarray(np.where(constant, sums[:, 0] == 0, share))


MSE = Metric("mse", "mean squared error; smaller is better", error_statistics, mean_error, smaller_is_better=True)
R2 = Metric(
    "r2", "share of the target's variance that is explained; always guessing the mean: 0", error_statistics, explained
)
