"""CSV, TSV and plain lines to rows, with the line and column of every field."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from atento.data.records import Place, Records, Refusal, blank, collect, counted, excerpt, in_words, without_blank_end

DELIMITER_NAMES = {",": "comma", ";": "semicolon", "|": "bar", "\t": "tab", " ": "space"}
BACKSLASH_QUOTE = re.compile(r'(?<!\\)\\"(?![,;|\t\n]|\Z)')  # a quote inside a text, as MySQL writes it
DOUBLED_QUOTE = re.compile(r'[^,;|\t\n"]""|""[^,;|\t\n"]')
SAMPLE_LINES = 500
SINGLE = r"'(?:[^']|'')*'"
SINGLE_QUOTED = re.compile(rf"(?:{SINGLE}|[^'\",;|]*)(?:[,;|](?:{SINGLE}|[^'\",;|]*))*")
QUOTES = str.maketrans({"'": '"', '"': "'"})
ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def delimiter_in_words(delimiter: str) -> str:
    """A delimiter as `a semicolon`, or `':::'` where it has no name."""
    return f"a {DELIMITER_NAMES[delimiter]}" if delimiter in DELIMITER_NAMES else repr(delimiter)


class Field(NamedTuple):
    """A cell and its place; `line` and `column` count from 0."""

    cell: str
    line: int
    column: int


class BadQuote(Exception):
    """A quoted field without a proper end; caught in this file."""

    def __init__(self, line: int, column: int, problem: str) -> None:
        super().__init__(problem)
        self.line, self.column = line, column


def read_delimited(text: str, file: str, delimiter: str, *, quoted: bool) -> Records:
    """The rows of a text, of any number of fields; blank lines and unmatched quotes are refused."""
    lines = without_blank_end(text.split("\n"))
    escaped = quoted and BACKSLASH_QUOTE.search(text) is not None and not DOUBLED_QUOTE.search(text)
    rows: list[tuple[str, ...]] = []
    starts: list[int] = []
    refused: list[Refusal] = []
    empty: list[int] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        begin, at = at, at + 1
        if not line or (delimiter not in line and not line.strip()):
            refused.append(blank(file, begin + 1))
            continue
        if not quoted or '"' not in line:
            cells = tuple(line.split(delimiter))
        else:
            try:
                fields = list(fields_from(lines, begin, delimiter, escaped=escaped))
            except BadQuote as error:
                refused.append(bad_quote(file, lines, error))
                at = error.line + 1
                continue
            cells = tuple(field.cell for field in fields)
            at = last_line(fields) + 1
        if len(cells) > 1 and not any(map(str.strip, cells)):
            empty.append(begin + 1)
            continue
        rows.append(cells)
        starts.append(begin + 1)

    def locate(line: int, number: int) -> Place:
        begin = line - 1
        cut = fields_from(lines, begin, delimiter, escaped=escaped) if quoted else plain_fields(lines, begin, delimiter)
        fields = list(cut)
        if number < len(fields):
            return Place(file, fields[number].line + 1, fields[number].column + 1)
        end = last_line(fields)
        return Place(file, end + 1, len(lines[end]) + 1)

    notes = ("quotes inside a text are written with a backslash before them",) if escaped else ()
    return Records((), rows, starts, refused, locate, (*notes, *empty_notes(empty)))


def has_single_quotes(text: str) -> bool:
    """Whether single quotes stand about the cells of nearly all rows, and double ones about none."""
    lines = [line for line in text.split("\n")[1:SAMPLE_LINES] if line.strip()]
    quoted = sum(line.startswith("'") or any(f"{sign}'" in line for sign in ",;|") for line in lines)
    if not lines or 2 * quoted < len(lines):
        return False
    return sum(SINGLE_QUOTED.fullmatch(line) is not None for line in lines) >= 0.95 * len(lines)


def swapped(text: str) -> str:
    """The same with single quotes for double ones, and the other way round."""
    return text.translate(QUOTES)


def read_single_quoted(text: str, file: str, delimiter: str) -> Records:
    """The rows of a text whose cells single quotes enclose."""
    records = read_delimited(swapped(text), file, delimiter, quoted=True)
    rows = [tuple(map(swapped, row)) for row in records.rows]
    return records._replace(rows=rows, notes=(*records.notes, "cells stand between single quotes"))


def empty_notes(lines: list[int]) -> tuple[str, ...]:
    """A note on rows without anything in them, which spreadsheets leave below a table."""
    if not lines:
        return ()
    which = f"line{'s' if len(lines) > 1 else ''} {in_words([f'{line:,}' for line in lines], limit=5)}"
    return (f"{counted(len(lines), 'blank row')} left out ({which})",)


def read_lines(text: str, file: str) -> Records:
    """A row of one column for each line, blank ones included."""
    lines = without_blank_end(text.split("\n"))
    return Records(
        (), [(line,) for line in lines], list(range(1, len(lines) + 1)), [], lambda line, _: Place(file, line, 1)
    )


def plain_fields(lines: list[str], at: int, delimiter: str) -> Iterator[Field]:
    """The fields of one line, without a special meaning of quotes."""
    column = 0
    for cell in lines[at].split(delimiter):
        yield Field(cell, at, column)
        column += len(cell) + len(delimiter)


def fields_from(lines: list[str], at: int, delimiter: str, *, escaped: bool = False) -> Iterator[Field]:
    """The fields of the row that begins on this line (RFC 4180: quoted fields may hold line breaks); with `escaped`, a
    backslash stands before quotes that belong to a text.
    """
    column = 0
    while True:
        begin, start = at, column
        if lines[at].startswith('"', column):
            cell, at, column = quoted_field(lines, at, column, escaped=escaped)
            if column < len(lines[at]) and lines[at][column] != delimiter:
                if at == begin:
                    raise BadQuote(at, column, "text follows a closing quote.")
                raise BadQuote(begin, start, "a quote opens here and is not closed before its row ends.")
        else:
            end = lines[at].find(delimiter, column)
            end = len(lines[at]) if end < 0 else end
            cell, column = lines[at][column:end], end
        yield Field(cell, begin, start)
        if column >= len(lines[at]):
            return
        column += 1  # past the delimiter


def quoted_field(lines: list[str], at: int, column: int, *, escaped: bool) -> tuple[str, int, int]:
    """The text between quotes, and the line and column after it."""
    begin, start = at, column
    parts = []
    column += 1
    while True:
        close = closing_quote(lines[at], column) if escaped else lines[at].find('"', column)
        if close < 0:
            parts.append(lines[at][column:] + "\n")
            at, column = at + 1, 0
            if at == len(lines):
                raise BadQuote(begin, start, "a quote opens here and is never closed.")
        elif lines[at].startswith('"', close + 1):
            parts.append(lines[at][column : close + 1])  # a doubled quote is one quote
            column = close + 2
        else:
            parts.append(lines[at][column:close])
            cell = "".join(parts)
            return ESCAPED.sub(r"\1", cell) if escaped else cell, at, close + 1


def closing_quote(line: str, column: int) -> int:
    """The next quote without a backslash before it; -1 where there is none."""
    while (close := line.find('"', column)) > 0:
        before = line[:close]
        if (len(before) - len(before.rstrip("\\"))) % 2 == 0:
            return close
        column = close + 1
    return close


def last_line(fields: list[Field]) -> int:
    """The last line of a row: a quoted last field may end on a later line."""
    return fields[-1].line + fields[-1].cell.count("\n")


def bad_quote(file: str, lines: list[str], error: BadQuote) -> Refusal:
    """The refusal of a row with an unmatched quote."""
    return Refusal(
        file,
        error.line + 1,
        error.column + 1,
        str(error),
        found=excerpt(lines[error.line][error.column :]),
        fix='close the quote, or write "" for a quote that belongs to the text',
    )


def keep_width(records: Records, width: int, delimiter: str) -> Records:
    """The rows of this number of fields; the others are refused."""
    rows, lines, refused = collect(
        (line, cells if len(cells) == width else wrong_width(records, cells, line, width, delimiter))
        for cells, line in zip(records.rows, records.lines, strict=True)
    )
    return records._replace(rows=rows, lines=lines, refused=records.refused + refused)


def wrong_width(records: Records, cells: tuple[str, ...], line: int, width: int, delimiter: str) -> Refusal:
    """The refusal of a row with too few fields, at its end, or too many, at the first surplus one."""
    name = DELIMITER_NAMES.get(delimiter, repr(delimiter))
    if len(cells) < width:
        fix = f"add what is missing after a {name}"
    elif delimiter == "\t" or len(delimiter) > 1:
        fix = f"remove the surplus {name}"
    else:
        fix = f"remove the surplus {name}, or put a field that holds a {name} between double quotes"
    return Refusal(
        *records.locate(line, width),
        f"the row has {counted(len(cells), 'field')} where {width} {'is' if width == 1 else 'are'} expected.",
        found=excerpt(delimiter.join(cells)),
        fix=fix,
    )
