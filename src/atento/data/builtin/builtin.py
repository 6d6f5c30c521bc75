"""What a generated set is made of, and what may be asked of it."""

import random
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from atento.data.series.series import SeriesSet
from atento.errors import InputError
from atento.spec import DataRecipe

Pairs = tuple[tuple[str, str], ...]  # (source, target)
SHOWN = 1000  # rows of a series that can be looked at as pairs


class BuiltinParts(NamedTuple):
    """The three parts of a generated set, and what to say of it."""

    train: Pairs
    valid: Pairs
    test: Pairs
    notes: tuple[str, ...]


class Lengths(NamedTuple):
    """How long the sources of a set may be made, and how long they are when nobody says."""

    usual: int
    most: int
    unit: str

    def of(self, recipe: DataRecipe) -> int:
        """The length asked for."""
        asked = recipe.length or self.usual
        if asked > self.most:
            raise InputError(
                f"data.length: {recipe.train} has at most {self.most} {self.unit}.",
                found=f"data.length={asked}",
                fix=f"--set data.length={self.most}, or fewer",
            )
        return asked


class Builtin(NamedTuple):
    """A generated set: recipe, seed -> parts. Where it names no models, the task's own are trained on it."""

    task: str
    summary: str
    make: Callable[[DataRecipe, int], BuiltinParts]
    model: str = ""  # what `train` takes
    models: tuple[str, ...] = ()  # what `compare` takes
    passes: tuple[str, float] = ("", 0.0)  # a metric, and what its recipe reaches in about a minute on two cores
    series: Callable[[DataRecipe, int], SeriesSet] | None = None  # a set of series: what `make` only shows rows of


def series_builtin(
    task: str,
    summary: str,
    series: Callable[[DataRecipe, int], SeriesSet],
    *,
    model: str = "",
    models: tuple[str, ...] = (),
    passes: tuple[str, float] = ("", 0.0),
) -> Builtin:
    """A generated set of series, which its task splits by time."""
    return Builtin(task, summary, partial(shown_rows, series), model, models, passes, series)


def shown_rows(series: Callable[[DataRecipe, int], SeriesSet], recipe: DataRecipe, seed: int) -> BuiltinParts:
    """The first rows of the first series as pairs: when, and what."""
    made = series(recipe, seed)
    first = made.series[0]
    rows = tuple(
        (first.when(row), "  ".join(f"{name} {value:.4g}" for name, value in zip(made.channels, values, strict=True)))
        for row, values in enumerate(first.values[:SHOWN])
    )
    return BuiltinParts(rows, (), (), made.notes)


def any_length(generator: random.Random, most: int) -> int:
    """1 to `most`, all equally often: for validation and test."""
    return generator.randint(1, most)


def short_first(generator: random.Random, most: int) -> int:
    """1 to `most`, 1 as often as 2 and 3 together, as 4 to 7: whoever learns begins with what is short."""
    return min(most, int((most + 1) ** generator.random()))


def refuse_keys(recipe: DataRecipe, *keys: str) -> None:
    """A set that has nothing to choose there says so."""
    plain = DataRecipe()
    for key in keys:
        if getattr(recipe, key) != getattr(plain, key):
            raise InputError(
                f"data.{key} says nothing about the built-in {recipe.train}.",
                found=f"data.{key}={getattr(recipe, key)}",
                fix=f"leave data.{key} out",
            )


def three_parts(
    make: Callable[[Callable[[], int]], tuple[str, str]],
    *,
    most: int,
    sizes: tuple[int, int, int],
    generator: random.Random,
) -> tuple[Pairs, Pairs, Pairs]:
    """Training, validation and test pairs of 1 to `most` steps, no source twice; `make` asks how long each is."""
    known: set[str] = set()
    ways = (short_first, any_length, any_length)
    test, valid, train = (
        distinct(partial(make, partial(way, generator, most)), size, known)
        for way, size in zip(reversed(ways), reversed(sizes), strict=True)
    )
    return train, valid, test


def distinct(draw: Callable[[], tuple[str, str]], count: int, known: set[str]) -> Pairs:
    """So many pairs whose sources are new, fewer where a set has no more; the sources join those known."""
    pairs: list[tuple[str, str]] = []
    misses = 0
    while len(pairs) < count and misses < 20 * count:
        source, target = draw()
        if source in known:
            misses += 1
            continue
        known.add(source)
        pairs.append((source, target))
    return tuple(pairs)
