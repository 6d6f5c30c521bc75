"""From a file to a set of series: columns, times, order, twins, gaps, numbers. Every row is used or listed.

From a grid to a set of series: cut, joined to channels, and judged by what varies and what repeats.
Arrays that numpy saved, (T,), (T, C) or (N, T, C), as series: rows are counted, channels are numbered.
Axes: N series, T time, C channels.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.examples.pairs import nothing_left
from atento.data.files.opening import inner_name, read_bytes
from atento.data.records import Place, Refusal, counted, in_words, stop_or_skip
from atento.data.series.columns import KEYS, Cast, combined, find_cast, told
from atento.data.series.covariates import BETWEEN, MARK, Covariates, gather_channels, read_covariates
from atento.data.series.faults import Cells, ends, fill, judge, no_channels, refuse_unclear, written
from atento.data.series.grid import Grid, Rows, Telling, at_steps, in_order, lay_out, on_steps, without_twins
from atento.data.series.numbers import Sheet
from atento.data.series.seasons import find_season
from atento.data.series.series import Series, SeriesSet, Step, Times
from atento.data.series.steps import said, walk
from atento.data.series.time_columns import Clock, read_clock, set_back
from atento.data.sources import read_source
from atento.data.tables.arrays import load_rows, series_in
from atento.data.tables.table import Table
from atento.errors import InputError, nearest
from atento.spec import DataRecipe


class Layout(NamedTuple):
    """What the rows of a grid are."""

    file: str
    clock: Clock | None
    step: Step
    names: tuple[str, ...]  # of series
    channels: tuple[str, ...]
    covariates: tuple[str, ...]
    melted: bool = False  # whether each variable of a series has rows of its own
    lines: tuple[int, ...] = ()  # of the file, on which each series begins


def assemble(
    grid: Grid,
    layout: Layout,
    *,
    refused: Sequence[Refusal] = (),
    notes: Sequence[str] = (),
    keys: tuple[tuple[str, str], ...] = (),
) -> SeriesSet:
    """The set of all series."""
    series, channels, said_of_them = cut(grid, layout), layout.channels, list(notes)
    if layout.melted:
        series, channels, merged = gather_channels(series, channels)
        said_of_them.extend(merged)
    require_variety(series, channels, layout.file)
    season, why = find_season(series, layout.step)
    said_of_them += [*to_come(series), *never_varying(series, channels), summary(series, channels, layout.step), why]
    ordered = tuple(sorted(refused, key=lambda refusal: (refusal.line, refusal.column)))
    return SeriesSet(
        layout.file, series, channels, layout.covariates, layout.step, season, ordered, tuple(said_of_them), keys
    )


def cut(grid: Grid, layout: Layout) -> tuple[Series, ...]:
    """The series of a grid, as views of its numbers; times that no row says are walked to."""
    series = []
    last, calendar = ends(grid), layout.clock is not None and layout.clock.calendar
    at = layout.clock.at.astype("datetime64[us]") if layout.clock is not None and calendar else np.zeros(0, "M8[us]")
    for number, name in enumerate(layout.names):
        begin, end, stop = int(grid.first[number]), int(last[number]), int(grid.first[number + 1])
        times = times_of(grid.row[begin:stop], at, layout.step) if calendar else None
        line = layout.lines[number] if layout.lines else 1
        series.append(Series(name, grid.values[begin:end], grid.known[begin:stop], times, line=line))
    return tuple(series)


def times_of(rows: NDArray[np.int64], at: Times, step: Step) -> Times:
    """The times of rows of the table, of which the first is there; those that are missing (-1) are walked to."""
    there = rows >= 0
    if there.all():
        return at[rows]
    times = walk(at[rows[0]], step, len(rows))
    times[there] = at[rows[there]]
    return times


def require_variety(series: Sequence[Series], channels: Sequence[str], file: str) -> None:
    """A file in which nothing varies holds nothing to forecast."""
    if any(len(one) and np.ptp(one.values, axis=0).any() for one in series):
        return
    there = [one for one in series if len(one)]
    raise InputError(
        f"{file}: nothing varies: there is nothing to forecast.",
        found=f"{channels[0]!r} is {there[0].values[0, 0]:g} in every row" if there else "no numbers",
        fix="name other columns: --set data.target=...",
    )


def never_varying(series: Sequence[Series], channels: Sequence[str]) -> list[str]:
    """What to say of channels that stand still."""
    still = np.array([np.ptp(one.values, axis=0) == 0 if len(one) else np.ones(len(channels), bool) for one in series])
    notes = []
    for name, count in zip(channels, still.sum(0), strict=True):
        if count:
            notes.append(
                f"warning: {name!r} never varies" + (f" in {count} of {len(series)} series" * (len(series) > 1))
            )
    return notes


def to_come(series: Sequence[Series]) -> list[str]:
    """What to say of rows after the last value."""
    rows = [len(one.known) - len(one) for one in series]
    if not any(rows):
        return []
    return [f"{counted(sum(rows), 'row')} after the last value: times to come, at most {max(rows)} in a series"]


def summary(series: Sequence[Series], channels: Sequence[str], step: Step) -> str:
    """What was read, in words."""
    lengths = [len(one) for one in series]
    rows = counted(lengths[0], "row")
    if len(series) > 1:
        rows = f"{len(series):,} series of {min(lengths):,} to {max(lengths):,} rows"
    return f"{rows}, {counted(len(channels), 'channel')}, {said(step)} apart"


ENDINGS = (".npy", ".npz")


def is_array(file: str) -> bool:
    """Whether a file is one that numpy saved, by its name."""
    return Path(inner_name(file)).suffix.lower() in ENDINGS


def read_array(recipe: DataRecipe, file: str) -> SeriesSet:
    """The series of a file of arrays."""
    name = Path(file).name
    found, notes = series_in(load_rows(read_bytes(file), name), name)
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


Whole = NDArray[np.int64]


class Found(NamedTuple):
    """A table and what its columns were found to be."""

    sheet: Sheet
    cast: Cast
    clock: Clock | None
    known: Covariates


def read_series(recipe: DataRecipe, file: str) -> SeriesSet:
    """The series of a table or of arrays."""
    if is_array(file):
        return read_array(recipe, file)
    names = [name.partition(MARK)[0].strip() for key in KEYS for name in getattr(recipe, key).split(",")]
    table = read_source(file, header=recipe.header, names=[name for name in names if name])
    if not table.rows:
        raise nothing_left(table.file, stop_or_skip(table.refused, recipe.bad_rows))
    return series_of(table, recipe)


def series_of(table: Table, recipe: DataRecipe) -> SeriesSet:
    """The series of a table."""
    found = look(table, recipe)
    sheet, cast, clock, known = found
    usable, refused = judge(sheet, cast, clock, known, recipe)
    code, names = name_series(sheet, cast, usable)
    numbers = np.stack([sheet.numbers(at).values[usable] for at in cast.channels], axis=1)
    rows = Rows(usable, code, np.zeros_like(code), numbers, known.values[usable], np.ones(len(code), bool))
    rows, step = at_steps(rows, clock, table, recipe)
    telling = Telling(
        place=lambda row: table.place(row, cast.time[0] if cast.time else 0),
        when=lambda row: written(sheet, cast, row),
        set_back=lambda row: clock is not None and set_back(clock, row, step),
    )
    rows, sorted_notes = in_order(rows, recipe, telling)
    on_steps(rows, telling, said(step))
    rows, twins, twin_notes = without_twins(rows, recipe, telling)
    grid, gap_notes = lay_out(rows, recipe, telling, said(step))
    columns = (*cast.channels, *known.columns)
    cells = Cells(table.place, lambda row, at: table.rows[row][at], columns, tuple(map(sheet.name, columns)))
    grid, fill_notes = fill(grid, recipe, cells, names)
    layout = Layout(
        file=table.file,
        clock=clock,
        step=step,
        names=names,
        channels=tuple(map(sheet.name, cast.channels)),
        covariates=known.names,
        melted=cast.variable >= 0,
        lines=tuple(table.lines[row] for row in grid.start),
    )
    return assemble(
        grid,
        layout,
        refused=(*refused, *twins),
        notes=(*guesses(found, recipe), *sorted_notes, *twin_notes, *gap_notes, *fill_notes),
        keys=keys_of(found, step),
    )


def look(table: Table, recipe: DataRecipe) -> Found:
    """What the columns of a table are; unclear times are refused."""
    sheet = Sheet(table)
    cast = find_cast(sheet, recipe)
    if not cast.channels:
        raise no_channels(table)
    clock = read_clock(sheet, cast.time, to_utc=recipe.zone == "UTC")
    if clock is not None:
        refuse_unclear(sheet, cast, clock)
    return Found(sheet, cast, clock, read_covariates(sheet, cast.known, recipe.known))


def name_series(sheet: Sheet, cast: Cast, usable: Whole) -> tuple[Whole, tuple[str, ...]]:
    """The number of each row's series, by the order in which they come, and their names."""
    if not cast.names:
        return np.zeros(len(usable), np.int64), ("",)
    codes = combined([sheet.codes(at) for at in cast.names])[usable]
    _, first, code = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    names = []
    for row in usable[first[order]]:
        name = "/".join(sheet.columns[at][row].strip() for at in cast.series)
        names.append(name if cast.variable < 0 else f"{name}{BETWEEN}{sheet.columns[cast.variable][row].strip()}")
    return number[code], tuple(names)


def guesses(found: Found, recipe: DataRecipe) -> list[str]:
    """What was found in the table, in words."""
    sheet, cast, clock, known = found
    notes = [*sheet.table.notes, *told(sheet, cast, recipe), *(clock.notes if clock else ()), *known.notes]
    numbers = {repr(sheet.name(at)): sheet.numbers(at) for at in cast.channels}
    commas = [name for name, cells in numbers.items() if cells.commas]
    thousands = [name for name, cells in numbers.items() if cells.thousands]
    notes += [f"decimals are written with commas in {in_words(commas)}"] if commas else []
    notes += [f"commas part thousands in {in_words(thousands)}"] if thousands else []
    return [*notes, *(f"the sign {cells.sign} of {name} is left out" for name, cells in numbers.items() if cells.sign)]


def keys_of(found: Found, step: Step) -> tuple[tuple[str, str], ...]:
    """What data.* must say for another file to be read alike: a model of days does not read hours in silence."""
    names = found.sheet.name
    parts = {
        "time": map(names, found.cast.time),
        "series": map(names, found.cast.series),
        "target": map(names, found.cast.channels),
        "known": found.known.names,
        "frequency": [str(step)] if step.unit else [],
    }
    said_by = ((key, ",".join(columns)) for key, columns in parts.items())
    return tuple((key, text) for key, text in said_by if text)
