"""A table whose columns are read as numbers, codes or dates when first needed."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from atento.data.columns.numbers import around_columns
from atento.data.numbers.reading import Around, NumberCells, read_numbers
from atento.data.series.series import Integers
from atento.data.series.timestamps import are_timestamps
from atento.data.tables.table import Table

LENGTH_OF_MONTH = len("03.2021")
SAMPLE = 200  # cells by which the type of a column is recognised
MIN_SHARE = 0.9  # of them that must have the type


class TypedTable:
    """A table with typed columns, which are numbered from 0."""

    def __init__(self, table: Table, *, decimal: str = "") -> None:
        self.table = table
        self.decimal = decimal  # the key data.decimal: point, comma, or empty
        self.numbers_read: dict[int, NumberCells] = {}
        self.codes_read: dict[int, Integers] = {}

    @cached_property
    def columns(self) -> list[tuple[str, ...]]:
        """The cells of each column."""
        return list(zip(*self.table.rows, strict=True)) if self.table.rows else [() for _ in self.table.columns]

    def __len__(self) -> int:
        return len(self.table.rows)

    def name(self, at: int) -> str:
        """The name of a column."""
        return self.table.columns[at]

    @cached_property
    def around(self) -> Around:
        """What decides the dialect of a column of numbers besides its cells."""
        return around_columns(self.table, self.decimal, map(self.sample, range(len(self.columns))))

    def numbers(self, at: int) -> NumberCells:
        """A column as numbers."""
        if at not in self.numbers_read:
            self.numbers_read[at] = read_numbers(self.columns[at], self.around)
        return self.numbers_read[at]

    def codes(self, at: int) -> Integers:
        """A column as integer codes: its distinct cells are numbered in the order of the file."""
        if at not in self.codes_read:
            known: dict[str, int] = {}
            codes = [known.setdefault(cell.strip(), len(known)) for cell in self.columns[at]]
            self.codes_read[at] = np.array(codes, np.int64)
        return self.codes_read[at]

    def distinct(self, at: int) -> int:
        """The number of distinct cells of a column."""
        return len(set(self.columns[at]))

    def sample(self, at: int) -> list[str]:
        """Evenly spaced cells of a column that are not empty."""
        cells = self.columns[at][:: 1 + len(self) // SAMPLE]
        return [cell for cell in cells if cell.strip()]

    def is_dates(self, at: int) -> bool:
        """Whether a column holds dates, by a sample."""
        cells = self.sample(at)
        if are_plain_numbers(cells):
            return False
        cells = [cell for cell in cells if not cell.strip().isdigit()]
        return are_timestamps(cells, MIN_SHARE) and len(cells) >= MIN_SHARE * len(self.sample(at))

    def is_numeric(self, at: int) -> bool:
        """Whether a column holds numbers; by a sample first, because a column of texts takes longest."""
        few = len(self) <= SAMPLE or read_numbers(self.sample(at), self.around).is_numeric
        return few and self.numbers(at).is_numeric


def are_plain_numbers(cells: Sequence[str]) -> bool:
    """Whether cells are numbers that no date is written like, a first look: `03.2021` may be a month."""
    try:
        values = list(map(float, cells))
    except ValueError:
        return False
    return bool(values) and not all(len(cell.strip()) == LENGTH_OF_MONTH for cell in cells)
