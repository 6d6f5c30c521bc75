"""Header detection, and names for the columns of a table: from its first row when that is a header, else numbers."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal

from atento.data.files.image_names import is_image_name
from atento.data.numbers.cells import is_missing_mark
from atento.data.numbers.dialects import is_number
from atento.data.records import Records, Refusal, Row, in_words
from atento.data.tables.around_tables import (
    with_even_rows,
    with_further_names,
    with_row_names,
    without_empty_end,
    without_lines_above,
    without_total,
)
from atento.data.tables.column_names import LABEL, TAGS, TEXT, WORDS
from atento.data.tables.formats.delimited import keep_width
from atento.data.tables.sniffing import Kind
from atento.errors import InputError

Header = Literal["auto", "yes", "no"]

# Well-known names of source and target columns, the surest first.
PAIR_NAMES = (
    ("source", "target"), ("src", "tgt"), ("src", "trg"), ("input", "output"), ("question", "answer"),
    ("prompt", "response"), ("lemma", "form"), ("word", "phones"), ("word", "phonemes"), ("word", "pronunciation"),
    ("grapheme", "phoneme"), ("graphemes", "phonemes"), ("text", "translation"), ("original", "translation"),
    ("sentence", "translation"), ("text", "summary"), ("article", "summary"), ("article", "highlights"),
    ("document", "summary"), ("dialogue", "summary"), ("instruction", "output"), ("instruction", "response"),
)  # fmt: skip

# Codes that are also everyday words of other languages (is, no, he, hi, so) are left out.
LANGUAGE_NAMES = """
    en de es fr it pt nl ru zh ja ko ar tr pl cs sk sl sv da fi hu ro bg el uk fa ur bn ta te th vi ms la ca eu gl ga
    cy et lv lt hr sr mk sq sw eo eng deu ger spa fra fre ita por nld rus zho jpn kor ara tur pol ces swe
    english german spanish french italian portuguese dutch russian chinese japanese korean arabic turkish polish czech
    swedish danish norwegian finnish hungarian romanian greek ukrainian hindi vietnamese latin catalan
    deutsch englisch spanisch französisch inglés español alemán francés français anglais allemand espagnol italiano
"""
ROLE_NAMES = """
    id index idx key text texts label labels class category tag tags sentence sentences title titles título titel titre
    titolo body review reviews
    comment tweet query document context passage premise hypothesis entailment similarity score stars rating sentiment
    date time timestamp ds unique value name language lang features lemmas words tokens token phone phoneme caption
    description content message reply instruction completion references reference
"""

LANGUAGES = frozenset(LANGUAGE_NAMES.split())
KNOWN = LANGUAGES.union(ROLE_NAMES.split(), TEXT, LABEL, WORDS, TAGS, *PAIR_NAMES)
MISSING_WORDS = frozenset({"na", "n/a", "nan", "null", "none", "nil"})
NAME = re.compile(r"(?:[^\W\d]|#\d)[\w .\-/()#%]{0,39}(?<![. ])")
DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?:[T ].{4,20})?|\d{4}-\d{2}")
SOME_COLUMNS = 50  # of a wide table that are looked at
MANY_NUMBERED, FEWEST_VALUES = 5, 5  # names that count, and values below a name, that tell by themselves
TITLE_SIGNS = "#%°$€£([_@*"  # that may begin the title of a column of numbers
NEXT_ROWS = 5
MIN_LABELLED_ROWS = 20  # with fewer, values that repeat may be chance
SAMPLE_ROWS, SAMPLE_COLUMNS = 1000, 200


def is_known(cell: str) -> bool:
    """Whether a cell is a well-known column name or a compound of one, such as `source_text` or `pt-BR`."""
    words = [word for word in cell.lower().split() if any(map(str.isalnum, word))]  # `Sentence #`
    parts = [[part for part in re.split(r"[\W\d_]+", word) if part] for word in words]
    return bool(words) and all(
        any(part in KNOWN for part in some) and all(part in KNOWN or len(part) <= 2 for part in some) for some in parts
    )


def is_name(cell: str) -> bool:
    """Whether a cell could be the name of a column: short, not a sentence, with a letter first."""
    cell = cell.strip()
    return NAME.fullmatch(cell) is not None and len(cell.split()) <= 4 and cell.lower() not in MISSING_WORDS


def is_title(cell: str) -> bool:
    """Whether a cell could be the title of numbers: a few words with signs, such as `T [°C]` or `#Passengers`."""
    words, begun = cell.split(), cell[0].isalpha() or (cell[0] in TITLE_SIGNS and any(map(str.isalpha, cell)))
    return begun and len(cell) <= 40 and 0 < len(words) <= 5 and cell.lower() not in MISSING_WORDS


def looks_like_header(
    first: Sequence[str], below: Sequence[Sequence[str]], *, wanted: Sequence[str] = (), csv: bool = False
) -> bool:
    """Whether the first row names the columns of the rows below it.

    Yes if it holds a name that the user asked for, or well-known names only, or names above numbers, or names above
    longer text and above repeated labels; in CSV also names above longer text alone. Never if one of its cells is also
    a value of its column.
    """
    stripped = [cell.strip() for cell in first]
    if any(name in stripped for name in wanted if not name.isdigit()):
        return True
    named = [at for at, cell in enumerate(stripped) if cell]
    cells = [stripped[at] for at in named]
    if len(cells) < max(1, len(stripped) - 1):  # one unnamed column is an index
        return False
    columns = [[row[at].strip() for row in below if at < len(row)] for at in named]
    if is_numbered(cells, columns, unnamed=not stripped[0]) or is_dated(cells, columns):
        return True
    if any(cell in values for cell, values in zip(cells, columns, strict=True)):
        return False
    twice = len(set(cells)) < len(cells)
    if (all(is_known(cell) for cell in cells) and (not twice or len(below) >= FEWEST_VALUES)) or stands_out(
        cells, columns
    ):
        return True
    if twice:
        return False
    if any(are_numbers(values) for values in columns) and all(is_name(cell) or is_title(cell) for cell in cells):
        return True
    if not all(is_name(cell) for cell in cells):
        return False
    if not below:  # the only line of a file: names, one of which is well known
        return csv and len(cells) > 1 and any(is_known(cell) for cell in cells)
    above_text = any(differs_from_text(cell, values) for cell, values in zip(cells, columns, strict=True))
    if above_text and any(repeat(values) for values in columns):
        return True
    longest = max(len(cell.split()) for cell in cells)
    if not csv or any(all(is_name(cell) and len(cell.split()) <= longest for cell in row) for row in below[:NEXT_ROWS]):
        return False
    return above_text


def is_numbered(cells: Sequence[str], columns: Sequence[Sequence[str]], *, unnamed: bool) -> bool:
    """Whether columns of numbers are named by numbers that count, 0, 1, 2 or 1960, 1961, as no row below does; the
    others by texts. Two are enough beside a text above numbers or dates; pandas names a single column 0.
    """
    numbered = [cell for cell in cells if is_number(cell)]
    others = [at for at, cell in enumerate(cells) if not is_number(cell)]
    if not all(cell.isdigit() for cell in numbered) or not columns[0]:
        return False
    counts = [int(cell) for cell in numbered]
    if not counts or counts != list(range(counts[0], counts[0] + len(counts))):
        return False
    places = [at for at, cell in enumerate(cells) if is_number(cell)]
    if not all(are_typed(columns[at]) for at in places[:: 1 + len(places) // SOME_COLUMNS]):
        return False
    if unnamed and counts[0] == 0 and not others:
        return True
    beside = any(are_typed(columns[at]) and not is_value(cells[at]) for at in others)
    return len(counts) >= MANY_NUMBERED or (len(counts) > 1 and beside)


def is_dated(cells: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Whether columns of numbers are named by dates, each by another."""
    dated = [at for at, cell in enumerate(cells) if DATE.fullmatch(cell) and not is_number(cell)]
    some = [columns[at] for at in dated[:: 1 + len(dated) // SOME_COLUMNS]]
    distinct = len({cells[at] for at in dated}) == len(dated) >= MANY_NUMBERED
    filled = ([value for value in values if not is_missing_mark(value)] for values in some)
    return distinct and all(not values or are_numbers(values) for values in filled)


def stands_out(cells: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Whether a text stands above numbers, dates or images, and none of those is among the first cells."""
    if any(map(is_value, cells)):
        return False
    return any(len(values) >= FEWEST_VALUES and are_typed(values) for values in columns)


def is_value(cell: str) -> bool:
    """Whether a cell is a number, a date, an image or a mark of a missing number rather than a name."""
    return is_typed(cell) or is_missing_mark(cell)


def are_typed(values: Sequence[str]) -> bool:
    """Whether at least 95 in 100 filled cells are numbers, dates or images."""
    some = [value for value in values if not is_missing_mark(value)]
    return bool(some) and sum(map(is_typed, some)) >= 0.95 * len(some)


def is_typed(cell: str) -> bool:
    """Whether a cell is a number, a date or the name of an image."""
    return is_number(cell) or DATE.fullmatch(cell) is not None or is_image_name(cell)


def are_numbers(values: Sequence[str]) -> bool:
    """Whether at least 95 in 100 cells are numbers."""
    return bool(values) and sum(map(is_number, values)) >= 0.95 * len(values)


def repeat(values: Sequence[str]) -> bool:
    """Whether a column holds few values that repeat, as labels do."""
    counts = Counter(values)
    return len(values) >= MIN_LABELLED_ROWS and 10 * len(counts) <= len(values)


def differs_from_text(cell: str, values: Sequence[str]) -> bool:
    """Whether a name differs from the texts below it: one word above several, or far shorter."""
    if not values:
        return False
    spaced = sum(" " in value for value in values) / len(values)
    mean = sum(map(len, values)) / len(values)
    return (" " not in cell and spaced >= 0.5) or mean >= 2 * max(4, len(cell))


def name_columns(
    records: Records, kind: Kind, *, header: Header, wanted: Sequence[str], delimiter: str
) -> tuple[Records, bool]:
    """The rows with named columns, rows of another width refused, and whether the names are from the file."""
    if records.columns:
        return records, True
    if not records.rows:
        return records, False
    if header == "auto" and kind in ("csv", "tsv"):
        records = with_even_rows(records)
        records = without_lines_above(records, partial(is_header_of, wanted=wanted, csv=kind == "csv"))
    headed = guess_header(records, kind, wanted) if header == "auto" else header == "yes"
    if not headed:
        width = Counter(map(len, records.rows)).most_common(1)[0][0]
        columns = ("text",) if kind == "text" else tuple(map(str, range(1, width + 1)))
        notes = (*records.notes, f"no header line: {names_note(columns)}")
        return keep_width(records, width, delimiter)._replace(columns=columns, notes=notes), False
    broken = next(broken_above(records), None)
    if broken is not None:  # even when bad rows are skipped
        raise InputError(str(broken), found=f"in the header line: {broken.found}", fix=broken.fix)
    if kind in ("csv", "tsv"):
        records = without_total(with_further_names(with_row_names(without_empty_end(records))))
    names = [cell.strip() or str(number) for number, cell in enumerate(records.rows[0], start=1)]
    note = f"line {records.lines[0]} is a header: {names_note(names)}"
    if header == "auto":
        note += "; if it is a row, pass --set data.header=no"
    below = keep_width(records._replace(rows=records.rows[1:], lines=records.lines[1:]), len(names), delimiter)
    return below._replace(columns=tuple(names), notes=(*records.notes, note)), True


def guess_header(records: Records, kind: Kind, wanted: Sequence[str]) -> bool:
    """Whether the first row is a header; not where a line above it cannot be read."""
    if kind == "text" or any(broken_above(records)):
        return False
    first, below = records.rows[0], records.rows[1 : SAMPLE_ROWS + 1]
    if kind in ("csv", "tsv"):
        return is_header_of(first, below, wanted=wanted, csv=kind == "csv")
    if kind == "jsonl":  # JSON lists seldom have a header: only well-known names are one
        below = []
    return looks_like_header(first, below, wanted=wanted, csv=kind == "csv")


def is_header_of(first: Row, below: Sequence[Row], *, wanted: Sequence[str], csv: bool) -> bool:
    """Whether a row names the columns of the rows below it, as it is, without empty columns at the end, or with a
    column that it leaves out, as R does.
    """
    below = [row[:SAMPLE_COLUMNS] for row in below[:SAMPLE_ROWS]]
    first = first[:SAMPLE_COLUMNS]
    width = max(map(len, below), default=0)
    end = len(first)
    while end > 1 and not first[end - 1].strip() and not any(row[end - 1].strip() for row in below if len(row) >= end):
        end -= 1
    if end == width - 1 and all(len(row) == width for row in below) and any(row[end].strip() for row in below):
        return looks_like_header(first, [row[1:] for row in below], wanted=wanted, csv=csv)
    return looks_like_header(first[:end], [row[:end] for row in below], wanted=wanted, csv=csv)


def broken_above(records: Records) -> Iterator[Refusal]:
    """The refusals of lines before the first row that are not blank."""
    return (one for one in records.refused if one.line <= records.lines[0] and not one.is_blank)


def names_note(columns: Sequence[str]) -> str:
    """The note `columns are named a and b`."""
    return f"{'columns are' if len(columns) > 1 else 'the column is'} named {in_words(columns)}"
