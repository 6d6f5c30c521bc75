"""Predictions given back: the user's own file with new columns beside its own, or a table in another format.

With a file name of the same format the file comes back as it was, with the new columns; any other suffix says another
format, in which values keep their types.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from atento.data.files.archives import is_zip
from atento.data.files.opening import inner_name, read_bytes
from atento.data.sources.reading import read_source
from atento.data.tables.annotating import Added, FileDialect, annotate, dialect_of, open_raw
from atento.data.tables.sniffing import kind_by_name
from atento.data.tables.table import Table
from atento.data.tables.writing import find_writer, require_folder
from atento.errors import InputError
from atento.writing import write_atomically

Columns = Mapping[str, Sequence[Any]]


class Returned(NamedTuple):
    """A text to give back, how it is encoded, and the format of it; no format: a table in CSV for the terminal."""

    text: str
    dialect: FileDialect
    kind: str = ""


def require_output(out: Path, file: str) -> None:
    """Refuse an output that cannot be written, or that is the input itself, before any work is done."""
    if out.exists() and Path(file).exists() and out.samefile(file):
        raise InputError(
            f"--out {out} is the input itself, which is never written over.",
            found=file,
            fix=f"--out {out.with_stem(out.stem + '-predicted')}",
        )
    if suffix_of(file) == out.suffix.lower() and is_own(file):
        require_folder(out)
    else:
        find_writer(out)


def suffix_of(file: str) -> str:
    """The suffix of a file's name, without that of compression."""
    return Path(inner_name(file)).suffix.lower()


def is_own(file: str) -> bool:
    """Whether a name is that of one text file, which can be given back."""
    return Path(file).is_file() and not is_zip(file) and kind_by_name(file) not in ("npz", "npy", "xlsx", "parquet")


def returned(file: str, table: Table | None, columns: Columns, added: Added, *, decimal: str = "") -> Returned:
    """The file with the added columns; where it has no such form, a table of all columns in CSV."""
    own = annotate(file, table, added, decimal=decimal) if table is not None and is_own(file) else None
    if own is not None and table is not None:
        return Returned(*own, table.kind)
    return Returned(delimited({**columns, **added}, FileDialect(quoted=True)), FileDialect(quoted=True))


def as_table(file: str, columns: Columns, *, decimal: str = "") -> Returned:
    """A table that is no annotation of the file's rows, written as the file is where that is CSV or TSV."""
    table = None
    if is_own(file) and kind_by_name(file) in ("csv", "tsv", None):
        with suppress(InputError):
            table = read_source(file)
        if table is not None and table.kind in ("csv", "tsv", "sequences"):
            dialect = dialect_of(file, table, decimal=decimal)
            return Returned(delimited(columns, dialect), dialect, "csv" if table.kind == "sequences" else table.kind)
    return Returned(delimited(columns, FileDialect(quoted=True)), FileDialect(quoted=True))


def delimited(columns: Columns, dialect: FileDialect) -> str:
    """A table with a header, in a dialect of CSV."""
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    return "".join(dialect.delimiter.join(map(dialect.cell, row)) + dialect.newline for row in rows)


def write_returned(
    out: Path, file: str, table: Table | None, columns: Columns, added: Added, written: Returned
) -> list[str]:
    """Write predictions by the suffix of the name; a note where another encoding had to be taken."""
    same = written.kind and (out.suffix.lower() == suffix_of(file) or kind_by_name(out.name) == written.kind)
    if not same:
        typed = typed_columns(file, table) if out.suffix.lower() in (".jsonl", ".parquet") else None
        write_atomically(out, find_writer(out)(with_refused(table, {**(typed or columns), **added})))
        return []
    dialect = written.dialect
    write_atomically(out, dialect.encode(written.text))
    if dialect.can_write(written.text):
        return []
    return [f"{out} is written in UTF-8: {dialect.encoding} has not all characters of the predictions"]


def with_refused(table: Table | None, columns: Columns) -> Columns:
    """The columns with an empty row for each row of the file that could not be read at all, in its place."""
    lost = [one.line for one in table.refused if not one.is_blank and one.line not in table.lines] if table else []
    if table is None or not lost or len(next(iter(columns.values()))) != len(table.lines):
        return columns
    order = sorted([*((line, at) for at, line in enumerate(table.lines)), *((line, -1) for line in lost)])
    return {name: [values[at] if at >= 0 else None for _, at in order] for name, values in columns.items()}


def typed_columns(file: str, table: Table | None) -> dict[str, list[Any]] | None:
    """The columns of a JSON or Parquet file with the types that its values have there; None of other files."""
    if table is None or not Path(file).is_file():
        return None
    if table.kind == "parquet":
        import pyarrow
        import pyarrow.parquet

        read = pyarrow.parquet.read_table(pyarrow.BufferReader(read_bytes(file)))
        whole = {str(name): column.to_pylist() for name, column in zip(read.column_names, read.columns, strict=True)}
        return {name: [values[line - 1] for line in table.lines] for name, values in whole.items()}
    objects = json_rows(file, table) if table.kind == "jsonl" else None
    if objects is None:
        return None
    names = dict.fromkeys(name for row in objects for name in row)
    return {name: [row.get(name) for row in objects] for name in names}


def json_rows(file: str, table: Table) -> list[dict[str, Any]] | None:
    """The objects of a JSON file in the order of the table's rows; None where they are no objects."""
    raw = open_raw(file, table)
    if raw is None:
        return None
    try:
        found = [json.loads(raw.lines[line - 1]) for line in table.lines]
    except (ValueError, IndexError):  # one document rather than a row per line
        document = json.loads(raw.content())
        lists = (
            [document] if isinstance(document, list) else [one for one in document.values() if isinstance(one, list)]
        )
        found = next((one for one in lists if len(one) == len(table.rows)), [])
    return found if found and all(isinstance(row, dict) for row in found) else None
