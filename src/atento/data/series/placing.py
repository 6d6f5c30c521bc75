"""At which step of its series each row stands: by its time, by its number, or by its place in the file."""

import numpy as np
from numpy.typing import NDArray

from atento.data.series.clock import Clock
from atento.data.series.grid import Rows
from atento.data.series.series import Step
from atento.data.series.steps import find_count, find_step, parse_step, places
from atento.data.tables import Table
from atento.errors import InputError
from atento.spec import DataRecipe

Whole = NDArray[np.int64]

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
