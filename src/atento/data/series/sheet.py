"""A table whose columns are read as numbers or times when they are first asked for."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from atento.data.series.number_cells import NumberCells, has_commas, read_numbers
from atento.data.series.stamps import are_stamps
from atento.data.tables import Table

SAMPLE = 200  # cells by which the form of a column is told
SHARE = 0.9  # of them that must be of one form


class Sheet:
    """The columns of a table."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.numbers_read: dict[int, NumberCells] = {}
        self.codes_read: dict[int, NDArray[np.int64]] = {}

    @cached_property
    def columns(self) -> list[tuple[str, ...]]:
        """The cells column by column."""
        return list(zip(*self.table.rows, strict=True)) if self.table.rows else [() for _ in self.table.columns]

    def __len__(self) -> int:
        return len(self.table.rows)

    def name(self, at: int) -> str:
        """What a column is called."""
        return self.table.columns[at]

    @cached_property
    def commas(self) -> bool:
        """Whether commas are decimal ones: where semicolons part the cells, or where some column shows it."""
        return self.table.delimiter == ";" or any(has_commas(self.sample(at)) for at in range(len(self.columns)))

    def numbers(self, at: int) -> NumberCells:
        """A column as numbers."""
        if at not in self.numbers_read:
            self.numbers_read[at] = read_numbers(self.columns[at], commas=self.commas)
        return self.numbers_read[at]

    def codes(self, at: int) -> NDArray[np.int64]:
        """Which of its different cells each cell of a column is, by the order in which they come."""
        if at not in self.codes_read:
            known: dict[str, int] = {}
            self.codes_read[at] = np.array(
                [known.setdefault(cell.strip(), len(known)) for cell in self.columns[at]], np.int64
            )
        return self.codes_read[at]

    def distinct(self, at: int) -> int:
        """How many different cells a column has."""
        return len(set(self.columns[at]))

    def sample(self, at: int) -> list[str]:
        """Cells of a column from all over it, those that hold anything."""
        cells = self.columns[at][:: 1 + len(self) // SAMPLE]
        return [cell for cell in cells if cell.strip()]

    def is_dates(self, at: int) -> bool:
        """Whether a column is written as dates are."""
        cells = [cell for cell in self.sample(at) if not cell.strip().isdigit()]
        return are_stamps(cells, SHARE) and len(cells) >= SHARE * len(self.sample(at))

    def is_numeric(self, at: int) -> bool:
        """Whether a column holds numbers; by a sample first, for a column of texts costs most."""
        return read_numbers(self.sample(at), commas=self.commas).is_numeric and self.numbers(at).is_numeric
