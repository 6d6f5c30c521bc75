"""From a file to a set of series: columns, timestamps, order, duplicates, gaps, numbers. Every row is used or listed.

Arrays that numpy saved, (T,), (T, C) or (N, T, C), are read as series too: rows are counted, channels are numbered.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from atento.data.examples.pairs import nothing_left
from atento.data.files.opening import inner_name, read_bytes
from atento.data.records import Place, Refusal, counted, in_words
from atento.data.series.cleaning import (
    CellLocator,
    fill_gaps,
    no_channels,
    refuse_ambiguous_times,
    series_ends,
    time_text,
    usable_rows,
)
from atento.data.series.columns import COLUMN_KEYS, SeriesColumns, describe_guesses, find_columns, number_series
from atento.data.series.covariates import CATEGORY_MARK, Covariates, pivot_variables, read_covariates
from atento.data.series.frequency import date_range, frequency_text
from atento.data.series.grid import (
    Grid,
    RowLocator,
    SeriesRows,
    drop_duplicates,
    require_on_grid,
    sort_by_time,
    time_index,
    to_grid,
)
from atento.data.series.seasons import find_season
from atento.data.series.series import Frequency, Integers, Series, SeriesSet, Times
from atento.data.series.time_columns import Timestamps, in_repeated_hour, read_timestamps
from atento.data.series.typed_table import TypedTable
from atento.data.sources.reading import read_source
from atento.data.tables.arrays import load_arrays, series_in
from atento.data.tables.table import Table
from atento.errors import InputError, nearest
from atento.spec import DataRecipe

# Axes: N series, T time, C channels.

ARRAY_ENDINGS = (".npy", ".npz")


class ReadColumns(NamedTuple):
    """A table, the roles of its columns, and what was read from them."""

    typed: TypedTable
    columns: SeriesColumns
    timestamps: Timestamps | None
    covariates: Covariates


class Layout(NamedTuple):
    """What the rows and columns of a grid are."""

    file: str
    times: Times | None  # of the rows of the table; None: rows are counted
    frequency: Frequency
    names: tuple[str, ...]  # of series
    channels: tuple[str, ...]
    covariates: tuple[str, ...]
    melted: bool = False  # whether each variable of a series has rows of its own
    lines: tuple[int, ...] = ()  # of the file, on which each series begins


def read_series(recipe: DataRecipe, file: str) -> SeriesSet:
    """The series of a table or of arrays."""
    if Path(inner_name(file)).suffix.lower() in ARRAY_ENDINGS:
        return read_array(recipe, file)
    named = (name for key in COLUMN_KEYS for name in getattr(recipe, key).split(","))
    names = [name.partition(CATEGORY_MARK)[0].strip() for name in named]
    table = read_source(file, header=recipe.header, names=[name for name in names if name])
    if not table.rows:
        raise nothing_left(table.file, table.refused)
    return series_of(table, recipe)


def series_of(table: Table, recipe: DataRecipe, *, forecast: bool = True) -> SeriesSet:
    """The series of a table; notes say that its channels are forecast, or only read."""
    read = read_columns(table, recipe)
    typed, columns, timestamps, covariates = read
    usable, refused = usable_rows(typed, columns, timestamps, covariates, recipe)
    series, names = number_series(typed, columns, usable)
    values = np.stack([typed.numbers(at).values[usable] for at in columns.channels], axis=1)
    on_grid = np.ones(len(series), bool)
    rows = SeriesRows(usable, series, np.zeros_like(series), values, covariates.values[usable], on_grid)
    rows, frequency = time_index(rows, timestamps, table, recipe)
    locator = RowLocator(
        place=lambda row: table.place(row, columns.time[0] if columns.time else 0),
        time_text=lambda row: time_text(typed, columns, row),
        repeated_hour=lambda row: timestamps is not None and in_repeated_hour(timestamps, row, frequency),
    )
    rows, order_notes = sort_by_time(rows, recipe, locator)
    require_on_grid(rows, locator, frequency_text(frequency))
    rows, duplicates, duplicate_notes = drop_duplicates(rows, recipe, locator)
    grid, gap_notes = to_grid(rows, recipe, locator, frequency_text(frequency))
    used = (*columns.channels, *covariates.columns)
    cells = CellLocator(table.place, lambda row, at: table.rows[row][at], used, tuple(map(typed.name, used)))
    grid, fill_notes = fill_gaps(grid, recipe, cells, names)
    layout = Layout(
        file=table.file,
        times=timestamps.values.astype("datetime64[us]") if timestamps is not None and timestamps.calendar else None,
        frequency=frequency,
        names=names,
        channels=tuple(map(typed.name, columns.channels)),
        covariates=covariates.names,
        melted=columns.variable >= 0,
        lines=tuple(table.lines[row] for row in grid.first_rows),
    )
    return assemble(
        grid,
        layout,
        refused=(*refused, *duplicates),
        notes=(*column_notes(read, recipe, forecast=forecast), *order_notes, *duplicate_notes, *gap_notes, *fill_notes),
        keys=keys_of(read, frequency),
    )


def read_columns(table: Table, recipe: DataRecipe) -> ReadColumns:
    """The roles of a table's columns, their timestamps and covariates; ambiguous timestamps are refused."""
    typed = TypedTable(table)
    columns = find_columns(typed, recipe)
    if not columns.channels:
        raise no_channels(table)
    timestamps = read_timestamps(typed, columns.time, to_utc=recipe.timezone == "UTC")
    if timestamps is not None:
        refuse_ambiguous_times(typed, columns, timestamps)
    return ReadColumns(typed, columns, timestamps, read_covariates(typed, columns.covariates, recipe.future_covariates))


def column_notes(read: ReadColumns, recipe: DataRecipe, *, forecast: bool) -> list[str]:
    """Notes on what was found in the table."""
    typed, columns, timestamps, covariates = read
    notes = [*typed.table.notes, *describe_guesses(typed, columns, recipe, forecast=forecast)]
    notes += [*(timestamps.notes if timestamps else ()), *covariates.notes]
    numbers = {repr(typed.name(at)): typed.numbers(at) for at in columns.channels}
    commas = [name for name, cells in numbers.items() if cells.decimal_commas]
    thousands = [name for name, cells in numbers.items() if cells.thousands_separators]
    notes += [f"decimals are written with commas in {in_words(commas)}"] if commas else []
    notes += [f"commas separate thousands in {in_words(thousands)}"] if thousands else []
    return [*notes, *(f"the sign {cells.unit} of {name} is left out" for name, cells in numbers.items() if cells.unit)]


def keys_of(read: ReadColumns, frequency: Frequency) -> tuple[tuple[str, str], ...]:
    """The values of data.* with which another file is read in the same way: hours are refused where days were read."""
    name, columns = read.typed.name, read.columns
    parts = {
        "time": map(name, columns.time),
        "series": map(name, columns.series),
        "target": map(name, columns.channels),
        "future_covariates": read.covariates.names,
        "frequency": [str(frequency)] if frequency.unit else [],
    }
    joined = ((key, ",".join(names)) for key, names in parts.items())
    return tuple((key, text) for key, text in joined if text)


def read_array(recipe: DataRecipe, file: str) -> SeriesSet:
    """The series of a file of arrays."""
    name = Path(file).name
    found, notes = series_in(load_arrays(read_bytes(file), name), name)
    width = next(iter(found.values())).shape[1]
    names = tuple(str(number + 1) for number in range(width))
    covariates = channels_named(recipe, "future_covariates", names, name)
    channels = channels_named(recipe, "target", names, name) or tuple(at for at in range(width) if at not in covariates)
    used = channels + covariates
    values = np.concatenate(list(found.values()))
    offsets = np.cumsum([0, *map(len, found.values())])
    grid = Grid(offsets, offsets[:-1], np.arange(len(values)), values[:, channels], values[:, covariates])
    cells = CellLocator(
        place=lambda row, at: Place(name, row + 1, at + 1),
        text=lambda row, at: str(values[row, at]),
        columns=used,
        names=tuple(names[at] for at in used),
    )
    grid, filled = fill_gaps(grid, recipe, cells, tuple(found))
    layout = Layout(
        file=name,
        times=None,
        frequency=Frequency(1, ""),
        names=tuple(found),
        channels=tuple(names[at] for at in channels),
        covariates=tuple(names[at] for at in covariates),
        lines=tuple(int(row) + 1 for row in offsets[:-1]),
    )
    keys = (("target", ",".join(layout.channels)), ("future_covariates", ",".join(layout.covariates)))
    return assemble(grid, layout, notes=(*notes, *filled), keys=tuple(key for key in keys if key[1]))


def channels_named(recipe: DataRecipe, key: str, names: tuple[str, ...], file: str) -> tuple[int, ...]:
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


def assemble(
    grid: Grid,
    layout: Layout,
    *,
    refused: Sequence[Refusal] = (),
    notes: Sequence[str] = (),
    keys: tuple[tuple[str, str], ...] = (),
) -> SeriesSet:
    """The set of all series of a grid."""
    series, channels, all_notes = split_grid(grid, layout), layout.channels, list(notes)
    if layout.melted:
        series, channels, merged = pivot_variables(series, channels)
        all_notes.extend(merged)
    require_variety(series, channels, layout.file)
    season, season_note = find_season(series, layout.frequency)
    all_notes += [*future_notes(series), *constant_notes(series, channels)]
    all_notes += [summary(series, channels, layout.frequency), season_note]
    ordered = tuple(sorted(refused, key=lambda refusal: (refusal.line, refusal.column)))
    return SeriesSet(
        layout.file, series, channels, layout.covariates, layout.frequency, season, ordered, tuple(all_notes), keys
    )


def split_grid(grid: Grid, layout: Layout) -> tuple[Series, ...]:
    """The series of a grid, as views of its numbers."""
    series, ends = [], series_ends(grid)
    for number, name in enumerate(layout.names):
        begin, end, stop = int(grid.offsets[number]), int(ends[number]), int(grid.offsets[number + 1])
        times = None if layout.times is None else times_of(grid.row[begin:stop], layout.times, layout.frequency)
        line = layout.lines[number] if layout.lines else 1
        series.append(Series(name, grid.values[begin:end], grid.covariates[begin:stop], times, line=line))
    return tuple(series)


def times_of(rows: Integers, times: Times, frequency: Frequency) -> Times:
    """The timestamps of rows of the table; those of missing rows (-1) follow from the frequency. The first is there."""
    there = rows >= 0
    if there.all():
        return times[rows]
    found = date_range(times[rows[0]], frequency, len(rows))
    found[there] = times[rows[there]]
    return found


def require_variety(series: Sequence[Series], channels: Sequence[str], file: str) -> None:
    """Refuse a file whose channels are all constant."""
    if any(len(one) and np.ptp(one.values, axis=0).any() for one in series):
        return
    there = [one for one in series if len(one)]
    raise InputError(
        f"{file}: all values are constant: there is nothing to forecast.",
        found=f"{channels[0]!r} is {there[0].values[0, 0]:g} in every row" if there else "no numbers",
        fix="name other columns: --set data.target=...",
    )


def constant_notes(series: Sequence[Series], channels: Sequence[str]) -> list[str]:
    """Warnings about constant channels."""
    still = np.array([np.ptp(one.values, axis=0) == 0 if len(one) else np.ones(len(channels), bool) for one in series])
    notes = []
    for name, count in zip(channels, still.sum(0), strict=True):
        if count:
            where = f" in {count} of {len(series)} series" if len(series) > 1 else ""
            notes.append(f"warning: {name!r} is constant{where}")
    return notes


def future_notes(series: Sequence[Series]) -> list[str]:
    """A note on rows after the last value."""
    rows = [len(one.future_covariates) - len(one) for one in series]
    if not any(rows):
        return []
    return [f"{counted(sum(rows), 'row')} after the last value: future rows, at most {max(rows)} in a series"]


def summary(series: Sequence[Series], channels: Sequence[str], frequency: Frequency) -> str:
    """A note on the number and length of the series."""
    lengths = [len(one) for one in series]
    rows = counted(lengths[0], "row")
    if len(series) > 1:
        rows = f"{len(series):,} series of {min(lengths):,} to {max(lengths):,} rows"
    return f"{rows}, {counted(len(channels), 'channel')}, {frequency_text(frequency)} apart"
