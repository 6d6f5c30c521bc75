"""Tables to files: CSV, TSV, JSONL, Parquet or, of tagged words, CoNLL by the name given."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from atento.data.records import BETWEEN
from atento.data.text.words import words_of
from atento.errors import InputError, MachineError, unknown_name

Columns = Mapping[str, Sequence[Any]]


def as_csv(columns: Columns) -> bytes:
    """Quoted where needed."""
    return delimited(columns, ",")


def as_tsv(columns: Columns) -> bytes:
    """Tabs between; a tab or line break inside a cell becomes a space, since TSV has no quotes."""
    spaces = str.maketrans("\t\n", "  ")
    plain = {name: [plain_breaks(str(cell)).translate(spaces) for cell in cells] for name, cells in columns.items()}
    lines = ["\t".join(plain), *("\t".join(row) for row in zip(*plain.values(), strict=True))]
    return ("\n".join(lines) + "\n").encode()


def as_jsonl(columns: Columns) -> bytes:
    """One object a line."""
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def as_parquet(columns: Columns) -> bytes:
    """Text stays text, numbers stay numbers."""
    import pyarrow
    import pyarrow.parquet

    sink = io.BytesIO()
    table = pyarrow.table({name: list(cells) for name, cells in columns.items()})
    pyarrow.parquet.write_table(table, sink)
    return sink.getvalue()


def delimited(columns: Columns, delimiter: str) -> bytes:
    """A header and rows."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow([plain_breaks(cell) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue().encode()


def plain_breaks(cell: str) -> str:
    """One kind of line break: a lone carriage return is not quoted by the csv module, yet ends a line when read."""
    return cell.replace("\r\n", "\n").replace("\r", "\n")


def as_conll(columns: Columns) -> bytes:
    """One word a line with its tags, the predicted one last, and a blank line after each sentence."""
    predicted = next((name for name in reversed(list(columns)) if name.startswith("prediction")), "")
    tags = [str(cell).split() for cell in columns.get(predicted, ())]
    others = [[str(cell) for cell in cells] for name, cells in columns.items() if name != predicted]
    lists = [cells for cells in others if any(BETWEEN in cell for cell in cells)] or others[:1]
    parts = [[words_of(cell) for cell in cells] for cells in lists]
    lengths = [len(row) for row in tags]
    aligned = [rows for rows in parts if [len(row) for row in rows] == lengths]
    if not predicted or not aligned:
        raise InputError(
            "a CoNLL file has one word a line, and here no column has as many words as there are tags.",
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

OF_WORDS: dict[str, Callable[[Columns], bytes]] = {".conll": as_conll}  # tables of words and their tags alone


def find_writer(path: Path) -> Callable[[Columns], bytes]:
    """By the end of the name; asked before any work is done."""
    known = {**WRITERS, **OF_WORDS}
    if path.suffix.lower() not in known:
        raise unknown_name("table format", path.suffix or path.name, known, where=f"--out {path}")
    if not path.parent.is_dir():
        raise InputError(f"--out {path}: there is no such folder.", found=str(path.parent), fix="make the folder first")
    return known[path.suffix.lower()]


def write_table(path: Path, columns: Columns) -> None:
    """Whole or not at all."""
    content = find_writer(path)(columns)
    beside = path.with_name(path.name + ".tmp")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise MachineError(f"{path} could not be written.", found=str(error), fix="choose another --out") from None
