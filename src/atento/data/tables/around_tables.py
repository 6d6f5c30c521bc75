"""Lines of a file that belong to no row of its table: above the header, further lines of it, a total at the end.

Statements of banks, statistics offices and market data have them. What is left out is said with its line.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence

from atento.data.numbers.cells import is_missing_mark
from atento.data.numbers.dialects import is_number
from atento.data.records import Records, Row, counted, excerpt

MOST_ABOVE = 30  # lines above a header
FURTHER = 3  # lines of a header below the first
FEWEST_ROWS = 4
FILLED = 0.6  # of the cells of the header, that a line above it does not reach
TOTAL_WORDS = "total totals totale totaux sum summe suma somme gesamt gesamtsumme итого 合計"
TOTALS = frozenset(TOTAL_WORDS.split())
FEWEST_STEPS, FEW_UNEVEN = 8, 0.1  # columns of a table of series, and share of its rows of another width
COMMENT = "#"

IsHeader = Callable[[Row, Sequence[Row]], bool]


def without_lines_above(records: Records, is_header: IsHeader) -> Records:
    """The rows from the header on, where other lines stand above it; the rows as they are where none do."""
    rows = records.rows
    width = Counter(map(len, rows)).most_common(1)[0][0]
    if len(rows) < FEWEST_ROWS:
        return records
    title = len(rows[0]) < len(rows[1]) == width and is_header(rows[1], rows[2:])  # one cell above a whole header
    if fits(rows[0], rows[1:], width) and is_header(rows[0], rows[1:]) and not title:
        return records
    for at in range(1, min(MOST_ABOVE, len(rows) - 2)):
        head = rows[at]
        if width < 2 or not fits(head, rows[at + 1 :], width) or not is_header(head, rows[at + 1 :]):
            if stands_above(head, width, width):
                continue
            return records
        if all(stands_above(row, width, filled(head)) for row in rows[:at]):
            above = f"lines above line {records.lines[at]}, the header, are left out"
            note = f"{above}: {excerpt(rows[0][0])}"
            below = [one for one in records.refused if one.line > records.lines[at]]
            return records._replace(
                rows=rows[at:], lines=records.lines[at:], refused=below, notes=(*records.notes, note)
            )
        return records
    return records


def fits(head: Row, below: Sequence[Row], width: int) -> bool:
    """Whether a line has the usual width, or one less where all below have it, as R writes a header."""
    return len(head) == width or (len(head) == width - 1 and all(len(row) == width for row in below))


def stands_above(row: Row, width: int, names: int) -> bool:
    """Whether a line may stand above a header: of another width, with few filled cells, or a comment."""
    return len(row) != width or filled(row) < FILLED * names or row[0].lstrip().startswith(COMMENT)


def filled(row: Row) -> int:
    """The number of cells that are not empty."""
    return sum(bool(cell.strip()) for cell in row)


def with_even_rows(records: Records) -> Records:
    """The rows padded with empty cells to one width, where each is a name and numbers of its own count; else as they
    are.
    """
    rows, widths = records.rows, Counter(map(len, records.rows))
    width, uneven = max(widths), len(records.rows) - widths.most_common(1)[0][1]
    if width < FEWEST_STEPS or uneven <= FEW_UNEVEN * len(rows) or not all(map(is_named_numbers, rows[1:])):
        return records
    padded = [(*row, *[""] * (width - len(row))) for row in rows]
    return records._replace(rows=padded, notes=(*records.notes, "rows have unlike numbers of values"))


def is_named_numbers(row: Row) -> bool:
    """Whether a row is a name and numbers."""
    return len(row) > 1 and not is_number(row[0]) and all(is_number(cell) or is_missing_mark(cell) for cell in row[1:])


def without_empty_end(records: Records) -> Records:
    """The rows without columns at the end that have no name and no cell, as after a delimiter at the end of lines."""
    head, body = records.rows[0], records.rows[1:]
    width = max(len(head), Counter(map(len, body)).most_common(1)[0][0]) if body else len(head)
    if not body or width < 2:
        return records
    end = width
    while end > 1 and not "".join(row[end - 1].strip() for row in records.rows if len(row) >= end):
        end -= 1
    if end == width:
        return records
    rows = [row[:end] if len(row) <= width else row for row in records.rows]
    return records._replace(rows=rows, notes=(*records.notes, f"{counted(width - end, 'empty column')} at the end"))


def with_row_names(records: Records) -> Records:
    """The rows with a name for a first column that the header leaves out, as R writes row names."""
    head, body = records.rows[0], records.rows[1:]
    if len(body) >= FEWEST_ROWS and all(len(row) == len(head) + 1 for row in body) and distinct(body):
        return records._replace(rows=[("", *head), *body])
    return records


def distinct(rows: Sequence[Row]) -> bool:
    """Whether the first cells of rows are all different."""
    return len({row[0] for row in rows}) == len(rows)


def with_further_names(records: Records) -> Records:
    """The rows with the names of further lines of the header: above numbers, and without a number themselves."""
    head, body = records.rows[0], records.rows[1:]
    count = 0
    while count < min(FURTHER, len(body) - FEWEST_ROWS) and not any(map(is_number, body[count])):
        count += 1
    sample = [row for row in body[count : count + 100] if len(row) == len(head)]
    if not count or not sample or any(len(row) != len(head) for row in body[:count]):
        return records
    numeric = [at for at in range(len(head)) if all(is_number(row[at]) or is_missing_mark(row[at]) for row in sample)]
    if not numeric or len(numeric) < len(head) - 1 or not all(any(map(is_number, row)) for row in sample):
        return records
    further = [row for row in body[:count] if len({row[at].strip() for at in numeric}) > 1]
    names = tuple(" ".join(filter(None, (name, *(row[at].strip() for row in further)))) for at, name in enumerate(head))
    more = [f"line {line}" for line in records.lines[1 : count + 1]]
    note = f"{' and '.join(more)} {'belongs' if count == 1 else 'belong'} to the header"
    rows, lines = [names, *body[count:]], [records.lines[0], *records.lines[count + 1 :]]
    return records._replace(rows=rows, lines=lines, notes=(*records.notes, note))


def without_total(records: Records) -> Records:
    """The rows without a last one that begins with the word total, or the like, above which no row does."""
    last = records.rows[-1]
    if len(records.rows) < FEWEST_ROWS or re.sub(r"[\s:]+", "", last[0].lower()) not in TOTALS or len(last) < 2:
        return records
    if any(row[0].strip() == last[0].strip() for row in records.rows[:-1]):
        return records
    note = f"line {records.lines[-1]} is a total and is left out: {excerpt(last[0])}"
    return records._replace(rows=records.rows[:-1], lines=records.lines[:-1], notes=(*records.notes, note))
