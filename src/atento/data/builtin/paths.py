"""Paths of boats seen from above: each sails straight on, turns, or waits, and takes a while to change its way.

Where a boat will be follows from how it has been moving, not from where it is: a boat that turns goes on turning, one
that slows down comes to rest. Its place is known with some error, so two places say little of its course.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from atento.data.builtin.parts import Lengths, refuse_keys
from atento.data.series.series import Series, SeriesSet, Step
from atento.spec import DataRecipe

# Axes: T time.

BOATS = 40
LENGTHS = Lengths(usual=500, most=100_000, unit="steps")
STRAIGHT, TURN = 0.0, 0.2  # radians a step
SHORTEST, LONGEST = 12, 40  # steps that a way of moving lasts
INERTIA = 0.6  # how much of its speed and turning a boat keeps from step to step
ERROR = 0.05  # of each coordinate, where a boat makes about one a step
SHORE = 12.0  # farther out, boats turn back to the middle

Numbers = NDArray[np.float64]


def paths(recipe: DataRecipe, seed: int) -> SeriesSet:
    """One series a boat, of the channels x and y."""
    refuse_keys(recipe, "source", "target")
    steps = LENGTHS.of(recipe)
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
