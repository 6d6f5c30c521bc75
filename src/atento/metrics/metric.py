"""A metric is sums over examples and a formula over the sums: so any resample of the examples can be scored at once."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Sums = NDArray[np.float64]

# Axes: N examples, S statistics, R resamples.


class Metric(NamedTuple):
    """statistics: outputs, references -> (N, S); formula: sums (R, S) -> (R,). Larger is better, 1 is perfect, unless
    `smaller_is_better`: then 0 is.

    An output is a text, or what the metric says: a metric of label sets takes the labels said and those that are true.
    """

    name: str
    summary: str
    statistics: Callable[[Sequence[Any], Sequence[Sequence[str]]], Sums]
    formula: Callable[[Sums], Sums]
    smaller_is_better: bool = False
    by_source: Callable[[Sequence[str], Sequence[Any], Sequence[Sequence[str]]], Sums] | None = None  # sees sources too

    def on(self, sources: Sequence[str]) -> "Metric":
        """The metric of answers to these sources, where it asks what they were; else itself."""
        return self if self.by_source is None else self._replace(statistics=partial(self.by_source, sources))

    def merit(self, value: float) -> float:
        """The value, or minus it: always the larger the better."""
        return -value if self.smaller_is_better else value

    def value(self, outputs: Sequence[Any], references: Sequence[Sequence[str]]) -> float:
        """The metric of a whole set; each output has one or more references."""
        if not outputs:
            return 0.0
        return float(self.formula(self.statistics(outputs, references).sum(axis=0, keepdims=True))[0])


def hits_of(hits: Sequence[float], chances: float = 1.0) -> Sums:
    """(N, 2): the hits of each example, and its chances to hit."""
    return np.stack([np.asarray(hits, dtype=np.float64), np.full(len(hits), chances)], axis=1)


def exact_statistics(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Sums:
    """(N, 2): right or not, and one."""
    return hits_of([output in allowed for output, allowed in zip(outputs, references, strict=True)])


def share(sums: Sums) -> Sums:
    """Hits over chances."""
    return np.asarray(sums[:, 0] / sums[:, 1])
