"""From a file to a set of series: columns, times, order, twins, gaps, numbers. Every row is used or listed."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.pairs import nothing_left
from atento.data.records import counted, stop_or_skip
from atento.data.series.casting import Cast, combined, find_cast, read_clock
from atento.data.series.clock import Clock
from atento.data.series.covariates import Covariates, read_covariates
from atento.data.series.faults import judge, no_channels, refuse_unclear, written
from atento.data.series.filling import Cells, ends, fill
from atento.data.series.grid import Grid, Rows, Telling, in_order, lay_out, on_steps, without_twins
from atento.data.series.placing import at_steps
from atento.data.series.seasons import find_season
from atento.data.series.series import Series, SeriesSet, Step, Times
from atento.data.series.sheet import Sheet
from atento.data.series.steps import said, walk
from atento.data.series.variables import BETWEEN, gather_channels
from atento.data.sources import read_source
from atento.data.tables import Table
from atento.errors import InputError
from atento.spec import DataRecipe

Whole = NDArray[np.int64]

ASKED = ("time", "series", "target", "known")  # keys that name columns


class Found(NamedTuple):
    """A table and what its columns were found to be."""

    sheet: Sheet
    cast: Cast
    clock: Clock | None
    known: Covariates


def read_series(recipe: DataRecipe, file: str, *, covariates: Sequence[str] = ()) -> SeriesSet:
    """The series of a file; `covariates` are those that a trained model knows, in their order."""
    names = [name.strip() for key in ASKED for name in getattr(recipe, key).split(",") if name.strip()]
    table = read_source(file, header=recipe.header, names=names)
    if not table.rows:
        raise nothing_left(table.file, stop_or_skip(table.refused, recipe.bad_rows))
    return series_of(table, recipe, covariates=covariates)


def series_of(table: Table, recipe: DataRecipe, *, covariates: Sequence[str] = ()) -> SeriesSet:
    """The series of a table."""
    found = look(table, recipe, covariates)
    sheet, cast, clock, known = found
    usable, refused = judge(sheet, cast, clock, known, recipe)
    code, names = name_series(sheet, cast, usable)
    numbers = np.stack([sheet.numbers(at).values[usable] for at in cast.channels], axis=1)
    rows, step = at_steps(Rows(usable, code, code, numbers, known.values[usable], code == code), clock, table, recipe)
    telling = Telling(lambda row: table.place(row, cast.time[0] if cast.time else 0), lambda row: written(sheet, cast, row))
    rows, sorted_notes = in_order(rows, recipe, telling)
    rows, twins, twin_notes = without_twins(rows, recipe, telling)
    on_steps(rows, telling, said(step))
    grid, gap_notes = lay_out(rows, recipe, telling, said(step))
    cells = Cells(table.place, lambda row, at: table.rows[row][at], (*cast.channels, *known.columns), names_of(found))
    grid, fill_notes = fill(grid, recipe, cells, names)
    channels = tuple(sheet.name(at) for at in cast.channels)
    series = cut(grid, clock, step, names)
    if cast.variable >= 0:
        series, channels, merged = gather_channels(series, channels)
        fill_notes += merged
    season, season_note = find_season(series, step)
    notes = (
        *table.notes, *cast.notes, *(clock.notes if clock else ()), *known.notes, *sorted_notes, *twin_notes, *gap_notes,
        *fill_notes, *to_come(series), *vary(series, channels, table), summary(series, channels, step), season_note,
    )  # fmt: skip
    everything = tuple(sorted((*refused, *twins), key=lambda refusal: (refusal.line, refusal.column)))
    return SeriesSet(table.file, series, channels, known.names, step, season, everything, notes, keys_of(found))


def look(table: Table, recipe: DataRecipe, covariates: Sequence[str]) -> Found:
    """What the columns of a table are; unclear times are refused."""
    sheet = Sheet(table)
    cast = find_cast(sheet, recipe)
    if not cast.channels:
        raise no_channels(table)
    clock = read_clock(sheet, cast.time, to_utc=recipe.zone == "UTC")
    if clock is not None:
        refuse_unclear(sheet, cast, clock)
    return Found(sheet, cast, clock, read_covariates(sheet, cast.known, covariates))


def name_series(sheet: Sheet, cast: Cast, usable: Whole) -> tuple[Whole, tuple[str, ...]]:
    """The number of each row's series, by the order in which they come, and their names."""
    told = (*cast.series, *([cast.variable] if cast.variable >= 0 else ()))
    if not told:
        return np.zeros(len(usable), np.int64), ("",)
    codes = combined([sheet.codes(at) for at in told])[usable]
    _, first, code = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    names = []
    for row in usable[first[order]]:
        name = "/".join(sheet.columns[at][row].strip() for at in cast.series)
        names.append(name if cast.variable < 0 else f"{name}{BETWEEN}{sheet.columns[cast.variable][row].strip()}")
    return number[code], tuple(names)


def cut(grid: Grid, clock: Clock | None, step: Step, names: Sequence[str]) -> tuple[Series, ...]:
    """The series of a grid, as views of its numbers."""
    series = []
    for name, begin, end, stop, row in zip(names, grid.first, ends(grid), grid.first[1:], grid.start, strict=False):
        times: Times | None = None
        if clock is not None and clock.calendar:
            times = walk(np.datetime64(int(clock.at[row]), "us"), step, int(stop - begin))
        series.append(Series(name, grid.values[begin:end], grid.known[begin:stop], times))
    return tuple(series)


def names_of(found: Found) -> tuple[str, ...]:
    """The names of channels, then of what is known."""
    return (*(found.sheet.name(at) for at in found.cast.channels), *(found.sheet.name(at) for at in found.known.columns))


def to_come(series: Sequence[Series]) -> tuple[str, ...]:
    """What to say of rows after the last value."""
    rows = [len(one.known) - len(one) for one in series]
    if not any(rows):
        return ()
    return (f"{counted(sum(rows), 'row')} after the last value: times to come, at most {max(rows)} in a series",)


def vary(series: Sequence[Series], channels: Sequence[str], table: Table) -> tuple[str, ...]:
    """What to say of channels that never vary; an error where none does."""
    still = [[bool(np.ptp(one.values[:, at]) == 0) if len(one) else True for one in series] for at in range(len(channels))]
    if all(map(all, still)):
        raise InputError(
            f"{table.file}: nothing varies: there is nothing to forecast.",
            found=f"{channels[0]!r} is {series[0].values[0, 0]:g} in every row" if len(series[0]) else "no values",
            fix="name other columns: --set data.target=...",
        )
    notes = []
    for name, each in zip(channels, still, strict=True):
        if any(each):
            where = "" if len(series) == 1 else f" in {sum(each)} of {len(series)} series"
            notes.append(f"warning: {name!r} never varies{where}")
    return tuple(notes)


def summary(series: Sequence[Series], channels: Sequence[str], step: Step) -> str:
    """What was read, in words."""
    lengths = [len(one) for one in series]
    rows = f"{lengths[0]:,} rows" if len(series) == 1 else f"{len(series):,} series of {min(lengths):,} to {max(lengths):,} rows"
    return f"{rows}, {counted(len(channels), 'channel')}, {said(step)} apart"


def keys_of(found: Found) -> tuple[tuple[str, str], ...]:
    """What data.* must say for another file to be read alike."""
    parts = {"time": found.cast.time, "series": found.cast.series, "target": found.cast.channels, "known": found.cast.known}
    return tuple((key, ",".join(map(found.sheet.name, columns))) for key, columns in parts.items() if columns)
