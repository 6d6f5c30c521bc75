"""Decimal commas of a table whose cells are parted by semicolons, written as points."""

from dataclasses import replace

from atento.data.records import in_words
from atento.data.series.number_cells import read_numbers
from atento.data.tables import Table


def with_points(table: Table) -> Table:
    """The table with points for commas in columns of numbers; as it is where no semicolons part the cells."""
    if table.delimiter != ";":
        return table
    found = [read_numbers([row[at] for row in table.rows], commas=True) for at in range(len(table.columns))]
    commas = {at for at, cells in enumerate(found) if cells.commas and cells.is_numeric}
    if not commas:
        return table
    rows = tuple(
        tuple(cell.replace(",", ".") if at in commas else cell for at, cell in enumerate(row)) for row in table.rows
    )
    note = f"decimals are written with commas in {in_words([repr(table.columns[at]) for at in sorted(commas)])}"
    return replace(table, rows=rows, notes=(*table.notes, note), delimiter=",")
