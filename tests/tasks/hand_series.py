"""Series made by hand, for tests of the forecast task."""

import numpy as np

from atento.data import Series, SeriesSet
from atento.data.series import Frequency

HOUR = np.timedelta64(3600, "s")
BEGIN = np.datetime64("2024-01-01T00:00:00", "us")


def series(values, name="", known=None, *, times=True, extra=0):
    """One series of hours; `extra`: rows that only their covariates are known of."""
    values = np.asarray(values, dtype=np.float64)
    values = values[:, None] if values.ndim == 1 else values
    rows = len(values) + extra
    known = np.zeros((rows, 0)) if known is None else np.asarray(known, dtype=np.float64).reshape(rows, -1)
    return Series(name, values, known, BEGIN + np.arange(rows) * HOUR if times else None)


def several(*parts, season=1, covariates=(), file="hand.csv"):
    """A set of series."""
    channels = tuple(f"c{at}" for at in range(parts[0].values.shape[1]))
    return SeriesSet(file, tuple(parts), channels, tuple(covariates), Frequency(1, "h"), season, (), ())
