"""Learning curves: what more time would bring, from the validations of a run so far.

The error that is left after t seconds, e(t), is taken to follow one of two laws: a power law with a floor,
e = c + (1 − c) t^−b in units of the last error (Kolachina et al., 2012; Domhan et al., 2015), or, where an error is a
share of wrong answers, odds e / (1 − e) that fall as t^−b, the S of a task that is suddenly understood. All laws of a
grid are kept with the weight that the points give them, so that an answer is a distribution, not a number: a short or
noisy curve has a wide one. As the past of a curve does not tell when a task is understood, a share of the draws takes
its exponent from other curves: `UNLIKE_ITS_PAST`, `DRIFT` and the two medians are fitted to real curves, so that later
values lie in their intervals as often as these promise (`benchmarks/learning_curves.py` counts it on other curves).
As a run keeps its best weights, the curve is the best validation so far.
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
DRIFT = 0.7  # standard deviation of ln b, for schedules that differ and laws that are not exact
SLIP = 0.1  # standard deviation of ln e, or of the log-odds, for each factor e of time beyond the curve
UNLIKE_ITS_PAST = 0.35  # share of draws whose exponent is that of other curves
OTHERS = (0.36, 0.9)  # of b in other curves: the median, and the standard deviation of ln b
OTHERS_ODDS = (2.0, 1.1)  # the same, of odds
EXAMPLES = 300  # of one validation, about: a share of wrong answers is counted on so many
ALMOST = 0.5 / EXAMPLES  # of a share of wrong answers: neither 0 nor 1 has odds


class LearningCurve(NamedTuple):
    """The validations of one run."""

    seconds: NDArray[np.float64]  # (P,) increasing, above 0
    errors: NDArray[np.float64]  # (P,) what is left to be learned: 0 is perfect
    is_share: bool  # whether an error is a share of wrong answers, at most 1

    @classmethod
    def of(cls, seconds: Sequence[float], values: Sequence[float], *, smaller_is_better: bool) -> "LearningCurve":
        """The best value so far at each validation, as an error: the value where smaller is better, else 1 − value."""
        found, times = np.asarray(values, dtype=np.float64), np.asarray(seconds, dtype=np.float64)
        measured = np.isfinite(found) & (times > 0)
        found, times = found[measured], times[measured]
        errors = np.minimum.accumulate(found if smaller_is_better else 1.0 - found)
        return cls(times, errors, not smaller_is_better)


class Laws(NamedTuple):
    """Laws by which a curve may go on."""

    exponents: NDArray[np.float64]  # (G,) b
    floors: NDArray[np.float64]  # (G,) c of a power law; of odds 0
    of_odds: NDArray[np.bool_]  # (G,)

    def errors(self, factor: NDArray[np.float64], error: float) -> NDArray[np.float64]:
        """The errors (G, T) at these factors (T,) of the time at which the error is `error`."""
        exponents, floors = self.exponents[:, None], self.floors[:, None]
        power = error * (floors + (1 - floors) * factor[None] ** -exponents)
        odds = np.exp(log_odds(np.array(error))) * factor[None] ** -exponents
        return np.where(self.of_odds[:, None], odds / (1 + odds), power)


class Extrapolation(NamedTuple):
    """Draws of how a learning curve goes on."""

    seconds: float  # where the curve ends
    error: float  # the lowest so far
    laws: Laws  # (D,)
    slips: NDArray[np.float64]  # (D,) of ln e, or of the log-odds, for each factor e of time
    is_share: bool = False  # whether an error is a share of wrong answers

    @classmethod
    def level(cls, error: float, seconds: float) -> "Extrapolation":
        """An error that no time changes, such as that of a simple baseline."""
        laws = Laws(np.zeros(DRAWS), np.ones(DRAWS), np.zeros(DRAWS, dtype=np.bool_))
        return cls(seconds, error, laws, np.zeros(DRAWS))

    def at(self, seconds: float | NDArray[np.float64]) -> NDArray[np.float64]:
        """The errors (D, T) at later times; none is above the error so far, as the best weights are kept."""
        factor = np.maximum(np.atleast_1d(seconds) / self.seconds, 1.0)
        found, slipped = self.laws.errors(factor, self.error), factor[None] ** self.slips[:, None]
        found = found * slipped / (1 - found + found * slipped) if self.is_share else found * slipped
        return np.minimum(found, self.error)

    def interval(self, seconds: float, *, seed: int = 0) -> tuple[float, float, float]:
        """The median error that is measured at a later time, and the ends of its interval. A measurement has noise of
        its own, so that its upper end may lie a little above the error so far.
        """
        errors = self.at(seconds)[:, 0]
        spread = np.sqrt(errors * (1 - errors) / EXAMPLES) if self.is_share else NOISE * errors
        measured = errors + spread * np.random.default_rng(seed).standard_normal(len(errors))
        tail = (1 - COVERAGE) / 2
        middle, low, high = np.quantile(measured, [0.5, tail, 1 - tail])
        if self.is_share:
            low, high = (0.0 if low < 1 / EXAMPLES else low), min(high, 1.0)
        return max(float(middle), 0.0), float(low), float(high)


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
    """How a curve goes on; None where it has too few points, has not begun to fall, or makes no mistake."""
    errors, seconds = curve.errors, curve.seconds
    if len(errors) < LEAST_POINTS or errors[-1] >= errors[0] or errors[-1] <= 0:
        return None
    late = seconds >= seconds[-1] / 20  # the first moments follow another law
    errors, seconds = (errors[late], seconds[late]) if late.sum() >= LEAST_POINTS else (errors, seconds)
    laws = all_laws(with_odds=curve.is_share)
    random = np.random.default_rng(seed)
    drawn = random.choice(len(laws.exponents), DRAWS, p=weigh(laws, errors, seconds, is_share=curve.is_share))
    chosen = laws.exponents[drawn] * np.exp(DRIFT * random.standard_normal(DRAWS))
    median, deviation = OTHERS_ODDS if curve.is_share else OTHERS
    unlike = random.random(DRAWS) < UNLIKE_ITS_PAST
    others = median * np.exp(deviation * random.standard_normal(DRAWS))
    ahead = Laws(
        np.where(unlike, others, chosen),
        np.where(unlike, 0.0, laws.floors[drawn]),
        np.where(unlike, curve.is_share, laws.of_odds[drawn]),
    )
    slips = SLIP * random.standard_normal(DRAWS)
    return Extrapolation(float(seconds[-1]), float(errors[-1]), ahead, slips, curve.is_share)


def weigh(
    laws: Laws, errors: NDArray[np.float64], seconds: NDArray[np.float64], *, is_share: bool
) -> NDArray[np.float64]:
    """The probability (G,) of each law, given the points (P,) of a curve."""
    scale = log_odds if is_share else np.log
    residuals = scale(errors)[None] - scale(laws.errors(seconds / seconds[-1], float(errors[-1])))  # (G, P)
    residuals -= np.average(residuals, axis=1, weights=seconds)[:, None]  # the level is free, too
    squares = np.average(residuals**2, axis=1, weights=seconds)  # later points say more of what comes
    noise = max(float(squares.min()), NOISE**2)
    weights = np.exp(-(squares - squares.min()) * len(errors) / (2 * noise))
    return np.asarray(weights / weights.sum())


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
