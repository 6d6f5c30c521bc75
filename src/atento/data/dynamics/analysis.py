"""A state from one coordinate: its values now and some steps ago (Takens, 1981).

How fast neighbours part: the largest Lyapunov exponent, from the equations.
"""

from collections.abc import Sequence

import numpy as np

from atento.data.dynamics.systems import Flow, Numbers, integrate, require_flow, require_positive
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


# Axes: D coordinates, P pieces of time.

TINY = 1e-6  # half the distance at which two rates of change are compared
TOLERANCE = 1e-7
MOST_STEPS = 5000  # of the integrator, in a piece of time


def lyapunov_exponent(
    function: Flow,
    start: Sequence[float] | Numbers,
    *,
    time: float = 2000.0,
    settle: float = 100.0,
    piece: float = 10.0,
) -> float:
    """λ = (1/t) Σ ln |v_k|: a small step v between two neighbours is carried along and made short again after each
    piece of time (Benettin et al., 1980). It obeys v̇ = J(s) v; J v is the difference of the rates of two neighbours.
    """
    state = require_flow(function, start)
    require_positive(time=time, piece=piece)
    size = len(state)
    apart = np.random.default_rng(0).normal(size=size)
    both = np.concatenate([state, apart / np.linalg.norm(apart)])

    def flow(moment: float, pair: Numbers) -> Numbers:
        here, away = pair[:size], pair[size:]
        length = np.sqrt(away @ away)
        near = away * (TINY / length)  # so short that the rates differ as J says, however long v has grown
        ahead, behind = function(moment, here + near), function(moment, here - near)
        turned = (np.asarray(ahead) - np.asarray(behind)) * (length / (2 * TINY))
        return np.concatenate([function(moment, here), turned])

    grown, passed = 0.0, 0.0
    while passed < settle + time:
        both = integrate(flow, both, np.asarray([passed, passed + piece]), TOLERANCE, most=MOST_STEPS)[-1]
        length = float(np.linalg.norm(both[size:]))
        if not np.isfinite(both).all() or not length:
            raise InputError(
                "the trajectory goes to infinity.",
                found=f"no finite state after time {passed:g}",
                fix="start elsewhere, or take other parameters",
            )
        both[size:] /= length
        if passed >= settle:
            grown += float(np.log(length))
        passed += piece
    return grown / (passed - settle)
