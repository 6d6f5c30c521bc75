"""How often what is true is preferred to what chance would have drawn."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from atento.metrics.metric import Metric, Sums, share


def preference_statistics(outputs: Sequence[Any], references: Sequence[Sequence[str]]) -> Sums:
    """(N, 2): outputs are [preferred, asked] of each text, as sums over its words."""
    return np.asarray([list(output) for output in outputs], dtype=np.float64).reshape(-1, 2)


PREFERRED = Metric(
    "preferred",
    "how often the true next word is preferred to a drawn one; 0.5 is chance",
    preference_statistics,
    share,
)
