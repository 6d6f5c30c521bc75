"""A metric: statistics of each example, and a formula over their sums, so that every resample is scored from sums."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Sums = NDArray[np.float64]

# Axes: N examples, S statistics, R resamples.


class Metric(NamedTuple):
    """A named metric. Larger is better and 1 is perfect, unless `smaller_is_better`: then 0 is perfect.

    A prediction is a text, or what the metric's statistics take: a list of labels, of tags, an array of numbers. So is
    a reference; a source is a text, or the past of a series.
    """

    name: str
    summary: str
    statistics: Callable[[Sequence[Any], Sequence[Sequence[Any]]], Sums]  # predictions, references -> (N, S), an array
    # or, where S is the number of labels, a sparse one
    formula: Callable[[Sums], Sums]  # sums (R, S) -> values (R,)
    smaller_is_better: bool = False
    source_statistics: Callable[[Sequence[Any], Sequence[Any], Sequence[Sequence[Any]]], Sums] | None = None
    # sources, predictions, references -> (N, S); None: the sources do not matter
    source_spans: Callable[[Sequence[Any]], float] | None = None  # how many examples that do not overlap they hold
    independent: float | None = None  # that number, of the sources that are bound; None: no two examples overlap

    def for_sources(self, sources: Sequence[Any]) -> "Metric":
        """The metric with its sources bound, where its statistics need them; else itself."""
        if self.source_statistics is None:
            return self
        spans = None if self.source_spans is None else self.source_spans(sources)
        return self._replace(statistics=partial(self.source_statistics, sources), independent=spans)

    def to_maximize(self, value: float) -> float:
        """The value, negated where smaller is better, so that larger is always better."""
        return -value if self.smaller_is_better else value

    def value(self, predictions: Sequence[Any], references: Sequence[Sequence[Any]]) -> float:
        """The metric over all examples, NaN where there are none; each prediction has one or more references."""
        if not len(predictions):
            return float("nan")
        return float(self.formula(self.statistics(predictions, references).sum(axis=0)[None])[0])


def hit_counts(hits: Sequence[float], trials: float = 1.0) -> Sums:
    """(N, 2): the hits of each example, and its trials."""
    return np.stack([np.asarray(hits, dtype=np.float64), np.full(len(hits), trials)], axis=1)


def exact_statistics(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Sums:
    """(N, 2): 1 where the prediction equals a reference, and 1."""
    return hit_counts([output in allowed for output, allowed in zip(predictions, references, strict=True)])


def ratio(sums: Sums) -> Sums:
    """The first sum over the second: hits over trials."""
    return np.asarray(sums[:, 0] / sums[:, 1])
