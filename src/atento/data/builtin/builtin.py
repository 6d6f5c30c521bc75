"""What a built-in data set is: its parts, its lengths, and how distinct pairs are drawn."""

import random
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from atento.data.series.series import SeriesSet
from atento.errors import InputError
from atento.spec import DataRecipe

Pair = tuple[str, str]  # (source, target)
Pairs = tuple[Pair, ...]
SHOWN = 1000  # rows of a series that are shown as pairs


class BuiltinParts(NamedTuple):
    """The three parts of a built-in set, and notes about it."""

    train: Pairs
    valid: Pairs
    test: Pairs
    notes: tuple[str, ...] = ()

    def counts(self, noun: str = "") -> str:
        """The sizes of the parts in words: `8000 texts to train, 200 to validate, 400 to test`."""
        train = f"{len(self.train)} {noun} to train" if noun else f"{len(self.train)} to train"
        return f"{train}, {len(self.valid)} to validate, {len(self.test)} to test"

    def with_note(self, note: str) -> "BuiltinParts":
        """The same parts with a note on them."""
        return self._replace(notes=(note,))


class Lengths(NamedTuple):
    """The default and the maximum length of the sources of a set."""

    usual: int
    most: int
    unit: str

    def of(self, recipe: DataRecipe) -> int:
        """The length that data.length asks for, or the default."""
        asked = recipe.length or self.usual
        if asked > self.most:
            raise InputError(
                f"data.length: {recipe.train} has at most {self.most} {self.unit}.",
                found=f"data.length={asked}",
                fix=f"--set data.length={self.most}, or fewer",
            )
        return asked


class Builtin(NamedTuple):
    """A built-in set. Where it names no models, the defaults of its task are trained on it."""

    task: str
    summary: str
    make: Callable[[DataRecipe, int], BuiltinParts]  # recipe, seed -> parts
    model: str = ""  # what `train` takes
    models: tuple[str, ...] = ()  # what `compare` takes
    passes: tuple[str, float] = ("", 0.0)  # a metric, and what its recipe reaches in about a minute on two cores
    series: Callable[[DataRecipe, int], SeriesSet] | None = None  # of a set of series, of which `make` gives some rows
    size: Callable[[str, DataRecipe], int] | None = None  # of a source, by which the report shows quality; None: length
    unit: str = ""  # of that size
    settings: str = ""  # the keys of a recipe that change it


def series_builtin(
    task: str,
    summary: str,
    series: Callable[[DataRecipe, int], SeriesSet],
    *,
    model: str = "",
    models: tuple[str, ...] = (),
    passes: tuple[str, float] = ("", 0.0),
    settings: str = "",
) -> Builtin:
    """A built-in set of series, which its task splits by time."""
    rows = partial(shown_rows, series)
    return Builtin(task, summary, rows, model, models, passes, series, settings=settings)


def shown_rows(series: Callable[[DataRecipe, int], SeriesSet], recipe: DataRecipe, seed: int) -> BuiltinParts:
    """The first rows of the first series as pairs of time and values."""
    made = series(recipe, seed)
    first = made.series[0]
    rows = tuple(
        (
            first.timestamp(row),
            "  ".join(f"{name} {value:.4g}" for name, value in zip(made.channels, values, strict=True)),
        )
        for row, values in enumerate(first.values[:SHOWN])
    )
    return BuiltinParts(rows, valid=(), test=(), notes=made.notes)


def refuse_keys(recipe: DataRecipe, *keys: str) -> None:
    """Refuse keys of the recipe that have no meaning for this set."""
    plain = DataRecipe()
    for key in keys:
        if getattr(recipe, key) != getattr(plain, key):
            raise InputError(
                f"data.{key} has no meaning for the built-in {recipe.train}.",
                found=f"data.{key}={getattr(recipe, key)}",
                fix=f"leave data.{key} out",
            )


def draw_parts(
    draw: Callable[[], Pair], sizes: tuple[int, int, int], *, train: Callable[[], Pair] | None = None
) -> BuiltinParts:
    """Three parts, no source twice; `train` draws the pairs of training where they differ from the others."""
    known: set[str] = set()
    test, valid = distinct(draw, sizes[2], known), distinct(draw, sizes[1], known)
    return BuiltinParts(distinct(train or draw, sizes[0], known), valid, test)


def draw_lengths(
    make: Callable[[random.Random, int], Pair], most: int, sizes: tuple[int, int, int], generator: random.Random
) -> BuiltinParts:
    """Three parts of pairs of 1 to `most` steps: all lengths equally likely; in training log-uniform, where 1 is as
    likely as 2 or 3, or as 4 to 7.
    """
    return draw_parts(
        lambda: make(generator, generator.randint(1, most)),
        sizes,
        train=lambda: make(generator, min(most, int((most + 1) ** generator.random()))),
    )


def distinct(draw: Callable[[], Pair], count: int, known: set[str]) -> Pairs:
    """`count` pairs whose sources are not in `known`, fewer where there are no more; their sources are added to it."""
    pairs: list[Pair] = []
    misses = 0
    while len(pairs) < count and misses < 20 * count:
        source, target = draw()
        if source in known:
            misses += 1
            continue
        known.add(source)
        pairs.append((source, target))
    return tuple(pairs)
