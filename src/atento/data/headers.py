"""Names for the columns of a table: from its first row when that is a header, else numbers."""

from collections.abc import Sequence
from typing import Literal

from atento.data.delimited import keep_width, usual_width
from atento.data.headings import looks_like_header
from atento.data.records import Records, in_words
from atento.data.sniffing import Kind
from atento.errors import InputError

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
