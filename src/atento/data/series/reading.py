"""From a file to a set of series: columns, times, order, twins, gaps, numbers. Every row is used or listed."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.pairs import nothing_left
from atento.data.records import in_words, stop_or_skip
from atento.data.series.arrays import is_array, read_array
from atento.data.series.assembling import Layout, assemble
from atento.data.series.casting import KEYS, Cast, find_cast, told
from atento.data.series.clock import Clock, set_back
from atento.data.series.covariates import MARK, Covariates, read_covariates
from atento.data.series.faults import judge, no_channels, refuse_unclear, written
from atento.data.series.filling import Cells, fill
from atento.data.series.grid import Rows, Telling, in_order, lay_out, on_steps, without_twins
from atento.data.series.placing import at_steps
from atento.data.series.series import SeriesSet, Step
from atento.data.series.series_columns import combined
from atento.data.series.sheet import Sheet
from atento.data.series.steps import said
from atento.data.series.time_columns import read_clock
from atento.data.series.variables import BETWEEN
from atento.data.sources import read_source
from atento.data.tables import Table
from atento.spec import DataRecipe

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
