"""How fast neighbours part: the largest Lyapunov exponent, from the equations."""

from collections.abc import Sequence

import numpy as np

from atento.data.dynamics.trajectories import Flow, Numbers, integrate, require_flow, require_positive
from atento.errors import InputError

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
