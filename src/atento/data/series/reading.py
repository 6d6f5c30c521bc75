"""From a file to a set of series: columns, timestamps, order, duplicates, gaps, numbers. Every row is used or listed.

Arrays that numpy saved, (T,), (T, C) or (N, T, C), are read as series too: rows are counted, channels are numbered.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from atento.data.columns.numbers import refuse_doubt
from atento.data.examples.pairs import nothing_left
from atento.data.files.opening import inner_name, read_bytes
from atento.data.numbers.reading import DECIMALS, NumberCells, tell_decided
from atento.data.records import Place, in_words, stop_or_skip
from atento.data.series.assembling import Layout, assemble, series_set
from atento.data.series.cleaning import (
    CellLocator,
    fill_gaps,
    no_channels,
    refuse_ambiguous_times,
    time_text,
    usable_rows,
)
from atento.data.series.columns import COLUMN_KEYS, SeriesColumns, describe_guesses, find_columns, number_series
from atento.data.series.covariates import CATEGORY_MARK, Covariates, read_covariates
from atento.data.series.frequency import frequency_text
from atento.data.series.grid import (
    Grid,
    RowLocator,
    SeriesRows,
    drop_duplicates,
    require_on_grid,
    resample,
    sort_by_time,
    time_index,
    to_grid,
)
from atento.data.series.series import Frequency, SeriesSet
from atento.data.series.series_in_rows import SeriesInRows, find_series_in_rows, read_rows
from atento.data.series.time_columns import Timestamps, in_repeated_hour, read_timestamps
from atento.data.series.typed_table import TypedTable
from atento.data.sources.reading import read_source
from atento.data.tables.formats.arrays import load_arrays, series_in
from atento.data.tables.table import Table
from atento.errors import InputError, nearest
from atento.spec import DataRecipe

# Axes: N series, T time, C channels.

MOST_COLUMNS = 10_000  # that are all looked at
ARRAY_ENDINGS = (".npy", ".npz")


class ReadColumns(NamedTuple):
    """A table, the roles of its columns, and what was read from them."""

    typed: TypedTable
    columns: SeriesColumns
    timestamps: Timestamps | None
    covariates: Covariates


def read_series(recipe: DataRecipe, file: str) -> SeriesSet:
    """The series of a table or of arrays."""
    if Path(inner_name(file)).suffix.lower() in ARRAY_ENDINGS:
        return read_array(recipe, file)
    named = (name for key in COLUMN_KEYS for name in getattr(recipe, key).split(","))
    names = [name.partition(CATEGORY_MARK)[0].strip() for name in named]
    table = read_source(file, header=recipe.header, names=[name for name in names if name], sheet=recipe.sheet)
    if not table.rows:
        raise nothing_left(table.file, table.refused)
    in_rows = None if recipe.time or recipe.target else find_series_in_rows(table)
    if in_rows is not None:
        return series_in_rows(table, in_rows, recipe)
    if len(table.columns) > MOST_COLUMNS and not recipe.target:
        raise InputError(
            f"{table.file}:1: {len(table.columns):,} columns are too many to be forecast together.",
            found=f"the columns {in_words(table.columns, 3)}",
            fix="name those to be forecast: --set data.target=...",
        )
    return series_of(table, recipe)


def series_in_rows(table: Table, form: SeriesInRows, recipe: DataRecipe) -> SeriesSet:
    """The series of a table with a row for each."""
    refused = stop_or_skip(table.refused, recipe.bad_rows, used=len(table.rows))
    read = read_rows(table, form, recipe)
    layout = Layout(table.file, None, read.frequency, (), (read.channel,), ())
    return series_set(read.series, layout, refused=refused, notes=read.notes)


def series_of(table: Table, recipe: DataRecipe, *, forecast: bool = True) -> SeriesSet:
    """The series of a table; notes say that its channels are forecast, or only read."""
    read = read_columns(table, recipe)
    typed, columns, timestamps, covariates = read
    usable, refused = usable_rows(typed, columns, timestamps, covariates, recipe)
    series, names = number_series(typed, columns, usable)
    values = np.stack([typed.numbers(at).values[usable] for at in columns.channels], axis=1)
    on_grid = np.ones(len(series), bool)
    rows = SeriesRows(usable, series, np.zeros_like(series), values, covariates.values[usable], on_grid)
    timestamps, recipe = resample(rows, timestamps, recipe)
    read = read._replace(timestamps=timestamps)
    rows, frequency = time_index(rows, timestamps, table, recipe)
    locator = RowLocator(
        place=lambda row: table.place(row, columns.time[0] if columns.time else 0),
        time_text=lambda row: time_text(typed, columns, row),
        repeated_hour=lambda row: timestamps is not None and in_repeated_hour(timestamps, row, frequency),
    )
    rows, order_notes = sort_by_time(rows, recipe, locator)
    require_on_grid(rows, recipe, locator, frequency_text(frequency))
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
    typed = TypedTable(table, decimal=recipe.decimal)
    columns = find_columns(typed, recipe)
    if not columns.channels:
        raise no_channels(table)
    for at in (*columns.channels, *columns.covariates):
        refuse_doubt(table, at, typed.numbers(at))
    timestamps = read_timestamps(typed, columns.time, to_utc=recipe.timezone == "UTC")
    if timestamps is not None:
        refuse_ambiguous_times(typed, columns, timestamps)
    return ReadColumns(typed, columns, timestamps, read_covariates(typed, columns.covariates, recipe.future_covariates))


def column_notes(read: ReadColumns, recipe: DataRecipe, *, forecast: bool) -> list[str]:
    """Notes on what was found in the table."""
    typed, columns, timestamps, covariates = read
    notes = [*typed.table.notes, *describe_guesses(typed, columns, recipe, forecast=forecast)]
    notes += [*(timestamps.notes if timestamps else ()), *covariates.notes]
    used = (*columns.channels, *covariates.numeric)
    return [*notes, *tell_decided([(typed.name(at), typed.numbers(at)) for at in used])]


def keys_of(read: ReadColumns, frequency: Frequency) -> tuple[tuple[str, str], ...]:
    """The values of data.* with which another file is read in the same way: hours are refused where days were read."""
    name, columns = read.typed.name, read.columns
    parts = {
        "time": map(name, columns.time),
        "series": map(name, columns.series),
        "target": map(name, columns.channels),
        "future_covariates": read.covariates.names,
        "frequency": [str(frequency)] if frequency.unit else [],
        "decimal": decimal_keys([read.typed.numbers(at) for at in columns.channels]),
    }
    joined = ((key, ",".join(names)) for key, names in parts.items())
    return tuple((key, text) for key, text in joined if text)


def decimal_keys(columns: Sequence[NumberCells]) -> list[str]:
    """The value of data.decimal that the separators of all columns show; none where they show nothing."""
    found = {numbers.decimal for numbers in columns if numbers.decimal}
    return [key for key, sign in DECIMALS.items() if {sign} == found]


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
