"""Arrays that numpy saved, (T,), (T, C) or (N, T, C), as series: rows are counted, channels are numbered.

Axes: N series, T time, C channels.
"""

from pathlib import Path

import numpy as np

from atento.data.files import inner_name, read_bytes
from atento.data.records import Place
from atento.data.series.array_rows import load, series_in
from atento.data.series.assembling import Layout, assemble
from atento.data.series.filling import Cells, fill
from atento.data.series.grid import Grid
from atento.data.series.series import SeriesSet, Step
from atento.errors import InputError, nearest
from atento.spec import DataRecipe

ENDINGS = (".npy", ".npz")


def is_array(file: str) -> bool:
    """Whether a file is one that numpy saved, by its name."""
    return Path(inner_name(file)).suffix.lower() in ENDINGS


def read_array(recipe: DataRecipe, file: str) -> SeriesSet:
    """The series of a file of arrays."""
    name = Path(file).name
    found, notes = series_in(load(read_bytes(file), name), name)
    width = next(iter(found.values())).shape[1]
    names = tuple(str(number + 1) for number in range(width))
    known = columns_asked(recipe, "known", names, name)
    channels = columns_asked(recipe, "target", names, name) or tuple(at for at in range(width) if at not in known)
    values = np.concatenate(list(found.values()))
    first = np.cumsum([0, *map(len, found.values())])
    grid = Grid(first, first[:-1], np.arange(len(values)), values[:, channels], values[:, known])
    cells = Cells(
        lambda row, at: Place(name, row + 1, at + 1), lambda row, at: str(values[row, at]), channels + known, names
    )
    cells = cells._replace(names=tuple(names[at] for at in channels + known))
    grid, filled = fill(grid, recipe, cells, tuple(found))
    layout = Layout(
        file=name,
        clock=None,
        step=Step(1, ""),
        names=tuple(found),
        channels=tuple(names[at] for at in channels),
        covariates=tuple(names[at] for at in known),
        lines=tuple(int(row) + 1 for row in first[:-1]),
    )
    keys = (("target", ",".join(layout.channels)), ("known", ",".join(layout.covariates)))
    return assemble(grid, layout, notes=(*notes, *filled), keys=tuple(key for key in keys if key[1]))


def columns_asked(recipe: DataRecipe, key: str, names: tuple[str, ...], file: str) -> tuple[int, ...]:
    """The channels that a key of the recipe names by number, from 1."""
    asked = [name.strip() for name in getattr(recipe, key).split(",") if name.strip()]
    wrong = next((name for name in asked if name not in names), None)
    if wrong is not None:
        raise InputError(
            f"{file}: there is no channel {wrong!r}.",
            found=f"channels 1 to {len(names)}",
            fix=f"pass --set data.{key}={nearest(wrong, names)}",
        )
    return tuple(names.index(name) for name in asked)
