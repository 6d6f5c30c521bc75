"""What a table says as series: which columns, at what distances, and how smoothly numbers go from row to row."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.series.columns import Cast, combined, find_cast
from atento.data.series.numbers import Sheet
from atento.data.series.series import Numbers
from atento.data.series.steps import find_count, find_step, said
from atento.data.series.time_columns import Clock, read_clock
from atento.data.tables.table import Table
from atento.spec import DataRecipe

Whole = NDArray[np.int64]
Mask = NDArray[np.bool_]

KINDS = frozenset({"csv", "tsv", "jsonl", "parquet", "text", "npy"})
LEAST = 8  # rows that say anything of time
MOST_ROWS = 100_000


class Survey(NamedTuple):
    """A table as series, by the names of its columns."""

    time: tuple[str, ...]
    series: tuple[str, ...]
    channels: tuple[str, ...]
    unused: tuple[str, ...]
    calendar: bool  # whether the time is one of a calendar
    step: str  # the distance of two rows in words; empty: they are at no equal ones
    rising: float  # share of rows whose time comes after that of the row above in its series
    smooth: float  # mean correlation of a number with the one a row before, of the channel that has least


def survey(table: Table) -> Survey | None:
    """The table as series; None where it holds no numbers or is no table of rows."""
    if table.kind not in KINDS or len(table.rows) < LEAST:
        return None
    table = replace(table, rows=table.rows[:MOST_ROWS], lines=table.lines[:MOST_ROWS])  # which show what it is
    sheet = Sheet(table)
    if not any(sheet.is_numeric(at) for at in range(len(table.columns))):
        return None
    cast = find_cast(sheet, DataRecipe())
    if not cast.channels:
        return None
    clock = read_clock(sheet, cast.time, to_utc=True)
    code = combined([sheet.codes(at) for at in cast.names]) if cast.names else np.zeros(len(sheet), np.int64)
    step, rising = distances(clock, code) if clock is not None else ("1 row", 1.0)

    def names(columns: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(table.columns[at] for at in columns)

    return Survey(
        names(cast.time),
        names(cast.names),
        names(cast.channels),
        names(cast.unused),
        clock is not None and clock.calendar,
        step,
        rising,
        smoothness(sheet, cast, code),
    )


def distances(clock: Clock, code: Whole) -> tuple[str, float]:
    """The usual distance of rows in words, and the share of rows that come after the one above."""
    good = clock.good
    times, code = clock.at[good], code[good]
    by_series = np.argsort(code, kind="stable")
    same = np.diff(code[by_series]) == 0
    rising = float((np.diff(times[by_series])[same] > 0).mean()) if same.any() else 0.0
    order = np.lexsort((times, code))
    if clock.calendar:
        step = find_step(times[order].astype(np.int64), code[order])
        return said(step) if step else "", rising
    return "1 row" if find_count(times[order].astype(np.float64), code[order]) else "", rising


def smoothness(sheet: Sheet, cast: Cast, code: Whole) -> float:
    """The least correlation of neighbouring rows among the channels, each series about its own mean."""
    order = np.argsort(code, kind="stable")
    code = code[order]
    same = np.diff(code) == 0
    found = [neighbours(about_means(sheet.numbers(at).values[order], code), same) for at in cast.channels]
    return min((one for one in found if one is not None), default=0.0)


def about_means(values: Numbers, code: Whole) -> Numbers:
    """Numbers less the mean of their series."""
    there = np.isfinite(values)
    total = np.bincount(code, np.where(there, values, 0.0))
    number = np.bincount(code, there)
    return values - (total / np.maximum(number, 1))[code]


def neighbours(values: Numbers, same: Mask) -> float | None:
    """The correlation of a number with the one before it in its series; None where nothing varies."""
    both = same & np.isfinite(values[1:]) & np.isfinite(values[:-1])
    one, other = values[:-1][both], values[1:][both]
    if len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    most = max(np.abs(one).max(), np.abs(other).max())  # squares of any number fit then
    return float(np.corrcoef(one / most, other / most)[0, 1])
