"""Bootstrap intervals: what the metric would have been on other examples of the same kind (Efron, 1979)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.metrics.metric import Metric, Sums

RESAMPLES = 1000


class Interval(NamedTuple):
    """A value and the bounds that hold 95 % of the resamples."""

    value: float
    low: float
    high: float


def resampled(metric: Metric, statistics: Sums, *, seed: int = 0, resamples: int = RESAMPLES) -> NDArray[np.float64]:
    """The metric of each resample (R,). The same seed and count of examples draw the same examples, so that two
    models are compared on equal resamples."""
    examples = len(statistics)
    draws = np.random.default_rng(seed).multinomial(examples, np.full(examples, 1 / examples), size=resamples)
    return np.asarray(metric.formula(draws.astype(np.float64) @ statistics))


def interval(
    metric: Metric, outputs: Sequence[str], references: Sequence[Sequence[str]], *, resamples: int = RESAMPLES
) -> Interval:
    """The value with its 95 % bootstrap interval."""
    if not outputs:
        return Interval(0.0, 0.0, 0.0)
    statistics = metric.statistics(outputs, references)
    value = float(metric.formula(statistics.sum(axis=0, keepdims=True))[0])
    low, high = np.quantile(resampled(metric, statistics, resamples=resamples), [0.025, 0.975])
    return Interval(value, float(low), float(high))


def tied(metric: Metric, left: Sequence[str], right: Sequence[str], references: Sequence[Sequence[str]]) -> bool:
    """Whether the paired difference of two models on the same examples may well be zero (95 %)."""
    if not left:
        return True
    differences = resampled(metric, metric.statistics(left, references)) - resampled(
        metric, metric.statistics(right, references)
    )
    low, high = np.quantile(differences, [0.025, 0.975])
    return bool(low <= 0.0 <= high)
