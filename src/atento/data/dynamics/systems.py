"""Two systems that never repeat themselves: Rössler's band and Lorenz's butterfly.

From equations to a trajectory: any function of time and state, by scipy's integrator.
A trajectory as a set of one series, of all coordinates or of some.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.data.series.series import Series, SeriesSet, Step
from atento.errors import InputError, unknown_name
from atento.spec import DataRecipe

# Axes: T time, D coordinates.

Numbers = NDArray[np.float64]
Flow = Callable[[float, Numbers], Any]  # time, state (D,) -> its rate of change (D,), as scipy's solve_ivp takes it

TOLERANCE = 1e-10  # relative and absolute error of a step
MOST_STEPS = 100_000  # of the integrator, between two rows


def trajectory(
    function: Flow,
    start: Sequence[float] | Numbers,
    *,
    step: float,
    steps: int,
    settle: float = 0.0,
    tolerance: float = TOLERANCE,
) -> Numbers:
    """The states (T, D) at times 0, step, 2 step, … of ds/dt = function(time, s).

    `settle` is how much time passes before the first of the `steps` rows, for what is only on its way to the attractor.
    The step of the integrator (LSODA: Adams and backward differences, Petzold 1983) follows from `tolerance`.
    """
    first = require_flow(function, start)
    require_positive(step=step, steps=steps, tolerance=tolerance)
    if not settle >= 0 or not np.isfinite(settle):
        raise InputError(
            "settle is a time that passes before the first row.", found=f"settle={settle}", fix="0 or more"
        )
    times: Numbers = settle + step * np.arange(steps, dtype=np.float64)
    if settle:
        states = integrate(function, first, np.concatenate([np.zeros(1), times]), tolerance)[1:]
    else:
        states = integrate(function, first, times, tolerance)
    gone = ~np.isfinite(states).all(axis=1)
    if gone.any():
        raise InputError(
            "the trajectory goes to infinity.",
            found=f"no finite state after time {times[int(gone.argmax())]:g}",
            fix="start elsewhere, or take other parameters",
        )
    return states


def integrate(function: Flow, start: Numbers, times: Numbers, tolerance: float, *, most: int = MOST_STEPS) -> Numbers:
    """The states (T, D) at the given times; those that the integrator does not reach are NaN."""
    from scipy.integrate import ODEintWarning, odeint

    with warnings.catch_warnings(), np.errstate(over="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", ODEintWarning)  # what went wrong is said by the numbers
        states, facts = odeint(
            function, start, times, tfirst=True, rtol=tolerance, atol=tolerance, mxstep=most, full_output=True
        )
    states = np.asarray(states, dtype=np.float64)
    if "successful" not in facts["message"]:
        reached = np.asarray(facts["tcur"])
        states[1:][np.maximum.accumulate(reached < times[1:])] = np.nan
    return states


def require_flow(function: Flow, start: Sequence[float] | Numbers) -> Numbers:
    """The start as an array, once the function is known to take it."""
    first = np.asarray(start, dtype=np.float64)
    if first.ndim != 1 or not first.size or not np.isfinite(first).all():
        raise InputError(
            "a trajectory starts at a list of finite numbers, one a coordinate.",
            found=f"start={start!r}"[:80],
            fix="start=(1.0, 1.0, 1.0) for three coordinates",
        )
    rate = np.asarray(function(0.0, first), dtype=np.float64)
    if rate.shape != first.shape:
        raise InputError(
            "the function gives each coordinate its rate of change.",
            found=f"{rate.size} rates for {first.size} coordinates",
            fix="def function(time, state): return a list as long as state",
        )
    return first


def require_positive(**values: float) -> None:
    """Steps, times and tolerances are above zero."""
    for name, value in values.items():
        if not value > 0 or not np.isfinite(value):
            raise InputError(f"{name} must be above 0.", found=f"{name}={value}", fix=f"{name}=1, or what suits")


# Axes: T time; the three coordinates are x, y, z.

COORDINATES = ("x", "y", "z")


@dataclass(frozen=True)
class Rossler:
    """ẋ = −y − z, ẏ = x + a y, ż = b + z (x − c)  (Rössler, 1976, eq. 2)."""

    a: float = 0.2
    b: float = 0.2
    c: float = 5.7

    def __call__(self, time: float, state: Numbers) -> tuple[float, float, float]:
        """The rate of change of one state."""
        x, y, z = state
        return -y - z, x + self.a * y, self.b + z * (x - self.c)


@dataclass(frozen=True)
class Lorenz:
    """ẋ = σ (y − x), ẏ = x (ρ − z) − y, ż = x y − β z  (Lorenz, 1963, eqs. 25–27)."""

    sigma: float = 10.0
    rho: float = 28.0
    beta: float = 8 / 3

    def __call__(self, time: float, state: Numbers) -> tuple[float, float, float]:
        """The rate of change of one state."""
        x, y, z = state
        return self.sigma * (y - x), x * (self.rho - z) - y, x * y - self.beta * z


def rossler(steps: int = 10_000, *, step: float = 0.1, seed: int = 0, flow: Rossler | None = None) -> Numbers:
    """A stretch (T, 3) of Rössler's attractor; another seed, another stretch."""
    start = np.random.default_rng(seed).uniform((-5.0, -5.0, 0.0), (5.0, 5.0, 0.1))
    return trajectory(flow or Rossler(), start, step=step, steps=steps, settle=200.0)


def lorenz(steps: int = 10_000, *, step: float = 0.02, seed: int = 0, flow: Lorenz | None = None) -> Numbers:
    """A stretch (T, 3) of Lorenz's attractor; another seed, another stretch."""
    start = np.random.default_rng(seed).uniform((-10.0, -10.0, 15.0), (10.0, 10.0, 35.0))
    return trajectory(flow or Lorenz(), start, step=step, steps=steps, settle=50.0)


def coordinates_of(recipe: DataRecipe, states: Numbers, note: str) -> SeriesSet:
    """The coordinates that data.target names, commas between; all three where it names none."""
    names = tuple(name.strip() for name in recipe.target.split(",")) if recipe.target else COORDINATES
    for name in names:
        if name not in COORDINATES:
            raise unknown_name("coordinate", name, COORDINATES, where="data.target")
    values = states[:, [COORDINATES.index(name) for name in names]]
    series = Series("", values, np.zeros((len(values), 0)))
    said = f"{note}; of it {', '.join(names)}" if names != COORDINATES else note
    return SeriesSet(recipe.train, (series,), names, (), Step(1, ""), 1, (), (said,))
