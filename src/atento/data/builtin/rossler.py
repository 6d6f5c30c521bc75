"""Rössler's attractor as a set of one series: a band with one fold, that turns once in about six units of time."""

from functools import lru_cache

from atento.data.builtin.parts import Lengths
from atento.data.dynamics.coordinates import coordinates_of
from atento.data.dynamics.flows import rossler
from atento.data.dynamics.trajectories import Numbers
from atento.data.series.series import SeriesSet
from atento.spec import DataRecipe

STEP = 0.1
LENGTHS = Lengths(usual=50_000, most=1_000_000, unit="steps")


@lru_cache(maxsize=4)
def stretch(steps: int, seed: int) -> Numbers:
    """The same numbers again, without integrating again."""
    return rossler(steps, step=STEP, seed=seed)


def rossler_series(recipe: DataRecipe, seed: int) -> SeriesSet:
    """x, y and z, or those that data.target names."""
    steps = LENGTHS.of(recipe)
    note = f"Rössler's attractor, {steps} steps of {STEP} (a = b = 0.2, c = 5.7); largest Lyapunov exponent 0.0714"
    return coordinates_of(recipe, stretch(steps, seed), note)
