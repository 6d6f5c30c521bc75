"""Empty values of a grid: told with their place, or filled along the time of their series.

Axes: R rows of a grid, S series, C channels.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.records import Place, counted
from atento.data.series.grid import Grid, fault, others
from atento.data.series.series import Numbers
from atento.spec import DataRecipe


class Cells(NamedTuple):
    """How a fault names a cell: by its row in the table and the number of its column there."""

    place: Callable[[int, int], Place]
    text: Callable[[int, int], str]
    columns: tuple[int, ...]  # of the channels; then of the covariates
    names: tuple[str, ...]


def ends(grid: Grid) -> NDArray[np.int64]:
    """(S,) where the values of each series end: rows after the last that holds any are times to come."""
    place = np.where((~np.isnan(grid.values)).any(1), np.arange(len(grid.row)) + 1, 0)
    return np.maximum(np.maximum.reduceat(place, grid.first[:-1]), grid.first[:-1])


def fill(grid: Grid, recipe: DataRecipe, cells: Cells, series: Sequence[str]) -> tuple[Grid, tuple[str, ...]]:
    """The grid with no empty value before the end of each series, or a fault at the first of them."""
    last = ends(grid)
    rows = np.arange(len(grid.row))
    code = np.searchsorted(grid.first, rows, side="right") - 1
    past = rows < last[code]
    both = np.concatenate([grid.values, grid.known], axis=1)
    width = grid.values.shape[1]
    holes = ~np.isfinite(both)
    holes[:, :width] &= past[:, None]
    if not holes.any():
        return grid, ()
    written = holes & (grid.row >= 0)[:, None]
    if recipe.gaps == "stop":
        row, column = divmod(int(np.argmax(written)), written.shape[1])
        source = int(grid.row[row])
        raise fault(
            cells.place(source, cells.columns[column]),
            f"the column {cells.names[column]!r} holds no number here.",
            found=repr(cells.text(source, cells.columns[column])) + others(int(written.sum())),
            fix="write a number there, or pass --set data.gaps=linear or previous to fill it",
            settings={"data.gaps": "linear"},
        )
    for number, (begin, end, stop) in enumerate(zip(grid.first[:-1], last, grid.first[1:], strict=True)):
        for at in np.flatnonzero(holes[begin:stop].any(0)):
            column = int(at)
            piece = both[begin : end if column < width else stop, column]
            if not np.isfinite(piece).any():
                source = int(grid.start[number])
                raise fault(
                    cells.place(source, cells.columns[column]),
                    f"the column {cells.names[column]!r} holds no number at all"
                    + (f" in the series {series[number]!r}." if series[number] else "."),
                    found=repr(cells.text(source, cells.columns[column])),
                    fix="leave the column or the series out",
                )
            piece[:] = FILLS[recipe.gaps](piece)
    count = int(written.sum())
    notes = (f"{counted(count, 'empty value')} filled (data.gaps={recipe.gaps})",) if count else ()
    return grid._replace(values=both[:, :width], known=both[:, width:]), notes


def linear(values: Numbers) -> Numbers:
    """Holes on the straight line between their neighbours; at an end the nearest value."""
    there = np.isfinite(values)
    return np.interp(np.arange(len(values)), np.flatnonzero(there), values[there])


def previous(values: Numbers) -> Numbers:
    """Holes as the value before them; at the beginning as the first there is."""
    there = np.isfinite(values)
    place = np.maximum.accumulate(np.where(there, np.arange(len(values)), -1))
    return values[np.where(place < 0, np.argmax(there), place)]


FILLS: dict[str, Callable[[Numbers], Numbers]] = {"linear": linear, "previous": previous}
