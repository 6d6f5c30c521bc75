"""Series that are a flow: each row decides the next, smoothly and with hardly any noise, as equations of motion do."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from atento.baselines.polynomial import Polynomial
from atento.data.series.series import Numbers

# Axes: T time, C channels.

UNEXPLAINED = 0.02  # of the change from row to row, in the mean over channels: a flow leaves less
ROWS = 4000  # that are looked at, the first
LEAST_ROWS = 200
MOST_CHANNELS = 20
LEARNED = 0.8  # of these rows; the rest are tried


def is_flow(series: Sequence[Any]) -> bool:
    """Whether in every series a quadratic polynomial of a row says almost all of the change to the next.

    Series are anything with `values` (T, C); only the first half of each is looked at, which is learned from anyway.
    """
    return bool(series) and all(unexplained(one.values[: len(one.values) // 2]) < UNEXPLAINED for one in series)


def unexplained(values: Numbers) -> float:
    """The share of the change's variance that is left on rows (T, C) that were not learned from."""
    values = np.asarray(values[:ROWS], dtype=np.float64)
    if len(values) < LEAST_ROWS or values.shape[1] > MOST_CHANNELS:
        return 1.0
    border = int(LEARNED * len(values))
    spread = values[:border].std(axis=0)
    changes = np.diff(values[border:], axis=0)
    variance = changes.var(axis=0)
    if not (spread > 0).all() or not (variance > 0).all():
        return 1.0
    model = Polynomial(degree=2, delays=1, penalty=1e-8).learn_from([values[:border]])
    said = model.extend(values[border:-1, None], 1)[:, 0] - values[border:-1]
    return float((np.square(said - changes).mean(axis=0) / variance).mean())
