"""Analysis of dynamical systems: delay embedding, its lag, and the largest Lyapunov exponent."""

from collections.abc import Sequence

import numpy as np

from atento.data.dynamics.systems import VectorField, integrate, require_positive, require_vector_field
from atento.data.series.series import Numbers
from atento.errors import InputError

# Axes: T time, E delays, D coordinates.

LONGEST_LAG = 0.25  # of the length of the series
EPSILON = 1e-6  # half the distance of the two states whose rates of change give J v
TOLERANCE = 1e-7
MOST_STEPS = 5000  # of the integrator, in one interval


def delay_embedding(values: Numbers, *, delays: int = 3, lag: int = 1) -> Numbers:
    """The delay embedding of one coordinate (Takens, 1981).

    (T,) -> (T − (E − 1) lag, E): x(t), x(t − lag), x(t − 2 lag), …
    """
    rows = len(values) - (delays - 1) * lag
    if values.ndim != 1 or delays < 1 or lag < 1 or rows < 1:
        raise InputError(
            "a delay embedding takes one coordinate, longer than its delays.",
            found=f"values of shape {values.shape}, delays={delays}, lag={lag}",
            fix="give (T,) numbers, and a shorter lag",
        )
    first = (delays - 1) * lag
    return np.stack([values[first - delay * lag :][:rows] for delay in range(delays)], axis=1)


def decorrelation_lag(values: Numbers) -> int:
    """The first lag at which the autocorrelation of (T,) falls below 1/e; 1 where it never does."""
    centred = values - values.mean()
    most = max(1, int(LONGEST_LAG * len(values)))
    size = 2 ** int(np.ceil(np.log2(2 * len(values))))
    spectrum = np.fft.rfft(centred, size)
    correlation = np.fft.irfft(spectrum * np.conj(spectrum), size)[: most + 1]
    if not correlation[0] > 0:
        return 1
    low = np.flatnonzero(correlation / correlation[0] < 1 / np.e)
    return int(low[0]) if len(low) else 1


def lyapunov_exponent(
    function: VectorField,
    start: Sequence[float] | Numbers,
    *,
    time: float = 2000.0,
    settle: float = 100.0,
    interval: float = 10.0,
) -> float:
    """The largest Lyapunov exponent λ = (1/t) Σ ln |v_k| of a system of equations (Benettin et al., 1980).

    The tangent vector v obeys v̇ = J(s) v and is normalised after each interval; J v is a finite difference of the rates
    of change at two neighbouring states.
    """
    state = require_vector_field(function, start)
    require_positive(time=time, interval=interval)
    size = len(state)
    tangent = np.random.default_rng(0).normal(size=size)
    both = np.concatenate([state, tangent / np.linalg.norm(tangent)])

    def joint_field(moment: float, pair: Numbers) -> Numbers:
        position, vector = pair[:size], pair[size:]
        length = np.sqrt(vector @ vector)
        short = vector * (EPSILON / length)  # so that the difference is linear, however long v has grown
        ahead, behind = function(moment, position + short), function(moment, position - short)
        change = (np.asarray(ahead) - np.asarray(behind)) * (length / (2 * EPSILON))
        return np.concatenate([function(moment, position), change])

    grown, passed = 0.0, 0.0
    while passed < settle + time:
        both = integrate(joint_field, both, np.asarray([passed, passed + interval]), TOLERANCE, most=MOST_STEPS)[-1]
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
        passed += interval
    return grown / (passed - settle)
