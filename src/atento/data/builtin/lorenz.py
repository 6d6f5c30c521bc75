"""Lorenz's attractor as a set of one series: two wings, and no telling how often each is gone round."""

from functools import lru_cache

from atento.data.builtin.parts import Lengths
from atento.data.dynamics.coordinates import coordinates_of
from atento.data.dynamics.flows import lorenz
from atento.data.dynamics.trajectories import Numbers
from atento.data.series.series import SeriesSet
from atento.spec import DataRecipe

STEP = 0.02
LENGTHS = Lengths(usual=10_000, most=1_000_000, unit="steps")


@lru_cache(maxsize=4)
def stretch(steps: int, seed: int) -> Numbers:
    """The same numbers again, without integrating again."""
    return lorenz(steps, step=STEP, seed=seed)


def lorenz_series(recipe: DataRecipe, seed: int) -> SeriesSet:
    """x, y and z, or those that data.target names."""
    steps = LENGTHS.of(recipe)
    note = f"Lorenz's attractor, {steps} steps of {STEP} (σ = 10, ρ = 28, β = 8/3); largest Lyapunov exponent 0.9056"
    return coordinates_of(recipe, stretch(steps, seed), note)
