"""Reading of any file as a table: rows of text with named columns. Every row is in `rows` or in `refused`."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from unicodedata import normalize

from atento.data.files.encodings import DecodedText
from atento.data.files.opening import read_bytes, read_exact
from atento.data.records import BadRows, Locate, LocateNumber, Place, Records, Refusal, excerpt, in_words, stop_or_skip
from atento.data.tables.cells import parse_lists
from atento.data.tables.formats.arrays import are_series, read_case_arrays, read_series_arrays
from atento.data.tables.formats.conll import fold_words, read_conll, read_conllu, with_sentences
from atento.data.tables.formats.delimited import (
    delimiter_in_words,
    has_single_quotes,
    read_delimited,
    read_lines,
    read_single_quoted,
    swapped,
)
from atento.data.tables.formats.jsonl import read_jsonl
from atento.data.tables.formats.label_lines import read_label_lines
from atento.data.tables.formats.lexicon import read_lexicon
from atento.data.tables.formats.ruled import read_ruled, read_spaced
from atento.data.tables.formats.tmx import read_tmx
from atento.data.tables.formats.ts_and_arff import read_arff, read_ts
from atento.data.tables.formats.tsf import read_tsf
from atento.data.tables.formats.word_tags import read_word_tags
from atento.data.tables.headers import Header, name_columns
from atento.data.tables.sniffing import KIND_WORDS, Kind, delimiter_of, kind_by_content, kind_by_name, line_format_of
from atento.data.tables.wide import MIN_STEPS, are_all_numbers, fold_steps
from atento.errors import InputError
from atento.extras import require_extra

PARSED_TABLES: ContextVar[dict[Hashable, "Table"] | None] = ContextVar("PARSED_TABLES", default=None)
SEPARATOR_LINE = re.compile(r"\s*sep=(.)\n")  # Excel's first line
QUOTED_CELL = re.compile(r'(?:^|(?<=\t))"[^\t\n]*', re.MULTILINE)
WHOLE_CELL = re.compile(r'"(?:[^"]|"")*"')
MAX_PARSED = 4  # tables kept: three splits, or chunks of a large file
BINARY = ("parquet", "npz", "npy", "xlsx")
NAMED_READERS: dict[Kind, Callable[[str, str], Records]] = {  # of formats that name their columns
    "ts": read_ts,
    "arff": read_arff,
    "tsf": read_tsf,
    "tmx": read_tmx,
    "ruled": read_ruled,
    "lexicon": read_lexicon,
}
WORD_READERS: dict[str | None, Callable[[str, str], Records]] = {"conll": read_conll, "conllu": read_conllu}


@dataclass(frozen=True)
class Table:
    """Rows of text with named columns, the line each row begins on, the rows refused, and notes on what was guessed."""

    file: str
    columns: tuple[str, ...]
    header: bool  # whether the names of the columns are from the file
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    refused: tuple[Refusal, ...]
    notes: tuple[str, ...]
    kind: Kind
    encoding: str
    locate: Locate = field(repr=False, compare=False)
    locate_number: LocateNumber | None = field(default=None, repr=False, compare=False)
    delimiter: str = ","  # of a CSV file

    def place(self, row: int, column: int) -> Place:
        """The place of a cell in its file; `row` and `column` count from 0."""
        return self.locate(self.lines[row], column)

    def place_inside(self, row: int, column: int, offset: int) -> Place:
        """The place of a character of a cell, which may be written with a quote before it."""
        file, line, begin = self.place(row, column)
        after = self.place(row, column + 1)
        quote = after.line == line and after.column - begin - len(self.rows[row][column]) >= 2  # a delimiter takes one
        return Place(file, line, begin + quote + offset)


@contextmanager
def parsed_once() -> Iterator[None]:
    """A cache of parsed files: within this context equal content is parsed once, for recognition, reading and further
    runs. Nested contexts share one cache, which is released when the outermost ends.
    """
    kept = PARSED_TABLES.get()
    token = PARSED_TABLES.set({} if kept is None else kept)
    try:
        yield
    finally:
        PARSED_TABLES.reset(token)


def parse_cached(content: Hashable, parse: Callable[[], Table]) -> Table:
    """The table of this content, from the cache where it holds one."""
    kept = PARSED_TABLES.get()
    if kept is None:
        return parse()
    if content not in kept:
        table = parse()
        if len(kept) >= MAX_PARSED:
            del kept[next(iter(kept))]
        kept[content] = table
    return kept[content]


def read_table(
    path: str, *, header: Header = "auto", bad_rows: BadRows = "stop", names: Sequence[str] = (), sheet: str = ""
) -> Table:
    """The table of a file of any format; `names` are columns that the user asked for, `sheet` one of a workbook."""
    if kind_by_name(path) in BINARY:
        file, data = Path(path).name, read_bytes(path)
        table = parse_cached(
            (data, file, header, frozenset(names), sheet), lambda: parse_bytes(data, file, header, names, sheet)
        )
    else:
        table = table_from_text(read_exact(path), path, header=header, names=names)
    stop_or_skip(table.refused, bad_rows, used=len(table.rows))
    return table


def parse_bytes(data: bytes, file: str, header: Header, names: Sequence[str], sheet: str) -> Table:
    """The table of a binary file."""
    if kind_by_name(file) == "xlsx":
        from atento.data.tables.formats.excel import read_excel

        records, named = name_columns(read_excel(data, file, sheet), "csv", header=header, wanted=names, delimiter=",")
        return table_of(parse_lists(records), file, "xlsx", header=named)
    if kind_by_name(file) == "parquet":
        require_extra("parquet", f"{file}: reading a Parquet file", instead="save it as CSV")
        from atento.data.tables.formats.parquet import read_parquet  # pyarrow loads only when it is needed

        return table_of(read_parquet(data, file), file, "parquet", header=True)
    if kind_by_name(file) == "npz" and not are_series(data, file):
        return table_of(read_case_arrays(data, file), file, "npz")
    return table_of(read_series_arrays(data, file), file, "npy")


def table_from_text(read: DecodedText, path: str, *, header: Header = "auto", names: Sequence[str] = ()) -> Table:
    """The table of a text that was read from `path`, its bad rows in `refused`."""
    file = Path(path).name
    return parse_cached((read, file, header, frozenset(names)), lambda: parse_text(read, file, header, names))


def parse_text(read: DecodedText, file: str, header: Header, names: Sequence[str]) -> Table:
    """Parse a text by the suffix of its file's name, else by its content."""
    text, encoding, notes = read
    kind = kind_by_name(file)
    if kind is None:
        kind = kind_by_content(text)
        notes += (f"{file} is read as {KIND_WORDS[kind]}",)
    elif kind == "tsv" and "\t" not in text and kind_by_content(text) == "csv":
        kind = "csv"
        notes += (f"{file} holds no tab and is read as {KIND_WORDS[kind]}",)
    lines, named, delimiter = line_format_of(text, kind), False, ","
    if kind in NAMED_READERS:
        records, named = NAMED_READERS[kind](text, file), kind in ("tmx", "ruled", "lexicon")
        kind = "csv" if kind == "ruled" else kind
    elif lines == "tagged":
        records, kind = read_word_tags(text, file), "tagged"
    elif lines in WORD_READERS:
        records, kind = WORD_READERS[lines](text, file), "conll"
    elif lines is not None:
        records, kind = read_label_lines(text, file, lines), "lines"
    else:
        records, delimiter = read_records(text, file, kind, names)
        kind = "csv" if kind == "spaced" else kind
        if kind == "csv" and delimiter not in ", " and delimiter not in text:
            notes += ("there is one column, and the commas belong to its texts",)
        elif kind == "csv" and delimiter not in ", ":
            notes += (f"the delimiter is {delimiter_in_words(delimiter)}, not a comma",)
        records, named = name_columns(records, kind, header=header, wanted=names, delimiter=delimiter)
    if kind in ("csv", "tsv"):
        words = fold_words(with_sentences(records))
        wide = not words and len(records.columns) > MIN_STEPS
        wide = wide and (delimiter != " " or are_all_numbers(records.rows[0]))  # else spaces align facts
        steps = fold_steps(records, named=named, delimiter=delimiter) if wide else None
        if words:
            records, kind, delimiter = words, "conll", ","
        elif steps:
            records, kind, delimiter = steps, "sequences", ","
        else:
            records = parse_lists(records)
    records = records._replace(notes=notes + records.notes)
    return table_of(records, file, kind, encoding=encoding, header=named, delimiter=delimiter)


def read_records(text: str, file: str, kind: Kind, names: Sequence[str]) -> tuple[Records, str]:
    """The rows of a text of a known format, and the delimiter of their fields."""
    if kind == "jsonl":
        return read_jsonl(text, file, wanted=names), ","
    if kind == "text":
        return read_lines(text, file), "\n"
    if kind == "spaced":
        return read_spaced(text, file), " "
    told = SEPARATOR_LINE.match(text)
    delimiter = "\t" if kind == "tsv" else told[1] if told else delimiter_of(text)
    if kind == "csv" and has_single_quotes(text):
        delimiter = delimiter_of(swapped(text))
        return read_single_quoted(text, file, delimiter), delimiter
    quoted = len(delimiter) == 1 and (kind == "csv" or has_quoted_cells(text, file))
    records = read_delimited(text, file, delimiter, quoted=quoted)
    if told:  # an instruction to Excel, no row
        records = records._replace(rows=records.rows[1:], lines=records.lines[1:])
    return records, delimiter


def has_quoted_cells(text: str, file: str) -> bool:
    """Whether cells of a TSV file stand between quotes: some with a doubled quote inside, none that only begins so; or
    some over several lines, where all rows then have as many cells.
    """
    cells = QUOTED_CELL.findall(text)
    if not all(map(WHOLE_CELL.fullmatch, cells)):
        whole = read_delimited(text, file, "\t", quoted=True)
        return not any(not one.is_blank for one in whole.refused) and len({len(row) for row in whole.rows}) == 1
    return any('""' in cell[1:-1] for cell in cells)


def table_of(
    records: Records, file: str, kind: Kind, *, encoding: str = "", header: bool = False, delimiter: str = ","
) -> Table:
    """The table of rows whose columns are named; the refused rows are in the order of the file."""
    columns = tuple(normalize("NFC", name) for name in records.columns)
    for name, count in Counter(columns).most_common(1):
        if count > 1:
            raise InputError(
                f"{file}:1: {count} columns are named {excerpt(name)}.",
                found=in_words(columns),
                fix="give each its own name, or pass --set data.header=no if the first line is a row",
                settings={"data.header": "no"},
            )
    if not records.rows and not records.refused:
        raise InputError(
            f"{file}:1:1: the file has no rows.",
            found=f"only the columns {in_words(columns)}" if columns else "no columns",
            fix="add rows below the header" if header else "give a file with at least one row",
        )
    return Table(
        file=file,
        columns=columns,
        header=header,
        rows=tuple(tuple(normalize("NFC", cell) for cell in row) for row in records.rows),
        lines=tuple(records.lines),
        refused=stop_or_skip(records.refused, "skip"),
        notes=records.notes,
        kind=kind,
        encoding=encoding,
        locate=records.locate,
        locate_number=records.locate_number,
        delimiter=delimiter,
    )
