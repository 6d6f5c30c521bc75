"""Writing of tables: CSV, TSV, JSONL, Parquet and, for tagged words, CoNLL, by the suffix of the file's name."""

import csv
import io
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from atento.data.records import LIST_SEPARATOR
from atento.data.tables.annotating import plain_text
from atento.data.text.words import split_words
from atento.errors import InputError, unknown_name
from atento.extras import require_extra
from atento.writing import write_atomically

Columns = Mapping[str, Sequence[Any]]


def as_csv(columns: Columns) -> bytes:
    """The table as CSV, quoted where needed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):  # a lone \r is not quoted by csv, yet ends a line when read
        writer.writerow([plain_text(cell) for cell in row])
    return text.getvalue().encode()


def as_tsv(columns: Columns) -> bytes:
    """The table as TSV; a tab or line break in a cell becomes a space, since TSV has no quotes."""
    spaces = str.maketrans("\t\n", "  ")
    plain = {name: [plain_text(cell).translate(spaces) for cell in cells] for name, cells in columns.items()}
    lines = ["\t".join(plain), *("\t".join(row) for row in zip(*plain.values(), strict=True))]
    return ("\n".join(lines) + "\n").encode()


def as_jsonl(columns: Columns) -> bytes:
    """The table as JSON Lines, one object a line."""
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def as_parquet(columns: Columns) -> bytes:
    """The table as Parquet, with the types of its values."""
    require_extra("parquet", "writing a Parquet file", instead="write a .csv, .tsv or .jsonl file")
    import pyarrow
    import pyarrow.parquet

    sink = io.BytesIO()
    table = pyarrow.table({name: list(cells) for name, cells in columns.items()})
    pyarrow.parquet.write_table(table, sink)
    return sink.getvalue()


def as_conll(columns: Columns) -> bytes:
    """The table as CoNLL: one word per line with its tags, the predicted one last, a blank line after each sentence."""
    predicted = next((name for name in reversed(list(columns)) if name.startswith("prediction")), "")
    tags = [plain_text(cell).split() for cell in columns.get(predicted, ())]
    others = [[plain_text(cell) for cell in cells] for name, cells in columns.items() if name != predicted]
    lists = [cells for cells in others if any(LIST_SEPARATOR in cell for cell in cells)] or others[:1]
    parts = [[split_words(cell) for cell in cells] for cells in lists]
    lengths = [len(row) for row in tags]
    aligned = [rows for rows in parts if [len(row) for row in rows] == lengths]
    if not predicted or not aligned:
        raise InputError(
            "a CoNLL file has one word per line, and here no column has as many words as there are tags.",
            found=f"the columns {', '.join(columns)}",
            fix="write a .tsv or a .jsonl file",
        )
    sentences = zip(*aligned, tags, strict=True)
    return "".join(
        "".join("\t".join(line) + "\n" for line in zip(*fields, strict=True)) + "\n" for fields in sentences
    ).encode()


WRITERS: dict[str, Callable[[Columns], bytes]] = {
    ".csv": as_csv,
    ".tsv": as_tsv,
    ".jsonl": as_jsonl,
    ".parquet": as_parquet,
}

TAG_WRITERS: dict[str, Callable[[Columns], bytes]] = {".conll": as_conll}  # for tables of words and tags only


def find_writer(path: Path) -> Callable[[Columns], bytes]:
    """The writer for a path, by its suffix; called before any work is done, so that a wrong path is reported early."""
    known = {**WRITERS, **TAG_WRITERS}
    if path.suffix.lower() not in known:
        raise unknown_name("table format", path.suffix or path.name, known, where=f"--out {path}")
    require_folder(path)
    return known[path.suffix.lower()]


def require_folder(path: Path) -> None:
    """Refuse a path whose folder does not exist."""
    if not path.parent.is_dir():
        raise InputError(
            f"--out {path}: there is no such folder.",
            found=str(path.parent),
            fix=f"mkdir -p {shlex.quote(str(path.parent))}",
        )


def write_table(path: Path, columns: Columns) -> None:
    """Write a table; the file is replaced as a whole or not at all."""
    write_atomically(path, find_writer(path)(columns))
