"""Learning curves: what more time would bring, from the validations of a run so far.

The error that is left after t seconds, e(t), is taken to follow one of two laws: a power law with a floor,
e = c + (1 − c) t^−b in units of the last error (Kolachina et al., 2012; Domhan et al., 2015), or, where an error is a
share of wrong answers, odds e / (1 − e) that fall as t^−b, the S of a task that is suddenly understood. All laws of a
grid are kept with the weight that the points give them, so that an answer is a distribution, not a number: a short or
noisy curve has a wide one. As a run keeps its best weights, the curve is the best validation so far.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Axes: P points of a curve, G laws, D draws, T times.

LEAST_POINTS = 4  # of a curve that is extrapolated
EXPONENTS = np.geomspace(0.05, 3.0, 25)  # b of a power law
FLOORS = np.linspace(0.0, 1.0, 41)[:-1]  # c, as a share of the lowest error so far
ODDS_EXPONENTS = np.geomspace(0.2, 12.0, 60)  # b of odds
NOISE = 0.03  # least error of a point of the curve, as a share of it: validations are samples, too
DRAWS = 2000
COVERAGE = 0.9  # of an interval
DRIFT = 0.4  # standard deviation of ln b, for schedules that differ and laws that are not exact
SLIP = 0.12  # standard deviation of ln e for each factor e of time beyond the curve
ALMOST = 1e-6  # of a share of wrong answers: neither 0 nor 1 has odds


class LearningCurve(NamedTuple):
    """The validations of one run."""

    seconds: NDArray[np.float64]  # (P,) increasing, above 0
    errors: NDArray[np.float64]  # (P,) what is left to be learned: 0 is perfect
    is_share: bool  # whether an error is a share of wrong answers, at most 1

    @classmethod
    def of(cls, seconds: Sequence[float], values: Sequence[float], *, smaller_is_better: bool) -> "LearningCurve":
        """The best value so far at each validation, as an error: the value where smaller is better, else 1 − value."""
        found = np.asarray(values, dtype=np.float64)
        errors = np.minimum.accumulate(found if smaller_is_better else 1.0 - found)
        times = np.asarray(seconds, dtype=np.float64)
        kept = np.isfinite(errors) & (errors > 0) & (times > 0)
        return cls(times[kept], errors[kept], not smaller_is_better)


class Laws(NamedTuple):
    """Laws by which a curve may go on."""

    exponents: NDArray[np.float64]  # (G,) b
    floors: NDArray[np.float64]  # (G,) c of a power law; of odds 0
    of_odds: NDArray[np.bool_]  # (G,)

    def errors(self, factor: NDArray[np.float64], error: float) -> NDArray[np.float64]:
        """The errors (G, T) at these factors (T,) of the time at which the error is `error`."""
        exponents, floors = self.exponents[:, None], self.floors[:, None]
        power = error * (floors + (1 - floors) * factor[None] ** -exponents)
        share = min(max(error, ALMOST), 1 - ALMOST)
        odds = share / (1 - share) * factor[None] ** -exponents
        return np.where(self.of_odds[:, None], odds / (1 + odds), power)


class Extrapolation(NamedTuple):
    """Draws of how a learning curve goes on."""

    seconds: float  # where the curve ends
    error: float  # the lowest so far
    laws: Laws  # (D,)
    slips: NDArray[np.float64]  # (D,) of ln e for each factor e of time

    @classmethod
    def level(cls, error: float, seconds: float) -> "Extrapolation":
        """An error that no time changes, such as that of a simple baseline."""
        laws = Laws(np.zeros(DRAWS), np.ones(DRAWS), np.zeros(DRAWS, dtype=np.bool_))
        return cls(seconds, error, laws, np.zeros(DRAWS))

    def at(self, seconds: float | NDArray[np.float64]) -> NDArray[np.float64]:
        """The errors (D, T) at later times; none is above the error so far, as the best weights are kept."""
        factor = np.maximum(np.atleast_1d(seconds) / self.seconds, 1.0)
        slipped = self.laws.errors(factor, self.error) * factor[None] ** self.slips[:, None]
        return np.minimum(slipped, self.error)

    def interval(self, seconds: float) -> tuple[float, float, float]:
        """The median error at a later time, and the ends of its interval."""
        tail = (1 - COVERAGE) / 2
        middle, low, high = np.quantile(self.at(seconds), [0.5, tail, 1 - tail])
        return float(middle), float(low), float(high)


def all_laws(*, with_odds: bool) -> Laws:
    """The grid of laws; both kinds are equally probable before a curve is seen."""
    floors, exponents = (part.ravel() for part in np.meshgrid(FLOORS, EXPONENTS))
    power = Laws(exponents, floors, np.zeros(len(floors), dtype=np.bool_))
    if not with_odds:
        return power
    repeats = len(floors) // len(ODDS_EXPONENTS)
    odds = np.repeat(ODDS_EXPONENTS, repeats)
    more = Laws(odds, np.zeros(len(odds)), np.ones(len(odds), dtype=np.bool_))
    return Laws(*(np.concatenate(parts) for parts in zip(power, more, strict=True)))


def log_odds(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """ln e / (1 − e)."""
    inside = np.clip(shares, ALMOST, 1 - ALMOST)
    return np.log(inside) - np.log1p(-inside)


def extrapolate(curve: LearningCurve, *, seed: int = 0) -> Extrapolation | None:
    """How a curve goes on; None where it has too few points, or has not begun to fall."""
    errors, seconds = curve.errors, curve.seconds
    if len(errors) < LEAST_POINTS or errors[-1] >= errors[0]:
        return None
    late = seconds >= seconds[-1] / 20  # the first moments follow another law
    errors, seconds = (errors[late], seconds[late]) if late.sum() >= LEAST_POINTS else (errors, seconds)
    laws = all_laws(with_odds=curve.is_share)
    expected = laws.errors(seconds / seconds[-1], float(errors[-1]))  # (G, P)
    scale = log_odds if curve.is_share else np.log
    residuals = scale(errors)[None] - scale(expected)
    residuals -= np.average(residuals, axis=1, weights=seconds)[:, None]  # the level is free, too
    squares = np.average(residuals**2, axis=1, weights=seconds)  # later points say more of what comes
    noise = max(float(squares.min()), NOISE**2)
    weights = np.exp(-(squares - squares.min()) * len(errors) / (2 * noise))
    random = np.random.default_rng(seed)
    drawn = random.choice(len(weights), DRAWS, p=weights / weights.sum())
    drift = np.exp(DRIFT * random.standard_normal(DRAWS))
    chosen = Laws(laws.exponents[drawn] * drift, laws.floors[drawn], laws.of_odds[drawn])
    slips = SLIP * random.standard_normal(DRAWS)
    return Extrapolation(float(seconds[-1]), float(errors[-1]), chosen, slips)


def passing(behind: Extrapolation, ahead: Extrapolation, *, until: float) -> tuple[float, float]:
    """How probable it is that one curve is below another at the time `until`, and the median time from which on it is,
    among the draws in which it is.
    """
    start = max(behind.seconds, ahead.seconds)
    times = np.geomspace(start, until, 60)
    below = behind.at(times) < ahead.at(times)  # (D, T)
    passes = below[:, -1]
    if not passes.any():
        return 0.0, until
    since = times[len(times) - np.argmin(below[passes][:, ::-1], axis=1) - 1]
    never_above = below[passes].all(axis=1)
    return float(passes.mean()), float(np.median(np.where(never_above, start, since)))
