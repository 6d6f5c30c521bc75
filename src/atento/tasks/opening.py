"""A file to be answered: its columns as they are, and the source of each row that has one."""

from collections.abc import Callable

from atento.data.pairs import read_source
from atento.data.records import Refusal, stop_or_skip
from atento.data.tables import Table
from atento.spec import DataRecipe
from atento.tasks.task import Opened

SourceOf = Callable[[int], str | Refusal]  # the number of a row -> its source, or why it has none


def open_rows(recipe: DataRecipe, table: Table, source_of: SourceOf) -> Opened:
    """All columns of the rows that have a source; the other rows are refused."""
    found = [source_of(at) for at in range(len(table.rows))]
    refused = stop_or_skip([*table.refused, *(one for one in found if isinstance(one, Refusal))], recipe.bad_rows)
    kept = [(cells, one) for cells, one in zip(table.rows, found, strict=True) if isinstance(one, str)]
    columns = {name: [cells[place] for cells, _ in kept] for place, name in enumerate(table.columns)}
    return Opened(columns, [one for _, one in kept], refused)


def read_to_answer(recipe: DataRecipe, file: str, names: tuple[str, ...]) -> Table:
    """The table of a file whose answers are wanted; names are columns the user asked for."""
    return read_source(file, header=recipe.header, names=[name for name in names if name])
