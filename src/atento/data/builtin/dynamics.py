"""Lorenz's attractor as a set of one series: two wings, and no telling how often each is gone round.

Rössler's attractor as a set of one series: a band with one fold, that turns once in about six units of time.
A film of Rössler's system: two spots of light whose places are its state, frame by frame.
The first spot stands at (x, y); the second rises at the right edge with z. A frame says the whole state, but no three
sums of its pixels do.
Paths of boats seen from above: each sails straight on, turns, or waits, and takes a while to change its way.
Where a boat will be follows from how it has been moving, not from where it is: a boat that turns goes on turning, one
that slows down comes to rest. Its place is known with some error, so two places say little of its course.
"""

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from atento.data.builtin.builtin import Lengths, refuse_keys
from atento.data.dynamics.systems import Numbers, coordinates_of, lorenz, rossler
from atento.data.images.films import film_of
from atento.data.series.series import Series, SeriesSet, Step
from atento.spec import DataRecipe

LORENZ_STEP = 0.02
LORENZ_LENGTHS = Lengths(usual=10_000, most=1_000_000, unit="steps")


@lru_cache(maxsize=4)
def lorenz_stretch(steps: int, seed: int) -> Numbers:
    """The same numbers again, without integrating again."""
    return lorenz(steps, step=LORENZ_STEP, seed=seed)


def lorenz_series(recipe: DataRecipe, seed: int) -> SeriesSet:
    """x, y and z, or those that data.target names."""
    steps = LORENZ_LENGTHS.of(recipe)
    constants = "(σ = 10, ρ = 28, β = 8/3); largest Lyapunov exponent 0.9056"
    note = f"Lorenz's attractor, {steps} steps of {LORENZ_STEP} {constants}"
    return coordinates_of(recipe, lorenz_stretch(steps, seed), note)


ROSSLER_STEP = 0.1
ROSSLER_LENGTHS = Lengths(usual=50_000, most=1_000_000, unit="steps")


@lru_cache(maxsize=4)
def rossler_stretch(steps: int, seed: int) -> Numbers:
    """The same numbers again, without integrating again."""
    return rossler(steps, step=ROSSLER_STEP, seed=seed)


def rossler_series(recipe: DataRecipe, seed: int) -> SeriesSet:
    """x, y and z, or those that data.target names."""
    steps = ROSSLER_LENGTHS.of(recipe)
    note = (
        f"Rössler's attractor, {steps} steps of {ROSSLER_STEP} (a = b = 0.2, c = 5.7); largest Lyapunov exponent 0.0714"
    )
    return coordinates_of(recipe, rossler_stretch(steps, seed), note)


# Axes: T time, S side of a frame.

SIDE = 24
FRAMES = 6000
FILM_STEP = 0.2  # of time, from frame to frame: about thirty to a turn
SPOT, SPARK = 3.0, 2.0  # widths of the two spots, in pixels
MARGIN = 4
GRAIN = 0.01  # noise of each pixel
EXTENT = np.asarray([[-10.0, 12.0], [-11.5, 8.5], [0.0, 24.0]])  # of the attractor, a little more than it takes


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
    return rossler(FRAMES, step=FILM_STEP, seed=seed)


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


# Axes: T time.

BOATS = 40
PATHS_LENGTHS = Lengths(usual=500, most=100_000, unit="steps")
STRAIGHT, TURN = 0.0, 0.2  # radians a step
SHORTEST, LONGEST = 12, 40  # steps that a way of moving lasts
INERTIA = 0.6  # how much of its speed and turning a boat keeps from step to step
ERROR = 0.05  # of each coordinate, where a boat makes about one a step
SHORE = 12.0  # farther out, boats turn back to the middle


def paths(recipe: DataRecipe, seed: int) -> SeriesSet:
    """One series a boat, of the channels x and y."""
    refuse_keys(recipe, "source", "target")
    steps = PATHS_LENGTHS.of(recipe)
    series = tuple(
        Series(f"boat {number + 1:02d}", sail(np.random.default_rng([seed, number]), steps), np.zeros((steps, 0)))
        for number in range(BOATS)
    )
    note = f"{BOATS} boats of {steps} steps each, which sail straight on, turn or wait"
    return SeriesSet("paths", series, ("x", "y"), (), Step(1, ""), 1, (), (note,))


def sail(chance: np.random.Generator, steps: int) -> Numbers:
    """Where a boat was seen (T, 2)."""
    x, y = chance.uniform(-SHORE / 2, SHORE / 2, size=2).tolist()
    heading, speed, turning = float(chance.uniform(-math.pi, math.pi)), 0.0, 0.0
    places: list[tuple[float, float]] = []
    for _, (wished_speed, wished_turning) in zip(range(steps), wishes(chance), strict=False):
        if math.hypot(x, y) > SHORE:  # the shorter way round to the middle
            off = math.remainder(math.atan2(-y, -x) - heading, 2 * math.pi)
            wished_speed, wished_turning = 1.0, max(-TURN, min(TURN, off))
        speed = INERTIA * speed + (1 - INERTIA) * wished_speed
        turning = INERTIA * turning + (1 - INERTIA) * wished_turning
        heading += turning
        x, y = x + speed * math.cos(heading), y + speed * math.sin(heading)
        places.append((x, y))
    return np.asarray(places) + ERROR * chance.normal(size=(steps, 2))


def wishes(chance: np.random.Generator) -> Iterator[tuple[float, float]]:
    """The speed and the turning that a boat wants, step by step, each way of moving for a while."""
    while True:
        speed, turning = ((1.0, STRAIGHT), (1.0, TURN), (1.0, -TURN), (0.0, STRAIGHT))[chance.choice(4, p=WAYS)]
        for _ in range(chance.integers(SHORTEST, LONGEST)):
            yield speed, turning


WAYS = (0.3, 0.3, 0.3, 0.1)  # how often: straight on, left, right, waiting
