"""Parquet to rows. The line of a row is its number, the column of a cell the number of its column."""

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as arrow_parquet

from atento.data.records import Place, Records, Refusal, Row, collect, join_items
from atento.errors import InputError, is_machine_fault

READ_ERRORS = (arrow.ArrowException, OSError, ValueError, TypeError, OverflowError)


def read_parquet(data: bytes, file: str) -> Records:
    """The rows of a Parquet file, all values as text; a missing value is empty."""
    try:
        table = arrow_parquet.ParquetFile(arrow.BufferReader(data), page_checksum_verification=True).read()
        table.validate(full=True)
        columns = [timestamps_as_text(column) or texts(column.to_pylist()) for column in table.columns]
        names = tuple(str(name) for name in table.column_names)
    except READ_ERRORS as error:
        if is_machine_fault(error):
            raise
        raise InputError(
            f"{file}:1:1: this cannot be read as Parquet.",
            found=str(error).split("\n")[0][:120] or type(error).__name__,
            fix="write the file again, or give it as CSV or JSONL",
        ) from None

    def checked(row: int, cells: Row) -> Row | Refusal:
        nul = next((at for at, cell in enumerate(cells) if "\0" in cell), -1)
        problem = f"the text in {names[nul]!r} holds a NUL character."
        return cells if nul < 0 else Refusal(file, row, nul + 1, problem, found="0x00", fix="remove it")

    rows, lines, refused = collect(
        (row, checked(row, cells)) for row, cells in enumerate(zip(*columns, strict=True), 1)
    )
    return Records(names, rows, lines, refused, lambda line, at: Place(file, line, at + 1))


def timestamps_as_text(column: arrow.ChunkedArray) -> list[str]:
    """Timestamps as `2016-07-31 14:00:00`, a missing one empty; an empty list for other types and for time zones."""
    if not arrow.types.is_timestamp(column.type) or column.type.tz is not None:
        return []
    exact = column.cast(arrow.timestamp("us"), safe=False).to_numpy().astype("datetime64[us]")
    whole = exact.astype("datetime64[s]")
    written = np.datetime_as_string(whole if (whole == exact)[~np.isnat(exact)].all() else exact)
    return ["" if one == "NaT" else one.replace("T", " ") for one in written.tolist()]


def texts(values: list[object]) -> list[str]:
    """Values as texts; lists with tabs between their items."""
    return [items(value) if isinstance(value, list) else text(value) for value in values]


def items(values: list[object]) -> str:
    """A list with tabs between its items; inner lists with spaces between theirs, and `nan` for a missing value."""
    if not any(isinstance(value, list) for value in values):
        return join_items(texts(values))
    lists = [value if isinstance(value, list) else [value] for value in values]
    return join_items(" ".join("nan" if item is None else text(item) for item in each) for each in lists)


def text(value: object) -> str:
    """A value as text; a missing one is empty."""
    return value if isinstance(value, str) else "" if value is None else str(value)
