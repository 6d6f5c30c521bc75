"""Metrics of estimated numbers: mean squared error and R². Predictions and references are numbers as text."""

from collections.abc import Sequence

import numpy as np

from atento.metrics.metric import Metric, Sums

# Axes: N examples.


def error_statistics(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Sums:
    """(N, 4): squared error, the truth, its square, and 1; of several references the nearest is the truth."""
    predicted = np.asarray([float(output) for output in predictions])
    allowed = [np.asarray([float(reference) for reference in some]) for some in references]
    truth = np.asarray([some[np.abs(some - number).argmin()] for some, number in zip(allowed, predicted, strict=True)])
    return np.stack([np.square(predicted - truth), truth, np.square(truth), np.ones(len(predicted))], axis=1)


def mean_error(sums: Sums) -> Sums:
    """Σ (y − ŷ)² / n."""
    return np.asarray(sums[:, 0] / sums[:, 3])


def r_squared(sums: Sums) -> Sums:
    """1 − Σ (y − ŷ)² / Σ (y − ȳ)²; where the truth is constant, 1 without any error and else 0."""
    variation = sums[:, 2] - np.square(sums[:, 1]) / sums[:, 3]
    constant = variation <= 1e-12 * np.maximum(sums[:, 2], 1e-300)
    explained = 1 - sums[:, 0] / np.where(constant, 1.0, variation)
    return np.asarray(np.where(constant, sums[:, 0] == 0, explained))


MSE = Metric("mse", "mean squared error; smaller is better", error_statistics, mean_error, smaller_is_better=True)
R2 = Metric("r2", "share of the target's variance that is explained; always the mean: 0", error_statistics, r_squared)
