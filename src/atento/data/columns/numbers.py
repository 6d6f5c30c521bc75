"""Columns of numbers in a table: what decides how they are written, and the table with plain numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from atento.data.numbers.dialects import decimal_of_table
from atento.data.numbers.reading import DECIMALS, Around, NumberCells, read_numbers, tell_decided, write_plain
from atento.data.tables.table import Table
from atento.errors import InputError

SAMPLE = 200  # cells of each other column that are looked at


def around_columns(table: Table, decimal: str, samples: Iterable[Sequence[str]] | None = None) -> Around:
    """What decides the dialect of any column besides its cells; `decimal` is the key data.decimal."""
    rows = table.rows[:: 1 + len(table.rows) // SAMPLE]
    if samples is None:
        samples = zip(*rows, strict=True)
    delimiter = {"csv": table.delimiter, "tsv": "\t", "text": "\n", "spaced": " ", "ruled": "|"}.get(table.kind, "")
    return Around(DECIMALS[decimal], decimal_of_table(samples), delimiter)


def column_numbers(table: Table, at: int, decimal: str) -> NumberCells:
    """The numbers of a column; an error where they can be read in two ways."""
    numbers = read_numbers([row[at] for row in table.rows], around_columns(table, decimal))
    refuse_doubt(table, at, numbers)
    return numbers


def refuse_doubt(table: Table, at: int, numbers: NumberCells) -> None:
    """Refuse a column whose numbers can be read in two ways, at the first of its cells."""
    if numbers.doubt is None:
        return
    problem, found, fix, choices = numbers.doubt
    file, line, column = table.place(int(np.argmax(~numbers.empty)), at)
    where = f"{file}:{line}:{column}: {problem.format(repr(table.columns[at]))}"
    raise InputError(where, found=found, fix=fix, choices=choices)


def with_plain_numbers(table: Table, columns: Sequence[int], decimal: str) -> Table:
    """A table whose columns of numbers are written as Python writes them, missing ones as `nan`, with notes."""
    around = around_columns(table, decimal)
    read = {at: read_numbers([row[at] for row in table.rows], around) for at in columns}
    changed = {at: numbers for at, numbers in read.items() if numbers.is_numeric and not numbers.is_plain}
    if not changed:
        return table
    written = {at: write_plain([row[at] for row in table.rows], numbers) for at, numbers in changed.items()}
    rows = tuple(
        tuple(written[at][number] if at in written else cell for at, cell in enumerate(row))
        for number, row in enumerate(table.rows)
    )
    for at, numbers in changed.items():
        refuse_doubt(table, at, numbers)
    notes = tell_decided([(table.columns[at], numbers) for at, numbers in sorted(changed.items())])
    return replace(table, rows=rows, notes=(*table.notes, *notes))
