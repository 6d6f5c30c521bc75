"""Generated series: the attractors of Lorenz and Rössler, a video of Rössler's system, and the paths of boats."""

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from atento.data.builtin.builtin import Lengths, refuse_keys
from atento.data.dynamics.systems import coordinate_series, lorenz, rossler
from atento.data.images.videos import video_series
from atento.data.series.series import Frequency, Numbers, Series, SeriesSet
from atento.spec import DataRecipe

# Axes: T time, S side of a frame.

# The attractors. Lorenz's has two wings between which a trajectory changes irregularly; Rössler's is a band with one
# fold and a period of about six units of time.

LORENZ_STEP = 0.02
LORENZ_LENGTHS = Lengths(usual=10_000, most=1_000_000, unit="steps")
ROSSLER_STEP = 0.1
ROSSLER_LENGTHS = Lengths(usual=50_000, most=1_000_000, unit="steps")
LORENZ_EXPONENT, ROSSLER_EXPONENT = 0.9056, 0.0714  # largest Lyapunov exponents
LYAPUNOV_PER_ROW = {"lorenz": LORENZ_EXPONENT * LORENZ_STEP, "rossler": ROSSLER_EXPONENT * ROSSLER_STEP}

cached_lorenz, cached_rossler = lru_cache(maxsize=4)(lorenz), lru_cache(maxsize=4)(rossler)  # integration takes seconds


def lorenz_series(recipe: DataRecipe, seed: int) -> SeriesSet:
    """x, y and z of Lorenz's attractor, or those that data.target names."""
    steps = LORENZ_LENGTHS.of(recipe)
    constants = f"(σ = 10, ρ = 28, β = 8/3); largest Lyapunov exponent {LORENZ_EXPONENT}"
    note = f"Lorenz's attractor, {steps} steps of {LORENZ_STEP} {constants}"
    return coordinate_series(recipe, cached_lorenz(steps, step=LORENZ_STEP, seed=seed), note)


def rossler_series(recipe: DataRecipe, seed: int) -> SeriesSet:
    """x, y and z of Rössler's attractor, or those that data.target names."""
    steps = ROSSLER_LENGTHS.of(recipe)
    constants = f"(a = b = 0.2, c = 5.7); largest Lyapunov exponent {ROSSLER_EXPONENT}"
    note = f"Rössler's attractor, {steps} steps of {ROSSLER_STEP} {constants}"
    return coordinate_series(recipe, cached_rossler(steps, step=ROSSLER_STEP, seed=seed), note)


# The video. One spot of light stands at (x, y) of Rössler's system, a second one moves up the right edge with z. A
# frame determines the state, but no three linear combinations of its pixels do.

SIDE = 24
FRAMES = 6000
FILM_STEP = 0.2  # of time between two frames: about thirty frames per turn
LARGE_STD, SMALL_STD = 3.0, 2.0  # of the two spots, in pixels
MARGIN = 4
NOISE = 0.01  # standard deviation of the noise of each pixel
BOUNDS = np.asarray([[-10.0, 12.0], [-11.5, 8.5], [0.0, 24.0]])  # of x, y and z, a little wider than the attractor


def film(recipe: DataRecipe, seed: int) -> SeriesSet:
    """A video as one series whose channels are pixels, row by row."""
    refuse_keys(recipe, "source", "target", "length")
    return video_series("film", film_frames(seed), ("two spots of light at the state of Rössler's system",))


@lru_cache(maxsize=2)
def film_frames(seed: int) -> Numbers:
    """The frames (T, S, S) of the video, kept because they take seconds to draw."""
    return draw_frames(film_states(seed), np.random.default_rng(seed))


def film_states(seed: int) -> Numbers:
    """The states (T, 3) from which the frames are drawn, which no model receives."""
    return rossler(FRAMES, step=FILM_STEP, seed=seed)


def draw_frames(states: Numbers, generator: np.random.Generator) -> Numbers:
    """States (T, 3) -> frames (T, S, S), between 0 and 2 except for the noise."""
    low, high = BOUNDS.T
    across, down, height = ((states - low) / (high - low)).T[:, :, None] * (SIDE - 1 - 2 * MARGIN) + MARGIN  # (T, 1)
    edge = np.full_like(across, SIDE - 1 - MARGIN / 2)
    frames = spots(across, down, LARGE_STD) + spots(edge, SIDE - 1 - height, SMALL_STD)
    return np.asarray(frames + NOISE * generator.normal(size=frames.shape))


def spots(across: Numbers, down: Numbers, std: float) -> Numbers:
    """A Gaussian spot at each position (T, 1), at distance d: exp(−d² / 2 std²), (T, S, S)."""
    pixels = np.arange(SIDE)
    columns = np.exp(-np.square(pixels - across) / (2 * std**2))  # (T, S)
    rows = np.exp(-np.square(pixels - down) / (2 * std**2))
    return np.asarray(rows[:, :, None] * columns[:, None, :])


# The paths of boats. Each boat sails straight on, turns or waits for a while, and changes gradually. Its future
# position follows from its motion, and positions have errors, so two positions do not determine a course.

BOATS = 40
PATHS_LENGTHS = Lengths(usual=500, most=100_000, unit="steps")
TURN = 0.2  # radians per step
MOTIONS = ((1.0, 0.0), (1.0, TURN), (1.0, -TURN), (0.0, 0.0))  # speed and turning: straight on, left, right, waiting
PROBABILITIES = (0.3, 0.3, 0.3, 0.1)  # of the motions
SHORTEST, LONGEST = 12, 40  # steps that a motion lasts
INERTIA = 0.6  # the share of its speed and turning that a boat keeps from step to step
ERROR = 0.05  # standard deviation of each coordinate's error, where the speed is about 1
SHORE = 12.0  # farther out, boats turn back to the centre


def paths(recipe: DataRecipe, seed: int) -> SeriesSet:
    """One series for each boat, of the channels x and y."""
    refuse_keys(recipe, "source", "target")
    steps = PATHS_LENGTHS.of(recipe)
    series = tuple(
        Series(f"boat {number + 1:02d}", sail(np.random.default_rng([seed, number]), steps), np.zeros((steps, 0)))
        for number in range(BOATS)
    )
    note = f"{BOATS} boats of {steps} steps each, which sail straight on, turn or wait"
    return SeriesSet("paths", series, ("x", "y"), (), Frequency(1, ""), 1, (), (note,))


def sail(generator: np.random.Generator, steps: int) -> Numbers:
    """The measured positions (T, 2) of a boat."""
    x, y = generator.uniform(-SHORE / 2, SHORE / 2, size=2).tolist()
    heading, speed, turning = float(generator.uniform(-math.pi, math.pi)), 0.0, 0.0
    positions: list[tuple[float, float]] = []
    for _, (target_speed, target_turning) in zip(range(steps), motions(generator), strict=False):
        if math.hypot(x, y) > SHORE:  # turn to the centre, the shorter way round
            off = math.remainder(math.atan2(-y, -x) - heading, 2 * math.pi)
            target_speed, target_turning = 1.0, max(-TURN, min(TURN, off))
        speed = INERTIA * speed + (1 - INERTIA) * target_speed
        turning = INERTIA * turning + (1 - INERTIA) * target_turning
        heading += turning
        x, y = x + speed * math.cos(heading), y + speed * math.sin(heading)
        positions.append((x, y))
    return np.asarray(positions) + ERROR * generator.normal(size=(steps, 2))


def motions(generator: np.random.Generator) -> Iterator[tuple[float, float]]:
    """The speed and the turning that a boat aims at, step by step."""
    while True:
        motion = MOTIONS[generator.choice(4, p=PROBABILITIES)]
        for _ in range(generator.integers(SHORTEST, LONGEST)):
            yield motion
