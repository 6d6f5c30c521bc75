"""Dynamical systems: the trajectory of any ordinary differential equation, and the systems of Rössler and Lorenz."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from atento.data.series.series import Frequency, Numbers, Series, SeriesSet
from atento.errors import InputError, unknown_name
from atento.spec import DataRecipe

# Axes: T time, D coordinates.

VectorField = Callable[[float, Numbers], Any]  # time, state (D,) -> its rate of change (D,), as for scipy's solve_ivp

TOLERANCE = 1e-10  # relative and absolute error of a step
MOST_STEPS = 100_000  # of the integrator, between two rows
COORDINATES = ("x", "y", "z")


def trajectory(
    function: VectorField,
    start: Sequence[float] | Numbers,
    *,
    step: float,
    steps: int,
    settle: float = 0.0,
    tolerance: float = TOLERANCE,
) -> Numbers:
    """The states (T, D) at times 0, step, 2 step, … of ds/dt = function(time, s).

    `settle` is the time before the first of the `steps` rows, in which the transient decays. The step of the integrator
    (LSODA: Adams and backward differences, Petzold 1983) follows from `tolerance`.
    """
    first = require_vector_field(function, start)
    require_positive(step=step, steps=steps, tolerance=tolerance)
    if not settle >= 0 or not np.isfinite(settle):
        raise InputError("settle is the time before the first row.", found=f"settle={settle}", fix="0 or more")
    times: Numbers = settle + step * np.arange(steps, dtype=np.float64)
    before: Numbers = np.zeros(1 if settle else 0)
    states = integrate(function, first, np.concatenate([before, times]), tolerance)[len(before) :]
    gone = ~np.isfinite(states).all(axis=1)
    if gone.any():
        raise InputError(
            "the trajectory goes to infinity.",
            found=f"no finite state after time {times[int(gone.argmax())]:g}",
            fix="start elsewhere, or take other parameters",
        )
    return states


def integrate(
    function: VectorField, start: Numbers, times: Numbers, tolerance: float, *, most: int = MOST_STEPS
) -> Numbers:
    """The states (T, D) at the given times; NaN where the integrator failed."""
    from scipy.integrate import ODEintWarning, odeint

    with warnings.catch_warnings(), np.errstate(over="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", ODEintWarning)  # a failure shows as NaN
        states, facts = odeint(
            function, start, times, tfirst=True, rtol=tolerance, atol=tolerance, mxstep=most, full_output=True
        )
    states = np.asarray(states, dtype=np.float64)
    if "successful" not in facts["message"]:
        reached = np.asarray(facts["tcur"])
        states[1:][np.maximum.accumulate(reached < times[1:])] = np.nan
    return states


def require_vector_field(function: VectorField, start: Sequence[float] | Numbers) -> Numbers:
    """The start as an array, after a check that the function accepts it."""
    first = np.asarray(start, dtype=np.float64)
    if first.ndim != 1 or not first.size or not np.isfinite(first).all():
        raise InputError(
            "a trajectory starts at a list of finite numbers, one for each coordinate.",
            found=f"start={start!r}"[:80],
            fix="start=(1.0, 1.0, 1.0) for three coordinates",
        )
    rate = np.asarray(function(0.0, first), dtype=np.float64)
    if rate.shape != first.shape:
        raise InputError(
            "the function must return a rate of change for each coordinate.",
            found=f"{rate.size} rates for {first.size} coordinates",
            fix="def function(time, state): return a list as long as state",
        )
    return first


def require_positive(**values: float) -> None:
    """Refuse steps, times and tolerances that are not above zero."""
    for name, value in values.items():
        if not value > 0 or not np.isfinite(value):
            raise InputError(f"{name} must be above 0.", found=f"{name}={value}", fix=f"{name}=1")


@dataclass(frozen=True)
class Rossler:
    """Rössler's system: ẋ = −y − z, ẏ = x + a y, ż = b + z (x − c)  (Rössler, 1976, eq. 2)."""

    a: float = 0.2
    b: float = 0.2
    c: float = 5.7

    def __call__(self, time: float, state: Numbers) -> tuple[float, float, float]:
        """The rate of change of one state."""
        x, y, z = state
        return -y - z, x + self.a * y, self.b + z * (x - self.c)


@dataclass(frozen=True)
class Lorenz:
    """Lorenz's system: ẋ = σ (y − x), ẏ = x (ρ − z) − y, ż = x y − β z  (Lorenz, 1963, eqs. 25–27)."""

    sigma: float = 10.0
    rho: float = 28.0
    beta: float = 8 / 3

    def __call__(self, time: float, state: Numbers) -> tuple[float, float, float]:
        """The rate of change of one state."""
        x, y, z = state
        return self.sigma * (y - x), x * (self.rho - z) - y, x * y - self.beta * z


def rossler(steps: int = 10_000, *, step: float = 0.1, seed: int = 0, system: Rossler | None = None) -> Numbers:
    """A trajectory (T, 3) on Rössler's attractor, from an initial state drawn with the seed."""
    start = np.random.default_rng(seed).uniform((-5.0, -5.0, 0.0), (5.0, 5.0, 0.1))
    return trajectory(system or Rossler(), start, step=step, steps=steps, settle=200.0)


def lorenz(steps: int = 10_000, *, step: float = 0.02, seed: int = 0, system: Lorenz | None = None) -> Numbers:
    """A trajectory (T, 3) on Lorenz's attractor, from an initial state drawn with the seed."""
    start = np.random.default_rng(seed).uniform((-10.0, -10.0, 15.0), (10.0, 10.0, 35.0))
    return trajectory(system or Lorenz(), start, step=step, steps=steps, settle=50.0)


def coordinate_series(recipe: DataRecipe, states: Numbers, note: str) -> SeriesSet:
    """A set of one series: the coordinates that data.target names, separated by commas; all three by default."""
    names = tuple(name.strip() for name in recipe.target.split(",")) if recipe.target else COORDINATES
    for name in names:
        if name not in COORDINATES:
            raise unknown_name("coordinate", name, COORDINATES, where="data.target")
    values = states[:, [COORDINATES.index(name) for name in names]]
    series = Series("", values, np.zeros((len(values), 0)))
    text = f"{note}; of it {', '.join(names)}" if names != COORDINATES else note
    return SeriesSet(recipe.train, (series,), names, (), Frequency(1, ""), 1, (), (text,))
