"""A film of Rössler's system: two spots of light whose places are its state, frame by frame.

The first spot stands at (x, y); the second rises at the right edge with z. A frame says the whole state, but no three
sums of its pixels do.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from atento.data.builtin.parts import refuse_keys
from atento.data.dynamics.flows import rossler
from atento.data.films import film_of
from atento.data.series.series import SeriesSet
from atento.spec import DataRecipe

# Axes: T time, S side of a frame.

SIDE = 24
FRAMES = 6000
STEP = 0.2  # of time, from frame to frame: about thirty to a turn
SPOT, SPARK = 3.0, 2.0  # widths of the two spots, in pixels
MARGIN = 4
GRAIN = 0.01  # noise of each pixel
EXTENT = np.asarray([[-10.0, 12.0], [-11.5, 8.5], [0.0, 24.0]])  # of the attractor, a little more than it takes

Numbers = NDArray[np.float64]


def film(recipe: DataRecipe, seed: int) -> SeriesSet:
    """One series whose channels are pixels, row by row."""
    refuse_keys(recipe, "source", "target", "length")
    return film_of("film", frames_of(seed), ("two spots of light, whose places are the state of Rössler's system",))


@lru_cache(maxsize=2)
def frames_of(seed: int) -> Numbers:
    """The same frames again, without drawing them again."""
    return draw_frames(film_states(seed), np.random.default_rng(seed))


def film_states(seed: int) -> Numbers:
    """The states (T, 3) that the frames were drawn from, which no model is shown."""
    return rossler(FRAMES, step=STEP, seed=seed)


def draw_frames(states: Numbers, chance: np.random.Generator) -> Numbers:
    """States (T, 3) -> frames (T, S, S), between 0 and 2 but for the grain."""
    low, high = EXTENT.T
    across, down, height = ((states - low) / (high - low)).T[:, :, None] * (SIDE - 1 - 2 * MARGIN) + MARGIN  # (T, 1)
    edge = np.full_like(across, SIDE - 1 - MARGIN / 2)
    frames = spots(across, down, SPOT) + spots(edge, SIDE - 1 - height, SPARK)
    return np.asarray(frames + GRAIN * chance.normal(size=frames.shape))


def spots(across: Numbers, down: Numbers, width: float) -> Numbers:
    """A round spot at each place (T, 1), brightest in its middle: exp(−d² / 2 width²), (T, S, S)."""
    pixels = np.arange(SIDE)
    columns = np.exp(-np.square(pixels - across) / (2 * width**2))  # (T, S)
    rows = np.exp(-np.square(pixels - down) / (2 * width**2))
    return np.asarray(rows[:, :, None] * columns[:, None, :])
