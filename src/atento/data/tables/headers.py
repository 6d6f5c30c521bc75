"""Names for the columns of a table: from its first row when that is a header, else numbers.

Names that columns are known by, and whether the first row of a table is made of names.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from atento.data.records import Records, in_words
from atento.data.tables.delimited import keep_width, usual_width
from atento.data.tables.names import LABEL, TAGS, TEXT, WORDS
from atento.data.tables.sniffing import Kind
from atento.errors import InputError

# Source and target columns that are known by their names, the surest first.
COUPLES = (
    ("source", "target"),
    ("src", "tgt"),
    ("src", "trg"),
    ("input", "output"),
    ("question", "answer"),
    ("prompt", "response"),
    ("lemma", "form"),
    ("word", "phones"),
    ("word", "phonemes"),
    ("word", "pronunciation"),
    ("grapheme", "phoneme"),
    ("graphemes", "phonemes"),
    ("text", "translation"),
    ("original", "translation"),
    ("sentence", "translation"),
    ("text", "summary"),
)

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
KNOWN = LANGUAGES.union(ROLE_NAMES.split(), TEXT, LABEL, WORDS, TAGS, *COUPLES)
ABSENT = frozenset({"na", "n/a", "nan", "null", "none", "nil"})
NAME = re.compile(r"(?:[^\W\d]|#\d)[\w .\-/()#%]{0,39}(?<![. ])")
NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d+)*|\.\d+)(?:[eE][+-]?\d+)?%?")
MARKS = "#%°$€£([_@*"  # with which the name of a column of numbers may begin
CLOSE_ROWS = 5
LABELLED_ROWS = 20  # fewer rows say nothing of labels


def is_number(cell: str) -> bool:
    """Whether a cell is written as a number is."""
    return NUMBER.fullmatch(cell.strip()) is not None


def is_known(cell: str) -> bool:
    """Whether a cell is a well-known column name, also as in `source_text`, `sentence_A` or `pt-BR`."""
    words = [word for word in cell.lower().split() if any(map(str.isalnum, word))]  # `Sentence #`
    return bool(words) and all(is_known_word(word) for word in words)


def is_known_word(word: str) -> bool:
    """Whether a word is a known name, alone or with numbers and short additions."""
    parts = [part for part in re.split(r"[\W\d_]+", word) if part]
    return any(part in KNOWN for part in parts) and all(part in KNOWN or len(part) <= 2 for part in parts)


def is_name(cell: str) -> bool:
    """Whether a cell could be the name of a column: short, begins with a letter, no sentence."""
    cell = cell.strip()
    return NAME.fullmatch(cell) is not None and len(cell.split()) <= 4 and cell.lower() not in ABSENT


def is_title(cell: str) -> bool:
    """Whether a cell could stand above numbers: a few words with any signs, such as `T [°C]` or `#Passengers`."""
    words, begun = cell.split(), cell[0].isalpha() or (cell[0] in MARKS and any(map(str.isalpha, cell)))
    return begun and len(cell) <= 40 and 0 < len(words) <= 5 and cell.lower() not in ABSENT


def looks_like_header(
    first: Sequence[str], below: Sequence[Sequence[str]], *, wanted: Sequence[str] = (), csv: bool = False
) -> bool:
    """Whether the first row names the columns of the rows below it.

    Yes when it holds a name the user asked for, or well-known names only, or names above numbers, or names above
    longer text and above labels that come again and again; in CSV also names above longer text alone. Never when one
    of its cells comes again below: a column's name is no value.
    """
    stripped = [cell.strip() for cell in first]
    if any(name in stripped for name in wanted if not name.isdigit()):
        return True
    named = [at for at, cell in enumerate(stripped) if cell]
    cells = [stripped[at] for at in named]
    if len(set(cells)) < len(cells) or len(cells) < max(1, len(stripped) - 1):  # one unnamed column is an index
        return False
    columns = [[row[at].strip() for row in below if at < len(row)] for at in named]
    if any(cell in values for cell, values in zip(cells, columns, strict=True)):
        return False
    if all(is_known(cell) for cell in cells):
        return True
    if any(are_numbers(values) for values in columns) and all(is_name(cell) or is_title(cell) for cell in cells):
        return True
    if not all(is_name(cell) for cell in cells):
        return False
    if not below:  # the only line of a file: names, one of which is well known
        return csv and len(cells) > 1 and any(is_known(cell) for cell in cells)
    above_text = any(stands_out(cell, values) for cell, values in zip(cells, columns, strict=True))
    if above_text and any(come_again(values) for values in columns):
        return True
    longest = max(len(cell.split()) for cell in cells)
    if not csv or any(
        all(is_name(cell) and len(cell.split()) <= longest for cell in row) for row in below[:CLOSE_ROWS]
    ):
        return False
    return above_text


def are_numbers(values: Sequence[str]) -> bool:
    """Whether nearly all of these cells are numbers."""
    return bool(values) and sum(map(is_number, values)) >= 0.95 * len(values)


def come_again(values: Sequence[str]) -> bool:
    """Whether a column holds few values, most of which come several times, as labels do."""
    counts = Counter(values)
    return len(values) >= LABELLED_ROWS and 10 * len(counts) <= len(values)


def stands_out(cell: str, values: Sequence[str]) -> bool:
    """Whether a name differs from the text below it: one word above many, or far shorter."""
    if not values:
        return False
    spaced = sum(" " in value for value in values) / len(values)
    mean = sum(map(len, values)) / len(values)
    return (" " not in cell and spaced >= 0.5) or mean >= 2 * max(4, len(cell))


Header = Literal["auto", "yes", "no"]
SAMPLE_ROWS = 1000


def name_columns(
    records: Records, kind: Kind, *, header: Header, wanted: Sequence[str], delimiter: str
) -> tuple[Records, bool]:
    """The rows under their columns' names, refusing rows of another width, and whether the names came from the file."""
    if records.columns:
        return records, True
    if not records.rows:
        return records, False
    headed = guess(records, kind, wanted) if header == "auto" else header == "yes"
    if not headed:
        width = usual_width(records.rows)
        columns = ("text",) if kind == "text" else tuple(str(number + 1) for number in range(width))
        note = f"no header line: {named(columns)}"
        return annotate(keep_width(records, width, delimiter), columns, note), False
    refuse_broken_header(records)
    names = [cell.strip() or str(number) for number, cell in enumerate(records.rows[0], start=1)]
    note = f"line {records.lines[0]} is a header: {named(names)}"
    if header == "auto":
        note += "; if it is a row, pass --set data.header=no"
    below = records._replace(rows=records.rows[1:], lines=records.lines[1:])
    return annotate(keep_width(below, len(names), delimiter), tuple(names), note), True


def guess(records: Records, kind: Kind, wanted: Sequence[str]) -> bool:
    """Whether the first row is a header; a broken line above it leaves that open, so no."""
    if kind == "text" or broken_above(records):
        return False
    first, below = records.rows[0], records.rows[1 : SAMPLE_ROWS + 1]
    if kind == "jsonl":  # who writes lists seldom writes a header: only well-known names are one
        below = []
    return looks_like_header(first, below, wanted=wanted, csv=kind == "csv")


def broken_above(records: Records) -> bool:
    """Whether a line before the first row was refused for more than being blank."""
    return any(refusal.line <= records.lines[0] and not refusal.is_blank for refusal in records.refused)


def refuse_broken_header(records: Records) -> None:
    """A header that cannot be read leaves the columns without names: an error, even when bad rows are skipped."""
    for refusal in records.refused:
        if refusal.line <= records.lines[0] and not refusal.is_blank:
            raise InputError(str(refusal), found=f"in the header line: {refusal.found}", fix=refusal.fix)


def annotate(records: Records, columns: tuple[str, ...], note: str) -> Records:
    """The same rows with names for their columns and one more note."""
    return records._replace(columns=columns, notes=(*records.notes, note))


def named(columns: Sequence[str]) -> str:
    """`columns are named a and b`."""
    return f"{'columns are' if len(columns) > 1 else 'the column is'} named {in_words(columns)}"
