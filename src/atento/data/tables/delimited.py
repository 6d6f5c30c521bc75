"""CSV, TSV and plain lines to rows, with the line and column of every field."""

from collections.abc import Iterator
from typing import NamedTuple

from atento.data.records import Place, Records, Refusal, blank, collect, counted, excerpt, without_blank_end

DELIMITER_NAMES = {",": "comma", ";": "semicolon", "|": "bar", "\t": "tab"}


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
    rows: list[tuple[str, ...]] = []
    starts: list[int] = []
    refused: list[Refusal] = []
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
                fields = list(fields_from(lines, begin, delimiter))
            except BadQuote as error:
                refused.append(bad_quote(file, lines, error))
                at = error.line + 1
                continue
            cells = tuple(field.cell for field in fields)
            at = last_line(fields) + 1
        rows.append(cells)
        starts.append(begin + 1)

    def locate(line: int, number: int) -> Place:
        fields = list(fields_from(lines, line - 1, delimiter) if quoted else plain_fields(lines, line - 1, delimiter))
        if number < len(fields):
            return Place(file, fields[number].line + 1, fields[number].column + 1)
        end = last_line(fields)
        return Place(file, end + 1, len(lines[end]) + 1)

    return Records((), rows, starts, refused, locate)


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


def fields_from(lines: list[str], at: int, delimiter: str) -> Iterator[Field]:
    """The fields of the row that begins on this line (RFC 4180: quoted fields may hold line breaks)."""
    column = 0
    while True:
        begin, start = at, column
        if lines[at].startswith('"', column):
            cell, at, column = quoted_field(lines, at, column)
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


def quoted_field(lines: list[str], at: int, column: int) -> tuple[str, int, int]:
    """The text between quotes, and the line and column after it."""
    begin, start = at, column
    parts = []
    column += 1
    while True:
        close = lines[at].find('"', column)
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
            return "".join(parts), at, close + 1


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
    name = DELIMITER_NAMES[delimiter]
    if len(cells) < width:
        fix = f"add what is missing after a {name}"
    elif delimiter == "\t":
        fix = "remove the surplus tab"
    else:
        fix = f"remove the surplus {name}, or put a field that holds a {name} between double quotes"
    return Refusal(
        *records.locate(line, width),
        f"the row has {counted(len(cells), 'field')} where {width} {'is' if width == 1 else 'are'} expected.",
        found=excerpt(delimiter.join(cells)),
        fix=fix,
    )
