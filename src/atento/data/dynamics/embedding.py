"""A state from one coordinate: its values now and some steps ago (Takens, 1981)."""

import numpy as np

from atento.data.dynamics.trajectories import Numbers
from atento.errors import InputError

# Axes: T time, E delays.

LARGEST = 0.25  # of the series: the longest lag


def embed(values: Numbers, *, delays: int = 3, lag: int = 1) -> Numbers:
    """(T,) -> (T − (E − 1) lag, E): x(t), x(t − lag), x(t − 2 lag), …"""
    rows = len(values) - (delays - 1) * lag
    if values.ndim != 1 or delays < 1 or lag < 1 or rows < 1:
        raise InputError(
            "a delay embedding takes one coordinate, longer than its delays.",
            found=f"values of shape {values.shape}, delays={delays}, lag={lag}",
            fix="give (T,) numbers, and a shorter lag",
        )
    first = (delays - 1) * lag
    return np.stack([values[first - delay * lag :][:rows] for delay in range(delays)], axis=1)


def likely_lag(values: Numbers) -> int:
    """The first lag at which the autocorrelation of (T,) falls below 1/e; of what never does, 1."""
    moved = values - values.mean()
    most = max(1, int(LARGEST * len(values)))
    size = 2 ** int(np.ceil(np.log2(2 * len(values))))
    spectrum = np.fft.rfft(moved, size)
    correlation = np.fft.irfft(spectrum * np.conj(spectrum), size)[: most + 1]
    if not correlation[0] > 0:
        return 1
    low = np.flatnonzero(correlation / correlation[0] < 1 / np.e)
    return int(low[0]) if len(low) else 1
