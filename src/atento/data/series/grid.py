"""Rows of all series laid on grids of equal time steps: time index, order, duplicates and gaps.

What is irregular is refused at its place in the file, or mended as the recipe says, with a note.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from atento.data.records import Place, Refusal, counted
from atento.data.series.frequency import (
    infer_frequency,
    infer_spacing,
    near_frequency,
    parse_frequency,
    round_down,
    time_steps,
)
from atento.data.series.series import Frequency, Integers, Mask, Numbers
from atento.data.series.time_columns import Timestamps
from atento.data.tables.table import Table
from atento.errors import NO_SETTINGS, InputError
from atento.spec import DataRecipe

# Axes: M usable rows, R rows of the grid, S series, C channels, K covariates.

MOST_STEPS = 2.0**52  # that can be counted exactly
TOLERANCE = 0.25  # of a step, of numbers that count
MOST, LEAST = 20, 10_000  # rows of a grid: at most so many for each row of the file, and so many more
FREQUENCY_FIX = "mend the timestamp, or set the frequency: --set data.frequency=..."


class SeriesRows(NamedTuple):
    """Rows in the order of the file, or sorted by series and time."""

    row: Integers  # (M,) the row of the table
    series: Integers  # (M,) the number of its series
    step: Integers  # (M,) the number of its time step in the series: the time index
    values: Numbers  # (M, C) NaN: empty
    covariates: Numbers  # (M, K)
    on_grid: Mask  # (M,) whether its timestamp is at a whole number of steps

    def take(self, which: Integers | Mask) -> "SeriesRows":
        """Some of the rows, or all in another order."""
        row, series, step, values, covariates, on_grid = self
        return SeriesRows(row[which], series[which], step[which], values[which], covariates[which], on_grid[which])

    @property
    def follows(self) -> Mask:
        """(M - 1,) whether a row is of the same series as the row before it."""
        return np.diff(self.series) == 0


class RowLocator(NamedTuple):
    """How a message refers to a row of the table."""

    place: Callable[[int], Place]  # row -> the place of its timestamp
    time_text: Callable[[int], str]  # row -> its timestamp as written
    repeated_hour: Callable[[int], bool]  # row -> whether clocks may be set back at that time


class Grid(NamedTuple):
    """All series one after the other, a row at every time step."""

    offsets: Integers  # (S + 1,) where each series begins, and the end
    first_rows: Integers  # (S,) the row of the table that each begins with
    row: Integers  # (R,) the row of the table; -1: missing
    values: Numbers  # (R, C) NaN where a row is missing or empty
    covariates: Numbers  # (R, K)


def time_index(
    rows: SeriesRows, timestamps: Timestamps | None, table: Table, recipe: DataRecipe
) -> tuple[SeriesRows, Frequency]:
    """The rows with their time index, and the frequency."""
    if timestamps is None:
        return rows._replace(step=index_by_position(rows, table)), Frequency(1, "")
    times = timestamps.values[rows.row]
    first = np.full(int(rows.series.max()) + 1, times.max())
    np.minimum.at(first, rows.series, times)
    order = np.lexsort((times, rows.series))
    if not timestamps.calendar:
        return index_by_number(rows, times.astype(np.float64), first.astype(np.float64), order, table)
    times = times.astype(np.int64)
    asked = parse_frequency(recipe.frequency) if recipe.frequency else None
    frequency = asked or infer_frequency(times[order], rows.series[order])
    if frequency is None or not frequency.unit:
        raise irregular_times(table, times[order], rows.series[order])
    index, on_grid = time_steps(times, first.astype(np.int64)[rows.series], frequency)
    return rows._replace(step=index, on_grid=on_grid), frequency


def resample(
    rows: SeriesRows, timestamps: Timestamps | None, recipe: DataRecipe
) -> tuple[Timestamps | None, DataRecipe]:
    """Uneven times rounded down to the frequency that the user asks for, and the recipe that takes the mean of rows of
    one step and the value before where there is none; anything else as it is.
    """
    if timestamps is None or not timestamps.calendar or not recipe.frequency:
        return timestamps, recipe
    times = timestamps.values[rows.row].astype(np.int64)
    order = np.lexsort((times, rows.series))
    if infer_frequency(times[order], rows.series[order]) is not None or not (np.diff(times[order]) > 0).any():
        return timestamps, recipe
    asked = parse_frequency(recipe.frequency)
    note = f"times are uneven: each {asked} has the mean of its rows, or else the value before (data.frequency={asked})"
    even = timestamps._replace(
        values=round_down(timestamps.values.astype(np.int64), asked), notes=(*timestamps.notes, note)
    )
    fills = {
        "duplicates": "mean" if recipe.duplicates == "stop" else recipe.duplicates,
        "gaps": "previous" if recipe.gaps == "stop" else recipe.gaps,
    }
    return even, recipe.model_copy(update=fills)


def index_by_number(
    rows: SeriesRows, times: Numbers, first: Numbers, order: Integers, table: Table
) -> tuple[SeriesRows, Frequency]:
    """The time index by numbers that count, e.g. 0, 1, 2 or 0.00, 0.02, 0.04."""
    spacing = infer_spacing(times[order], rows.series[order])
    if not spacing:
        raise irregular_times(table, times[order], rows.series[order])
    exact = (times - first[rows.series]) / spacing
    index = np.rint(np.minimum(exact, MOST_STEPS)).astype(np.int64)
    return rows._replace(step=index, on_grid=np.abs(exact - index) <= TOLERANCE), Frequency(1, "")


def index_by_position(rows: SeriesRows, table: Table) -> Integers:
    """The time index (M,) by the position of rows without timestamps; a refused row leaves a gap."""
    lines = np.array(table.lines)[rows.row]
    refused = np.array(sorted({refusal.line for refusal in table.refused}), np.int64)
    position = rows.row + np.searchsorted(refused, lines)
    order = np.argsort(rows.series, kind="stable")
    begins = np.concatenate([[True], np.diff(rows.series[order]) != 0])
    in_blocks = int((np.diff(rows.series) != 0).sum()) == int(begins.sum()) - 1
    if not in_blocks:  # series alternate: each row is the next of its own
        position = np.empty(len(order), np.int64)
        position[order] = np.arange(len(order))
    start = position[order][begins]
    index = np.empty(len(order), np.int64)
    index[order] = position[order] - start[np.cumsum(begins) - 1]
    return index


def irregular_times(table: Table, times: Integers | Numbers, series: Integers) -> InputError:
    """The refusal of timestamps without a common frequency, or of series of one row."""
    differences = np.diff(times)[np.diff(series) == 0]
    differences = differences[differences > 0]
    if not len(differences):
        return InputError(
            f"{table.file}: no series has rows of two different times.",
            found=f"{len(times)} rows in {int(series.max()) + 1} series",
            fix="add rows, or name the columns: --set data.time=... --set data.series=...",
        )
    distinct, counts = np.unique(differences, return_counts=True)
    usual = distinct[np.argsort(-counts)[:3]]
    calendar = usual.dtype == np.int64
    shown = usual.astype("timedelta64[us]").astype("timedelta64[s]") if calendar else usual
    likely = near_frequency(float(np.median(differences))) if calendar else "1h"
    return InputError(
        f"{table.file}: timestamps are not at equal time steps.",
        found=f"{len(distinct):,} different steps, most often {', '.join(map(str, shown))}",
        fix=f"set the frequency: --set data.frequency={likely}, or the column of timestamps: --set data.time=...",
        settings={"data.frequency": likely},
    )


def sort_by_time(rows: SeriesRows, recipe: DataRecipe, locator: RowLocator) -> tuple[SeriesRows, tuple[str, ...]]:
    """Rows by series and time; a row that is earlier than the one above it is refused, or all are sorted."""
    by_series = rows.take(np.argsort(rows.series, kind="stable"))
    back = np.flatnonzero(by_series.follows & (np.diff(by_series.step) < 0)) + 1
    if not len(back):
        return by_series, ()
    if recipe.order == "stop":
        at = int(back[np.argmin(by_series.row[back])])
        here, above = int(by_series.row[at]), int(by_series.row[at - 1])
        raise error_at(
            locator.place(here),
            "this time is earlier than that of the row above it.",
            found=f"{locator.time_text(here)} after {locator.time_text(above)}{and_more(len(back))}",
            fix="sort the rows by time, or pass --set data.order=sort",
            settings={"data.order": "sort"},
        )
    ordered = by_series.take(np.lexsort((by_series.row, by_series.step, by_series.series)))
    moved = f"{counted(len(back), 'time')} earlier than the row above"
    return ordered, (f"rows are sorted by time (data.order=sort): {moved}",)


def require_on_grid(rows: SeriesRows, recipe: DataRecipe, locator: RowLocator, frequency: str) -> None:
    """Refuse a row between two time steps."""
    if rows.on_grid.all():
        return
    at = int(np.argmin(rows.on_grid))
    raise error_at(
        locator.place(int(rows.row[at])),
        "this time is not at a time step of its series.",
        found=after_usual(rows, at, locator, frequency) + and_more(int((~rows.on_grid).sum())),
        fix="mend the timestamp, or delete the row" if recipe.frequency else FREQUENCY_FIX,
    )


def drop_duplicates(
    rows: SeriesRows, recipe: DataRecipe, locator: RowLocator
) -> tuple[SeriesRows, list[Refusal], tuple[str, ...]]:
    """One row for each timestamp of a series; duplicates are refused, or the first, the last or their mean is kept."""
    again = np.concatenate([[False], rows.follows & (np.diff(rows.step) == 0)])
    if not again.any():
        return rows, [], ()
    count = int(again.sum())
    if recipe.duplicates == "stop":
        raise duplicate(rows, int(np.argmax(again)), count, locator)
    if recipe.duplicates == "mean":
        starts = np.flatnonzero(~again)
        values, covariates = group_means(rows.values, starts), group_means(rows.covariates, starts)
        kept = rows.take(~again)._replace(values=values, covariates=covariates)
        return kept, [], (f"{counted(count, 'row')} with a duplicate timestamp: means are used (data.duplicates=mean)",)
    keep = ~again if recipe.duplicates == "first" else ~np.concatenate([again[1:], [False]])
    refused = [
        Refusal(
            *locator.place(int(row)),
            f"another row with this timestamp is used, the {recipe.duplicates} one.",
            found=locator.time_text(int(row)),
            fix="delete one of the rows",
        )
        for row in rows.row[~keep]
    ]
    note = f"of rows with duplicate timestamps the {recipe.duplicates} is used: {count} are left out"
    return rows.take(keep), refused, (note,)


def duplicate(rows: SeriesRows, at: int, count: int, locator: RowLocator) -> InputError:
    """The refusal of a row with the timestamp of the row before it."""
    here, before = int(rows.row[at]), int(rows.row[at - 1])
    found = f"{locator.time_text(here)} in line {locator.place(before).line} too{and_more(count)}"
    if locator.repeated_hour(here):
        problem, setting = "this hour is there twice, as when clocks are set back.", "mean"
        fix = "write times with their zone, as 2016-10-30 02:00+01:00, or pass --set data.duplicates=mean"
    else:
        problem, setting = "an earlier row has the same timestamp.", "first"
        fix = "delete one, or pass --set data.duplicates=first, last or mean; --set data.series=... tells series apart"
    return error_at(locator.place(here), problem, found=found, fix=fix, settings={"data.duplicates": setting})


def group_means(values: Numbers, starts: Integers) -> Numbers:
    """The mean of the finite values of each group of rows; NaN where there is none."""
    there = np.isfinite(values)
    total = np.add.reduceat(np.where(there, values, 0), starts, axis=0) if values.size else values[starts]
    number = np.add.reduceat(there.astype(float), starts, axis=0) if values.size else np.ones_like(total)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def to_grid(rows: SeriesRows, recipe: DataRecipe, locator: RowLocator, frequency: str) -> tuple[Grid, tuple[str, ...]]:
    """Every row at its time step; missing rows are refused, or become rows of NaN to be filled."""
    steps = np.diff(rows.step)
    missing = np.where(rows.follows, steps - 1, 0)
    total = int(missing.sum())
    if total and recipe.gaps == "stop":
        at = int(np.argmax(missing > 0)) + 1
        gap = int(missing[at - 1])
        raise error_at(
            locator.place(int(rows.row[at])),
            f"{counted(gap, 'row')} {'is' if gap == 1 else 'are'} missing before this one.",
            found=after_usual(rows, at, locator, frequency)
            + (f" ({total - gap:,} more missing in the file)" if total > gap else ""),
            fix=f"add {'it' if gap == 1 else 'them'}, or pass --set data.gaps=linear or previous to fill the gap",
            settings={"data.gaps": "linear"},
        )
    begins = np.concatenate([[0], np.flatnonzero(~rows.follows) + 1]).astype(np.int64)
    position = np.concatenate([[0], np.cumsum(np.where(rows.follows, steps, 1))]).astype(np.int64)
    size = int(position[-1]) + 1
    if size > MOST * len(rows.row) + LEAST:
        at = int(np.argmax(missing)) + 1
        raise error_at(
            locator.place(int(rows.row[at])),
            f"{int(missing[at - 1]):,} rows are missing before this one.",
            found=after_usual(rows, at, locator, frequency),
            fix=FREQUENCY_FIX,
        )
    row = np.full(size, -1, np.int64)
    row[position] = rows.row
    values, covariates = (np.full((size, each.shape[1]), np.nan) for each in (rows.values, rows.covariates))
    values[position], covariates[position] = rows.values, rows.covariates
    offsets = np.concatenate([position[begins], [size]])
    notes = (f"{counted(total, 'missing row')} added and filled (data.gaps={recipe.gaps})",) if total else ()
    return Grid(offsets, rows.row[begins], row, values, covariates), notes


def after_usual(rows: SeriesRows, at: int, locator: RowLocator, frequency: str) -> str:
    """The timestamp of a row after that of the row above it, and the usual time step."""
    here, above = (locator.time_text(int(rows.row[each])) for each in (at, at - 1))
    return f"{here} after {above}, where {frequency} is usual"


def error_at(
    place: Place, problem: str, *, found: str, fix: str, settings: Mapping[str, str] = NO_SETTINGS
) -> InputError:
    """An error at a place in a file."""
    where = f"{place.file}:{place.line}:{place.column}"
    return InputError(f"{where}: {problem}", found=found, fix=fix, settings=settings)


def and_more(count: int) -> str:
    """The number of errors of a kind besides the first, as text."""
    return f" ({count - 1:,} more in the file)" if count > 1 else ""
