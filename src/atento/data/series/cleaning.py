"""Cells of a table of series that cannot be used, and values that are missing: refused at their place, or filled."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from atento.data.numbers.reading import suggest_fix
from atento.data.records import SKIP_BAD_ROWS, Place, Refusal, counted, excerpt, in_words, may_skip, stop_or_skip
from atento.data.series.columns import SeriesColumns
from atento.data.series.covariates import Covariates
from atento.data.series.grid import Grid, and_more, error_at
from atento.data.series.series import Integers, Mask, Numbers
from atento.data.series.time_columns import Timestamps
from atento.data.series.typed_table import TypedTable
from atento.data.tables.table import Table
from atento.errors import InputError
from atento.spec import DataRecipe

# Axes: R rows of a grid, S series, C channels.

TIME_FIX = "write it as 2016-07-31 or 2016-07-31 14:00"


def usable_rows(
    typed: TypedTable, columns: SeriesColumns, timestamps: Timestamps | None, covariates: Covariates, recipe: DataRecipe
) -> tuple[Integers, tuple[Refusal, ...]]:
    """The rows whose cells can all be read, and a refusal for each of the others; the first one stops."""
    wrong: dict[int, int] = {}  # row -> its first wrong column

    def add(rows: Mask, column: int) -> None:
        for row in np.flatnonzero(rows):
            wrong.setdefault(int(row), column)

    if timestamps is not None:
        add(~timestamps.valid, columns.time[0])
    for at in columns.identifiers:
        add(np.array([not cell.strip() for cell in typed.columns[at]]), at)
    for at in (*columns.channels, *covariates.numeric):
        add(typed.numbers(at).invalid, at)
    fills = recipe.gaps == "stop"  # a row that is left out leaves a gap, which would stop next
    skip_option = f"{SKIP_BAD_ROWS} --set data.gaps=linear" if fills else SKIP_BAD_ROWS
    all_wrong = len(typed.table.refused) + len(wrong)
    few = may_skip(all_wrong, len(typed) - len(wrong), recipe.bad_rows)
    if few and fills and recipe.bad_rows < 1:  # where gaps are filled, the few rows need no further key
        skip_option = "--set data.gaps=linear"
    bad_rows = 0.0 if fills and recipe.bad_rows < 1 else recipe.bad_rows
    stopping = len(wrong) > 1 and not may_skip(all_wrong, len(typed) - len(wrong), bad_rows)
    listed = sorted(wrong)[:1] if stopping else sorted(wrong)
    refused = [*typed.table.refused, *(cell_refusal(typed, row, wrong[row], columns) for row in listed)]
    if refused and stopping:
        first = min(refused, key=lambda each: (each.line, each.column))
        raise first.error(others=all_wrong - 1, skip_option=skip_option)
    ordered = stop_or_skip(refused, bad_rows, used=len(typed) - len(wrong), skip_option=skip_option)
    usable = np.ones(len(typed), bool)
    usable[list(wrong)] = False
    if not usable.any():
        raise InputError(
            f"{typed.table.file}: none of the {len(typed)} rows can be used.",
            found=f"first {ordered[0]}",
            fix=ordered[0].fix,
        )
    return np.flatnonzero(usable), ordered


def cell_refusal(typed: TypedTable, row: int, column: int, columns: SeriesColumns) -> Refusal:
    """The refusal of a cell that cannot be read, at its place."""
    cell, name = typed.columns[column][row], typed.name(column)
    if column in columns.time:
        problem = f"the column {name!r} holds no time that can be read." if cell.strip() else "there is no time here."
        found, fix = repr(time_text(typed, columns, row)), TIME_FIX
    elif not cell.strip():
        problem, found = f"the column {name!r} tells series apart and is empty here.", excerpt(cell)
        fix = "write the name of the series"
    else:
        problem, found, fix = f"the column {name!r} holds no number here.", excerpt(cell), suggest_fix(cell)
    return Refusal(*typed.table.place(row, column), problem, found=found, fix=fix)


def time_text(typed: TypedTable, columns: SeriesColumns, row: int) -> str:
    """The timestamp of a row as written; the row's number where there is none."""
    return " ".join(typed.columns[at][row].strip() for at in columns.time) if columns.time else f"row {row + 1}"


def refuse_ambiguous_times(typed: TypedTable, columns: SeriesColumns, timestamps: Timestamps) -> None:
    """Refuse times of several zones, and dates that may begin with the day or with the month."""
    if timestamps.other_zone_row >= 0:
        first, other = int(np.argmax(timestamps.valid)), timestamps.other_zone_row
        raise error_at(
            typed.table.place(other, columns.time[0]),
            "this time is in another zone than those above it.",
            found=f"{time_text(typed, columns, other)!r} after {time_text(typed, columns, first)!r}",
            fix="write all in one zone, or pass --set data.timezone=UTC to convert them",
            settings={"data.timezone": "UTC"},
        )
    if timestamps.ambiguous:
        row = int(np.argmax(timestamps.valid))
        raise error_at(
            typed.table.place(row, columns.time[0]),
            "nothing in this column shows whether its dates begin with the day or with the month.",
            found=f"{time_text(typed, columns, row)!r}; both give equally regular time steps",
            fix="write dates as year-month-day, e.g. 2016-07-31",
        )


def no_channels(table: Table) -> InputError:
    """The refusal of a table without a column of numbers."""
    return InputError(
        f"{table.file}:1: no column holds numbers to forecast.",
        found=f"the columns {in_words(table.columns)}, e.g. {excerpt(' | '.join(table.rows[0]))}",
        fix=nearly_numbers(table) or "name it: --set data.target=...",
    )


def nearly_numbers(table: Table) -> str:
    """How to mend the first column whose cells hold a number and other text; empty: there is none."""
    for at, cell in enumerate(table.rows[0]):
        fix = suggest_fix(cell)
        if fix != suggest_fix("") and not TypedTable(table).is_dates(at):
            return f"in {table.columns[at]!r}, {fix}"
    return ""


class CellLocator(NamedTuple):
    """How a message refers to a value of the grid: by its row in the table and its column there."""

    place: Callable[[int, int], Place]
    text: Callable[[int, int], str]
    columns: tuple[int, ...]  # of the channels, then of the covariates
    names: tuple[str, ...]


def fill_gaps(
    grid: Grid, recipe: DataRecipe, cells: CellLocator, series: Sequence[str]
) -> tuple[Grid, tuple[str, ...]]:
    """The grid without missing values before the end of each series; they are filled, or the first is refused."""
    last = series_ends(grid)
    rows = np.arange(len(grid.row))
    past = rows < last[np.searchsorted(grid.offsets, rows, side="right") - 1]
    both = np.concatenate([grid.values, grid.covariates], axis=1)
    width = grid.values.shape[1]
    missing = ~np.isfinite(both)
    missing[:, :width] &= past[:, None]
    if not missing.any():
        return grid, ()
    in_file = missing & (grid.row >= 0)[:, None]
    if recipe.gaps == "stop":
        row, column = divmod(int(np.argmax(in_file)), in_file.shape[1])
        source = int(grid.row[row])
        written = cells.text(source, cells.columns[column]).strip()
        raise error_at(
            cells.place(source, cells.columns[column]),
            f"the column {cells.names[column]!r} holds no number here{f': {written!r}' if written else ''}.",
            found=repr(cells.text(source, cells.columns[column])) + and_more(int(in_file.sum())),
            fix="write a number there, or pass --set data.gaps=linear or previous to fill it",
            settings={"data.gaps": "linear"},
        )
    for number, (begin, end, stop) in enumerate(zip(grid.offsets[:-1], last, grid.offsets[1:], strict=True)):
        for at in np.flatnonzero(missing[begin:stop].any(0)):
            column = int(at)
            values = both[begin : end if column < width else stop, column]
            if not np.isfinite(values).any():
                source = int(grid.first_rows[number])
                raise error_at(
                    cells.place(source, cells.columns[column]),
                    f"the column {cells.names[column]!r} holds no number at all"
                    + (f" in the series {series[number]!r}." if series[number] else "."),
                    found=repr(cells.text(source, cells.columns[column])),
                    fix="leave the column or the series out",
                )
            values[:] = FILLS[recipe.gaps](values)
    count = int(in_file.sum())
    notes = (f"{counted(count, 'empty value')} filled (data.gaps={recipe.gaps})",) if count else ()
    return grid._replace(values=both[:, :width], covariates=both[:, width:]), notes


def series_ends(grid: Grid) -> Integers:
    """(S,) the end of the values of each series; rows after the last that holds any are future rows."""
    end = np.where((~np.isnan(grid.values)).any(1), np.arange(len(grid.row)) + 1, 0)
    return np.maximum(np.maximum.reduceat(end, grid.offsets[:-1]), grid.offsets[:-1])


def interpolate(values: Numbers) -> Numbers:
    """NaN replaced by linear interpolation; at an end by the nearest value."""
    there = np.isfinite(values)
    return np.interp(np.arange(len(values)), np.flatnonzero(there), values[there])


def forward_fill(values: Numbers) -> Numbers:
    """NaN replaced by the value before; at the beginning by the first value."""
    there = np.isfinite(values)
    last = np.maximum.accumulate(np.where(there, np.arange(len(values)), -1))
    return values[np.where(last < 0, np.argmax(there), last)]


FILLS: dict[str, Callable[[Numbers], Numbers]] = {"linear": interpolate, "previous": forward_fill}
