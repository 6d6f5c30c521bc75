"""A metric is sums over examples and a formula over the sums: so any resample of the examples can be scored at once."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Sums = NDArray[np.float64]

# Axes: N examples, S statistics, R resamples.


class Metric(NamedTuple):
    """statistics: outputs, references -> (N, S); formula: sums (R, S) -> (R,). Larger is better, 1 is perfect."""

    name: str
    summary: str
    statistics: Callable[[Sequence[str], Sequence[Sequence[str]]], Sums]
    formula: Callable[[Sums], Sums]

    def value(self, outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
        """The metric of a whole set; each output has one or more references."""
        if not outputs:
            return 0.0
        return float(self.formula(self.statistics(outputs, references).sum(axis=0, keepdims=True))[0])
