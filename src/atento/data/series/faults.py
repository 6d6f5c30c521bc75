"""Empty values of a grid: told with their place, or filled along the time of their series.

Axes: R rows of a grid, S series, C channels.

Cells of a table of series that cannot be used: where, why, and what would mend them.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.records import SKIP, Place, Refusal, counted, excerpt, in_words, stop_or_skip
from atento.data.series.columns import Cast
from atento.data.series.covariates import Covariates
from atento.data.series.grid import Grid, fault, others
from atento.data.series.numbers import Sheet, advise
from atento.data.series.series import Numbers
from atento.data.series.time_columns import Clock
from atento.data.tables.table import Table
from atento.errors import InputError
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


Whole = NDArray[np.int64]
TIME_FIX = "write it as 2016-07-31 or 2016-07-31 14:00"


def judge(
    sheet: Sheet, cast: Cast, clock: Clock | None, known: Covariates, recipe: DataRecipe
) -> tuple[Whole, tuple[Refusal, ...]]:
    """The rows whose cells can all be read, and a refusal for each of the others; the first one stops."""
    wrong: dict[int, int] = {}  # row -> its first wrong column

    def note(rows: NDArray[np.bool_], column: int) -> None:
        for row in np.flatnonzero(rows):
            wrong.setdefault(int(row), column)

    if clock is not None:
        note(~clock.good, cast.time[0])
    for at in cast.names:
        note(np.array([not cell.strip() for cell in sheet.columns[at]]), at)
    for at in (*cast.channels, *known.numeric):
        note(sheet.numbers(at).wrong, at)
    fills = recipe.gaps == "stop"  # a row that is left out leaves a gap, which would stop next
    leaving_out = f"{SKIP} --set data.gaps=linear" if fills else SKIP
    stopping = recipe.bad_rows == "stop" and len(wrong) > 1
    listed = sorted(wrong)[:1] if stopping else sorted(wrong)
    refused = [*sheet.table.refused, *(refusal(sheet, row, wrong[row], cast) for row in listed)]
    if refused and stopping:
        first = min(refused, key=lambda each: (each.line, each.column))
        raise first.error(others=len(sheet.table.refused) + len(wrong) - 1, leaving_out=leaving_out)
    ordered = stop_or_skip(refused, recipe.bad_rows, leaving_out=leaving_out)
    usable = np.ones(len(sheet), bool)
    usable[list(wrong)] = False
    if not usable.any():
        raise InputError(
            f"{sheet.table.file}: none of the {len(sheet)} rows can be used.",
            found=f"first {ordered[0]}",
            fix=ordered[0].fix,
        )
    return np.flatnonzero(usable), ordered


def refusal(sheet: Sheet, row: int, column: int, cast: Cast) -> Refusal:
    """What is wrong in a cell, at its place."""
    cell, name = sheet.columns[column][row], sheet.name(column)
    if column in cast.time:
        problem = f"the column {name!r} holds no time that can be read." if cell.strip() else "there is no time here."
        return Refusal(*sheet.table.place(row, column), problem, found=repr(written(sheet, cast, row)), fix=TIME_FIX)
    if not cell.strip():
        problem, fix = f"the column {name!r} tells series apart and is empty here.", "write the name of the series"
    else:
        problem, fix = f"the column {name!r} holds no number here.", advise(cell)
    return Refusal(*sheet.table.place(row, column), problem, found=excerpt(cell), fix=fix)


def written(sheet: Sheet, cast: Cast, row: int) -> str:
    """The time of a row as it is written, its number where none is."""
    return " ".join(sheet.columns[at][row].strip() for at in cast.time) if cast.time else f"row {row + 1}"


def refuse_unclear(sheet: Sheet, cast: Cast, clock: Clock) -> None:
    """Times of several zones, or dates that could begin with the day or with the month."""
    if clock.mixed >= 0:
        first = int(np.argmax(clock.good))
        raise fault(
            sheet.table.place(clock.mixed, cast.time[0]),
            "this time is told in another zone than those above it.",
            found=f"{written(sheet, cast, clock.mixed)!r} after {written(sheet, cast, first)!r}",
            fix="write all in one zone, or pass --set data.zone=UTC to bring them together",
            settings={"data.zone": "UTC"},
        )
    if clock.unclear:
        row = int(np.argmax(clock.good))
        text = written(sheet, cast, row)
        raise fault(
            sheet.table.place(row, cast.time[0]),
            "nothing in this column tells whether its dates begin with the day or with the month.",
            found=f"{text!r}; both readings are as even",
            fix="write dates as year-month-day, e.g. 2016-07-31",
        )


def no_channels(table: Table) -> InputError:
    """The refusal of a table with nothing to forecast."""
    return InputError(
        f"{table.file}:1: no column holds numbers to forecast.",
        found=f"the columns {in_words(table.columns)}, e.g. {excerpt(' | '.join(table.rows[0]))}",
        fix=nearly_numbers(table) or "name it: --set data.target=...",
    )


def nearly_numbers(table: Table) -> str:
    """How to mend the first column whose cells hold a number and more; empty: there is none."""
    for at, cell in enumerate(table.rows[0]):
        advice = advise(cell)
        if advice != advise("") and not Sheet(table).is_dates(at):
            return f"in {table.columns[at]!r}, {advice}"
    return ""
