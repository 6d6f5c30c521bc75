"""A file given back with new columns: all that stood in it stays as it was, and what is new stands at the end of each
row, in the file's own encoding, line ends, delimiter, quotes and decimal sign.
"""

import codecs
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from unicodedata import normalize

from atento.data.files.encodings import decode
from atento.data.files.opening import normalise_newlines, read_bytes
from atento.data.numbers.dialects import decimal_of_table
from atento.data.tables.sniffing import WORD_ID, kind_by_name
from atento.data.tables.table import Table

END = 2**31  # the number of a column after the last: its place is the end of the row
LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}  # UTF-32 first: the mark of UTF-16 begins like its own
SAMPLE = 1000  # rows in which the decimal sign is looked for
NOTHING = "_"  # what CoNLL-U writes where there is no value

Added = Mapping[str, Sequence[Any]]  # name -> a value for each row of the table; None where a row has none


class FileDialect(NamedTuple):
    """How a file writes text."""

    mark: bytes = b""  # byte order mark
    encoding: str = "utf-8"
    newline: str = "\n"
    delimiter: str = ","
    decimal: str = "."
    quoted: bool = False  # whether a field may stand between quotes
    quotes_texts: bool = False  # whether every text does
    quotes_all: bool = False  # whether every field does

    def cell(self, value: Any) -> str:
        """A value as a field of a row."""
        is_text = isinstance(value, str)
        text = plain_text(value, self.decimal)
        if not self.quoted:
            return " ".join(text.replace(self.delimiter, " ").split("\n"))
        needed = any(sign in text for sign in (self.delimiter, '"', "\n"))
        if needed or self.quotes_all or (is_text and self.quotes_texts):
            return '"' + text.replace('"', '""') + '"'
        return text

    def can_write(self, text: str) -> bool:
        """Whether the encoding has every character of a text."""
        return text.encode(self.encoding, "ignore").decode(self.encoding) == text

    def encode(self, text: str) -> bytes:
        """The bytes of a text; in UTF-8 with a mark where the encoding lacks a character."""
        return self.mark + text.encode(self.encoding) if self.can_write(text) else codecs.BOM_UTF8 + text.encode()


def plain_text(value: Any, decimal: str = ".") -> str:
    """A value as text: nothing for None, JSON for lists and objects, numbers with this decimal sign."""
    if value is None:
        return ""
    if isinstance(value, str):
        return normalise_newlines(value)
    if isinstance(value, list | dict | bool):
        return json.dumps(value, ensure_ascii=False)
    return str(value).replace(".", decimal)


@dataclass
class RawFile:
    """The lines of a file as they are, with their line ends, and what is to be inserted in them."""

    lines: list[str]
    ends: list[str]
    dialect: FileDialect

    def insert(self, line: int, column: int, text: str) -> None:
        """Insert at a place, both from 1; on one line from right to left."""
        before = self.lines[line - 1]
        self.lines[line - 1] = before[: column - 1] + text + before[column - 1 :]

    def content(self) -> str:
        """The whole text."""
        return "".join(line + end for line, end in zip(self.lines, self.ends, strict=True))


def annotate(path: str, table: Table, added: Added, *, decimal: str = "") -> tuple[str, FileDialect] | None:
    """The text of a file with the added columns, and how to encode it; None where the file has no form for them.
    `decimal`: the decimal sign that the user named.
    """
    if table.kind not in ("csv", "tsv", "jsonl", "conll", "text", "lines"):
        return None
    raw = open_raw(path, table, decimal=decimal)
    if raw is None:
        return None
    if table.kind == "jsonl":
        done = add_keys(raw, table, added)
    elif table.kind == "conll":
        done = add_tags(raw, table, next(iter(added.items())), header=kind_by_name(path) in ("csv", "tsv"))
    else:
        done = add_fields(raw, table, added)
    return (raw.content(), raw.dialect) if done else None


def open_raw(path: str, table: Table, *, decimal: str = "") -> RawFile | None:
    """A text file as it is; None for one that has no text."""
    data = read_bytes(path)
    text, encoding, _ = decode(data, path)
    found = LINE.findall(text)
    lines = [line for line, end in found if line or end]
    ends = [end for line, end in found if line or end]
    mark = next((mark for mark in MARKS if data.startswith(mark)), b"")
    newline = max(("\n", "\r\n", "\r"), key=ends.count)
    dialect = FileDialect(mark, MARKS.get(mark, encoding), newline, delimiter_in(lines, table))
    delimits = any(dialect.delimiter in line for line in lines)  # not so in a file of one column
    dialect = dialect._replace(decimal=decimal or decimal_sign(table, dialect.delimiter if delimits else ","))
    return RawFile(lines, ends, with_quotes(dialect, lines, table)) if lines else None


def dialect_of(path: str, table: Table, *, decimal: str = "") -> FileDialect:
    """How a file writes text; for what is written anew beside it."""
    raw = open_raw(path, table, decimal=decimal) if table.kind in ("csv", "tsv") else None
    return raw.dialect if raw is not None else FileDialect(quoted=True)


def delimiter_in(lines: Sequence[str], table: Table) -> str:
    """What stands between two fields."""
    if table.kind == "csv":
        return table.delimiter
    if table.kind == "conll":
        first = lines[table.lines[0] - 1] if table.lines else "\t"
        return next((sign for sign in ("\t", ";", ",") if sign in first.strip()), " ")
    return "\t"


def with_quotes(dialect: FileDialect, lines: Sequence[str], table: Table) -> FileDialect:
    """The dialect with what header and first row show of quotes."""
    text = "".join(lines)
    quoted = table.kind == "csv" or (table.kind == "tsv" and '""' in text)
    heads = [row_text(lines, table, line) for line in (header_line(lines, table), *table.lines[:1]) if line]
    closed = [all_quoted(line, dialect.delimiter) for line in heads]
    return dialect._replace(
        quoted=quoted, quotes_texts=quoted and bool(closed) and closed[0], quotes_all=quoted and all(closed)
    )


def decimal_sign(table: Table, delimiter: str) -> str:
    """The decimal sign of a file: that of its numbers; where none tells, a comma if semicolons delimit, as a
    spreadsheet writes them where commas are decimals.
    """
    if table.kind not in ("csv", "tsv"):
        return "."
    return decimal_of_table(zip(*table.rows[:SAMPLE], strict=True)) or ("," if delimiter == ";" else ".")


def row_text(lines: Sequence[str], table: Table, first: int) -> str:
    """The text of the row that begins on a line; a field between quotes may hold line breaks."""
    last = table.locate(first, END).line if table.kind in ("csv", "tsv") else first
    return "\n".join(lines[first - 1 : last])


def all_quoted(line: str, delimiter: str) -> bool:
    """Whether every field of a line stands between quotes."""
    return bool(line) and re.fullmatch(rf'"[^"]*"(?:{re.escape(delimiter)}"[^"]*")*', line) is not None


def header_line(lines: Sequence[str], table: Table) -> int:
    """The line, from 1, with the names of the columns; 0 where there is none."""
    if not table.header or table.kind not in ("csv", "tsv", "conll"):
        return 0
    above = lines[: table.lines[0] - 1] if table.lines else lines
    named = [sum(normalize("NFC", name) in line for name in table.columns) for line in above]
    return max(range(len(above)), key=lambda at: (named[at], -at)) + 1 if above and max(named) else 0


def add_fields(raw: RawFile, table: Table, added: Added) -> bool:
    """New fields at the end of each row, and their names at the end of the header."""
    dialect = raw.dialect
    if (
        len(table.columns) > 1
        and table.kind == "csv"
        and dialect.delimiter not in row_text(raw.lines, table, table.lines[0])
    ):
        return False  # a table ruled or aligned in another way
    rows = [(line, [values[at] for values in added.values()]) for at, line in enumerate(table.lines)]
    header = header_line(raw.lines, table)
    if header:
        rows.insert(0, (header, list(added)))
    for line, values in reversed(rows):
        of_line = table.kind in ("text", "lines")
        _, last, column = (table.file, line, len(raw.lines[line - 1]) + 1) if of_line else table.locate(line, END)
        raw.insert(last, column, "".join(dialect.delimiter + dialect.cell(value) for value in values))
    return True


def add_tags(raw: RawFile, table: Table, tags: tuple[str, Sequence[Any]], *, header: bool) -> bool:
    """The tag of each word at the end of its line; the lines of other kinds stay as they are."""
    name, values = tags
    delimiter, dialect = raw.dialect.delimiter, raw.dialect._replace(quoted=header)
    for line, sentence in zip(table.lines, values, strict=True):
        wanted = iter(sentence.split() if isinstance(sentence, str) else sentence or ())
        for at in word_lines(raw, table, line):
            is_word = table.columns[0] != "form" or raw.lines[at - 1].partition("\t")[0].isdigit()
            tag = next(wanted, None) if is_word else NOTHING
            if tag is None:
                break
            raw.insert(at, len(raw.lines[at - 1].rstrip()) + 1, delimiter + dialect.cell(tag))
    first = header_line(raw.lines, table) if header else 0
    if first:
        raw.insert(first, len(raw.lines[first - 1]) + 1, delimiter + dialect.cell(name))
    return True


def word_lines(raw: RawFile, table: Table, first: int) -> Iterator[int]:
    """The lines of a sentence from its first word on, up to a blank line."""
    for at in range(first, len(raw.lines) + 1):
        if not raw.lines[at - 1].strip():
            return
        if table.columns[0] != "form" or WORD_ID.match(raw.lines[at - 1]):
            yield at


def closes(raw: RawFile, line: int, column: int) -> bool:
    """Whether a bracket that ends a row stands at a place."""
    return line <= len(raw.lines) and raw.lines[line - 1][column - 1 : column] in ("}", "]")


def add_keys(raw: RawFile, table: Table, added: Added) -> bool:
    """New keys at the end of each object, or new items at the end of each list."""
    places = [table.locate(line, END) for line in table.lines]
    if not all(closes(raw, line, column) for _, line, column in places):
        return False  # rows that share a line
    ascii_only = any("\\u" in line for line in raw.lines) and all(line.isascii() for line in raw.lines)
    spaced = any('": ' in line for line in raw.lines)
    for at in reversed(range(len(places))):
        _, line, column = places[at]
        items = [(name, json.dumps(values[at], ensure_ascii=ascii_only)) for name, values in added.items()]
        keyed = raw.lines[line - 1][column - 1] == "}"
        colon, comma = (": ", ", ") if spaced else (":", ",")
        new = [
            f"{json.dumps(name, ensure_ascii=ascii_only)}{colon}{value}" if keyed else value for name, value in items
        ]
        put = len(raw.lines[line - 1][: column - 1].rstrip())
        if put or line == 1:
            raw.insert(line, put + 1, comma + comma.join(new))
        else:  # the bracket stands on a line of its own, as in an indented document
            before, indent = line - 2, re.match(r"\s*", raw.lines[line - 2])
            margin = indent.group() if indent else ""
            end = raw.ends[before]
            raw.lines[before] = raw.lines[before].rstrip() + "".join(f",{end}{margin}{item}" for item in new)
    return True
