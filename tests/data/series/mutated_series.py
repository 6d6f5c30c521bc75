"""Valid files of series, seeded damage to them, and faults planted at a known line and column.

Run by hand over many: python tests/data/series/mutated_series.py --count 20000
"""

import random
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tests.data.mutated_files import DAMAGE, Choice, limited, require, run_many
from tests.data.series.series_files import SHAPES, Shape

from atento.data import SeriesSet
from atento.data.evidence.evidence import gather
from atento.data.series import read_series
from atento.errors import AtentoError
from atento.spec import DataRecipe
from atento.tasks.recognising.series import forecast_series

CELLS = (
    "",
    "NA",
    "nan",
    "inf",
    "-1e999",
    "12,5",
    "1_0",
    "x",
    "0",
    "-5",
    "1e300",
    "2021-02-30",
    "99/99/9999",
    "24:00",
    "9" * 30,
)
WAYS = {
    "bad_rows": ("stop", "skip"),
    "order": ("stop", "sort"),
    "duplicates": ("stop", "first", "last", "mean"),
    "gaps": ("stop", "linear", "previous"),
    "timezone": ("", "UTC"),
    "frequency": ("", "", "", "1h", "1d", "1mo", "7min"),
    "header": ("auto", "auto", "yes", "no"),
    "future_covariates": ("", "", "w", "promo"),
}


def data_of(shape: Shape) -> bytes:
    return shape.text.encode() if isinstance(shape.text, str) else shape.text


def change_cells(data: bytes, chance: random.Random) -> bytes:
    """Some cells hold something else."""
    lines = data.decode("utf-8", "replace").split("\n")
    for _ in range(chance.choice([1, 1, 2, 9])):
        at = chance.randrange(len(lines))
        cells = lines[at].split(",")
        cells[chance.randrange(len(cells))] = chance.choice(CELLS)
        lines[at] = ",".join(cells)
    return "\n".join(lines).encode()


def move_lines(data: bytes, chance: random.Random) -> bytes:
    """Lines come twice, or elsewhere, or not at all."""
    lines = data.split(b"\n")
    for _ in range(chance.choice([1, 2, 5])):
        at, to = chance.randrange(len(lines)), chance.randrange(len(lines))
        line = lines[at] if chance.random() < 0.4 or len(lines) < 2 else lines.pop(at)
        if chance.random() < 0.7:
            lines.insert(to, line)
    return b"\n".join(lines)


def mutate(shape: Shape, seed: str) -> bytes:
    """A damaged file of this shape; the seed says which."""
    chance, data = random.Random(seed), data_of(shape)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        change = chance.choice([change_cells, change_cells, move_lines, chance.choice(DAMAGE)])
        data = change(data or b"x", chance)
    return data


class Planted(NamedTuple):
    """A table with one fault."""

    text: str
    place: str  # line:column
    key: str  # that mends it


PLANTED = {  # tables and their columns of times; rows of one series are so many lines apart
    "wide.csv": ("date", 1),
    "units.csv": ("Día", 1),
    "frame.csv": ("ds", 1),
    "turns.csv": ("day", 2),
    "runs.csv": ("step", 1),
}
WRONG = {
    "no time": ("time", "", "bad_rows"),
    "not a time": ("time", "soon", "bad_rows"),
    "not a number": ("value", "much", "bad_rows"),
    "units": ("value", "3 kW", "bad_rows"),
    "empty": ("value", "", "gaps"),
    "not finite": ("value", "inf", "gaps"),
}


def plant(shape: Shape, fault: str, chance: random.Random) -> Planted:
    """One fault in a table, at a place drawn by chance that is not at an end of a series."""
    lines = data_of(shape).decode().splitlines()
    name, apart = PLANTED[shape.name]
    at = chance.choice([*range(12, 55), *range(75, 120)])
    header = lines[0].split(",")
    time, value = header.index(name), header.index(shape.channels[0])
    column, key = time, "duplicates"
    if fault == "twin":
        lines.insert(at + 1, lines[at])
        at += 1
    elif fault == "gap":
        del lines[at]
        at, key = at + apart - 1, "gaps"
    else:
        where, cell, key = WRONG[fault]
        column = time if where == "time" else value
        cells = lines[at].split(",")
        lines[at] = ",".join([*cells[:column], cell, *cells[column + 1 :]])
    begins = sum(len(cell) + 1 for cell in lines[at].split(",")[:column]) + 1
    return Planted("\n".join(lines) + "\n", f"{at + 1}:{begins}", key)


def run_planted(shape: Shape, fault: str, seed: str, folder: Path) -> None:
    """Write a table with one fault; its place and the key that mends it must be named."""
    planted = plant(shape, fault, random.Random(seed))
    path = folder / shape.name
    path.write_text(planted.text, encoding="utf-8")
    try:
        read_series(DataRecipe(bad_rows="stop"), str(path))
    except AtentoError as error:
        require(error.problem.startswith(f"{shape.name}:{planted.place}: "), f"{planted.place} expected, said: {error}")
        require(f"data.{planted.key}" in error.fix, f"data.{planted.key} expected, said: {error}")
    else:
        raise AssertionError(f"{shape.name}:{planted.place}: the fault was not seen")


def require_whole(found: SeriesSet) -> None:
    """What every set of series must be."""
    require(bool(found.series and found.channels and found.notes), "nothing was read, and nothing was said")
    require(found.season_length >= 1, f"a season of {found.season_length}")
    require(any(np.ptp(one.values, axis=0).any() for one in found.series if len(one)), "nothing varies")
    for one in found.series:
        require(one.values.shape == (len(one), len(found.channels)), f"values of {one.values.shape}")
        require(bool(np.isfinite(one.values).all()), "a value is no number")
        require(bool(np.isfinite(one.future_covariates).all()), "a covariate is no number")
        require(
            one.future_covariates.shape[0] >= len(one) and one.future_covariates.shape[1] == len(found.covariates),
            f"{one.future_covariates.shape}",
        )
        if one.times is not None:
            require(len(one.times) == len(one.future_covariates), "as many times as rows")
            require(bool((np.diff(one.times.astype(np.int64)) > 0).all()), "times that do not rise")
    require(all(one.line > 0 and one.column > 0 and one.fix for one in found.refused), "a refusal has no place")


def run_mutation(shape: Shape, seed: str, folder: Path) -> None:
    """Write one damaged file and read it in a way drawn by chance: only our own errors may come."""
    chance = random.Random(seed)
    path = folder / shape.name
    path.write_bytes(mutate(shape, seed))
    recipe = DataRecipe(**{key: chance.choice(ways) for key, ways in WAYS.items()})

    def read() -> None:
        try:
            require_whole(read_series(recipe, str(path)))
        except AtentoError as error:
            require(bool(error.problem and error.found and error.fix), f"an error says too little: {error}")
        if chance.random() < 0.3:
            with suppress(AtentoError):
                forecast_series(gather(str(path)))

    limited(read)


def one_of_all(number: int) -> Choice:
    """All shapes in turn."""
    shape = SHAPES[number % len(SHAPES)]
    return shape.name, partial(run_mutation, shape)


if __name__ == "__main__":
    sys.exit(run_many(one_of_all))
