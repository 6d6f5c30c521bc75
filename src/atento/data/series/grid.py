"""Rows of all series onto grids of equal distances: order, twins and gaps, each as the recipe says, never in silence.

Axes: M usable rows, C channels, K covariates.

At which step of its series each row stands: by its time, by its number, or by its place in the file.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.records import Place, Refusal, counted
from atento.data.series.series import Numbers, Step
from atento.data.series.steps import find_count, find_step, parse_step, places
from atento.data.series.time_columns import Clock
from atento.data.tables.table import Table
from atento.errors import NO_SETTINGS, InputError
from atento.spec import DataRecipe

Whole = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Rows(NamedTuple):
    """Rows in the order of the file, or sorted by series and time."""

    row: Whole  # (M,) the row of the table
    code: Whole  # (M,) the number of its series
    at: Whole  # (M,) at which step of its series it stands
    values: Numbers  # (M, C) NaN: empty
    known: Numbers  # (M, K)
    fits: Mask  # (M,) whether it stands at a step at all

    def take(self, which: Whole | Mask) -> "Rows":
        """Some of the rows, or all in another order."""
        row, code, at, values, known, fits = self
        return Rows(row[which], code[which], at[which], values[which], known[which], fits[which])

    @property
    def follows(self) -> Mask:
        """(M - 1,) whether a row is of the same series as the row before it."""
        return np.diff(self.code) == 0


class Telling(NamedTuple):
    """How a fault names a row."""

    place: Callable[[int], Place]  # row of the table -> where its time stands
    when: Callable[[int], str]  # row of the table -> its time in words
    set_back: Callable[[int], bool]  # row of the table -> whether it is in a night when clocks may be set back


class Grid(NamedTuple):
    """All series one behind the other, a row at every step."""

    first: Whole  # (S + 1,) where each series begins, and the end
    start: Whole  # (S,) the row of the table that each begins with
    row: Whole  # (R,) the row of the table; -1: missing
    values: Numbers  # (R, C) NaN where a row is missing or empty
    known: Numbers  # (R, K)


def in_order(rows: Rows, recipe: DataRecipe, telling: Telling) -> tuple[Rows, tuple[str, ...]]:
    """Rows by series and time; a row that comes before the one above it stops, or all are sorted."""
    by_series = rows.take(np.argsort(rows.code, kind="stable"))
    back = np.flatnonzero(by_series.follows & (np.diff(by_series.at) < 0)) + 1
    if not len(back):
        return by_series, ()
    if recipe.order == "stop":
        at = int(back[np.argmin(by_series.row[back])])
        here, above = int(by_series.row[at]), int(by_series.row[at - 1])
        raise fault(
            telling.place(here),
            "this time comes before that of the row above it.",
            found=f"{telling.when(here)} after {telling.when(above)}{others(len(back))}",
            fix="sort the rows by time, or pass --set data.order=sort",
            settings={"data.order": "sort"},
        )
    ordered = by_series.take(np.lexsort((by_series.row, by_series.at, by_series.code)))
    moved = f"{counted(len(back), 'time')} came before the row above"
    return ordered, (f"rows are sorted by time (data.order=sort): {moved}",)


def without_twins(rows: Rows, recipe: DataRecipe, telling: Telling) -> tuple[Rows, list[Refusal], tuple[str, ...]]:
    """One row a time; several stop, or one of them or their mean is kept."""
    again = np.concatenate([[False], rows.follows & (np.diff(rows.at) == 0)])
    if not again.any():
        return rows, [], ()
    count = int(again.sum())
    if recipe.twins == "stop":
        at = int(np.argmax(again))
        here, before = int(rows.row[at]), int(rows.row[at - 1])
        found = f"{telling.when(here)} in line {telling.place(before).line} too{others(count)}"
        if telling.set_back(here):
            fix = "write times with their zone, as 2016-10-30 02:00+01:00, or pass --set data.twins=mean, first or last"
            raise fault(
                telling.place(here),
                "this hour comes twice, as when clocks are set back.",
                found=found,
                fix=fix,
                settings={"data.twins": "mean"},
            )
        fix = "delete one, or pass --set data.twins=first, last or mean; --set data.series=... tells series apart"
        first = {"data.twins": "first"}
        raise fault(telling.place(here), "a row of this time was there before.", found=found, fix=fix, settings=first)
    if recipe.twins == "mean":
        starts = np.flatnonzero(~again)
        values, known = means(rows.values, starts), means(rows.known, starts)
        kept = rows.take(~again)._replace(values=values, known=known)
        return kept, [], (f"{counted(count, 'row')} of a time that was there before: means are used (data.twins=mean)",)
    keep = ~again if recipe.twins == "first" else ~np.concatenate([again[1:], [False]])
    refused = [
        Refusal(
            *telling.place(int(row)),
            f"another row of this time is used, the {recipe.twins} one.",
            found=telling.when(int(row)),
            fix="delete one of the rows",
        )
        for row in rows.row[~keep]
    ]
    return rows.take(keep), refused, (f"of several rows of one time the {recipe.twins} is used: {count} are left out",)


def means(values: Numbers, starts: Whole) -> Numbers:
    """The mean of what is there in each group of rows; NaN where nothing is."""
    there = np.isfinite(values)
    total = np.add.reduceat(np.where(there, values, 0), starts, axis=0) if values.size else values[starts]
    number = np.add.reduceat(there.astype(float), starts, axis=0) if values.size else np.ones_like(total)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def lay_out(rows: Rows, recipe: DataRecipe, telling: Telling, step: str) -> tuple[Grid, tuple[str, ...]]:
    """Every row at its step; missing rows stop, or become rows of NaN to be filled."""
    apart = np.diff(rows.at)
    missing = np.where(rows.follows, apart - 1, 0)
    total = int(missing.sum())
    if total and recipe.gaps == "stop":
        at = int(np.argmax(missing > 0)) + 1
        here, above = int(rows.row[at]), int(rows.row[at - 1])
        gap = int(missing[at - 1])
        raise fault(
            telling.place(here),
            f"{counted(gap, 'row')} {'is' if gap == 1 else 'are'} missing before this one.",
            found=f"{telling.when(here)} after {telling.when(above)}, where {step} is usual"
            + (f" ({total - gap:,} more missing in the file)" if total > gap else ""),
            fix=f"add {'it' if gap == 1 else 'them'}, or pass --set data.gaps=linear or previous to fill the gap",
            settings={"data.gaps": "linear"},
        )
    begins = np.concatenate([[0], np.flatnonzero(~rows.follows) + 1]).astype(np.int64)
    place = np.concatenate([[0], np.cumsum(np.where(rows.follows, apart, 1))]).astype(np.int64)
    size = int(place[-1]) + 1
    if size > MOST * len(rows.row) + LEAST:
        at = int(np.argmax(missing)) + 1
        here, above = int(rows.row[at]), int(rows.row[at - 1])
        raise fault(
            telling.place(here),
            f"{int(missing[at - 1]):,} rows are missing before this one.",
            found=f"{telling.when(here)} after {telling.when(above)}, where {step} is usual",
            fix="mend the time, or name the distance of rows: --set data.frequency=...",
        )
    row = np.full(size, -1, np.int64)
    row[place] = rows.row
    values, known = (np.full((size, each.shape[1]), np.nan) for each in (rows.values, rows.known))
    values[place], known[place] = rows.values, rows.known
    first = np.concatenate([place[begins], [size]])
    notes = (f"{counted(total, 'missing row')} added and filled (data.gaps={recipe.gaps})",) if total else ()
    return Grid(first, rows.row[begins], row, values, known), notes


MOST, LEAST = 20, 10_000  # rows of a grid for each row of a file


def on_steps(rows: Rows, telling: Telling, step: str) -> None:
    """Refuse a row that stands between two steps."""
    if rows.fits.all():
        return
    at = int(np.argmin(rows.fits))
    here, above = int(rows.row[at]), int(rows.row[at - 1])
    raise fault(
        telling.place(here),
        "this time is at another distance than the others.",
        found=f"{telling.when(here)} after {telling.when(above)}, where {step} is usual"
        + others(int((~rows.fits).sum())),
        fix="mend the time, or name the distance of rows: --set data.frequency=...",
    )


def fault(place: Place, problem: str, *, found: str, fix: str, settings: Mapping[str, str] = NO_SETTINGS) -> InputError:
    """A fault at a place in a file."""
    where = f"{place.file}:{place.line}:{place.column}"
    return InputError(f"{where}: {problem}", found=found, fix=fix, settings=settings)


def others(count: int) -> str:
    """How many faults of the kind there are besides."""
    return f" ({count - 1:,} more in the file)" if count > 1 else ""


FARTHEST = 2.0**52  # steps that can be counted exactly
CLOSE = 0.25  # of a step that a written number may be off


def at_steps(rows: Rows, clock: Clock | None, table: Table, recipe: DataRecipe) -> tuple[Rows, Step]:
    """The rows with their steps, and the distance of two steps."""
    if clock is None:
        return rows._replace(at=by_place(rows, table)), Step(1, "")
    times = clock.at[rows.row]
    first = np.full(int(rows.code.max()) + 1, times.max())
    np.minimum.at(first, rows.code, times)
    order = np.lexsort((times, rows.code))
    if not clock.calendar:
        return by_number(rows, times.astype(np.float64), first.astype(np.float64), order, table)
    whole = times.astype(np.int64)
    step = parse_step(recipe.frequency) if recipe.frequency else find_step(whole[order], rows.code[order])
    if step is None or not step.unit:
        raise no_step(table, whole[order], rows.code[order])
    at, fits = places(whole, first.astype(np.int64)[rows.code], step)
    return rows._replace(at=at, fits=fits), step


def by_number(
    rows: Rows, times: NDArray[np.float64], first: NDArray[np.float64], order: Whole, table: Table
) -> tuple[Rows, Step]:
    """Steps of numbers that count, e.g. 0, 1, 2 or 0.00, 0.02, 0.04."""
    usual = find_count(times[order], rows.code[order])
    if not usual:
        raise no_step(table, times[order], rows.code[order])
    exact = (times - first[rows.code]) / usual
    at = np.rint(np.minimum(exact, FARTHEST)).astype(np.int64)
    return rows._replace(at=at, fits=np.abs(exact - at) <= CLOSE), Step(1, "")


def by_place(rows: Rows, table: Table) -> Whole:
    """Steps of rows that are counted: a row that was refused leaves a hole where it stood."""
    lines = np.array(table.lines)[rows.row]
    refused = np.array(sorted({refusal.line for refusal in table.refused}), np.int64)
    place = rows.row + np.searchsorted(refused, lines)
    order = np.argsort(rows.code, kind="stable")
    code = rows.code[order]
    begins = np.concatenate([[True], np.diff(code) != 0])
    blocks = int((np.diff(rows.code) != 0).sum()) == int(begins.sum()) - 1
    if not blocks:  # series take turns: each row is the next of its own
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
    start = place[order][begins]
    at = np.empty(len(order), np.int64)
    at[order] = place[order] - start[np.cumsum(begins) - 1]
    return at


def no_step(table: Table, times: NDArray[np.int64] | NDArray[np.float64], code: Whole) -> InputError:
    """The refusal of times that are at no equal distances, or of series of one row."""
    apart = np.diff(times)[np.diff(code) == 0]
    apart = apart[apart > 0]
    if not len(apart):
        return InputError(
            f"{table.file}: no series has rows of two different times.",
            found=f"{len(times)} rows in {int(code.max()) + 1} series",
            fix="add rows, or name the columns: --set data.time=... --set data.series=...",
        )
    distinct, counts = np.unique(apart, return_counts=True)
    usual = distinct[np.argsort(-counts)[:3]]
    shown = usual.astype("timedelta64[us]").astype("timedelta64[s]") if usual.dtype == np.int64 else usual
    return InputError(
        f"{table.file}: times are at no equal distances.",
        found=f"{len(distinct):,} different distances, most often {', '.join(map(str, shown))}",
        fix="name the distance of two rows: --set data.frequency=1h, or the column of times: --set data.time=...",
        settings={"data.frequency": "1h"},
    )
