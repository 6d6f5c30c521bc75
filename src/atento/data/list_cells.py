"""Lists written into the cells of CSV and TSV files: `["a", "b"]`, `['a', 'b']`, `[3 10]`, `[joy, anger]`."""

import json
import re

from atento.data.lists import join
from atento.data.records import Records, Refusal, counted, excerpt

LIST = re.compile(r"\[.*\]", re.DOTALL)
QUOTED = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*(?:,|\s|$)""", re.DOTALL)
BARE = re.compile(r"[^\s,'\"\[\]]+(?:\s*,\s*[^\s,'\"\[\]]+)*")
NUMBERS = re.compile(r"\d+(?:\s+\d+)*")
SAMPLE = 200


def unfold_lists(records: Records) -> Records:
    """Columns all of whose cells are lists, with tabs between the items; a cell that is none is refused."""
    for column in range(len(records.columns)):
        if holds_lists([row[column].strip() for row in records.rows[:SAMPLE]]):
            records = unfold(records, column)
    return records


def holds_lists(cells: list[str]) -> bool:
    """Whether nearly all cells that hold anything are lists, and some are plainly so."""
    filled = [cell for cell in cells if cell]
    if not filled or not LIST.fullmatch(filled[0]):
        return False
    found = [read_list(cell) for cell in filled]
    lists = [items for items in found if items is not None]
    plain = any(len(items) > 1 for items in lists) or any(cell[1:2] in ("'", '"') for cell in filled)
    return plain and 10 * len(lists) >= 9 * len(filled)


def unfold(records: Records, column: int) -> Records:
    """One column's lists."""
    rows: list[tuple[str, ...]] = []
    lines: list[int] = []
    refused = list(records.refused)
    for row, line in zip(records.rows, records.lines, strict=True):
        items = read_list(row[column].strip())
        if items is None:
            fix = "write it as a list, e.g. ['a', 'b']"
            problem = f"the column {records.columns[column]!r} holds lists, and this is none."
            refused.append(Refusal(*records.locate(line, column), problem, found=excerpt(row[column]), fix=fix))
        else:
            rows.append((*row[:column], join(items), *row[column + 1 :]))
            lines.append(line)
    note = f"column {records.columns[column]!r} holds lists ({counted(len(rows), 'row')})"
    return records._replace(rows=rows, lines=lines, refused=refused, notes=(*records.notes, note))


def read_list(cell: str) -> list[str] | None:
    """The items of a list as it is written in JSON, in Python or by numpy; None: it is no list."""
    if not cell:
        return []
    if not LIST.fullmatch(cell):
        return None
    inner = cell[1:-1].strip()
    if not inner:
        return []
    if NUMBERS.fullmatch(inner):
        return inner.split()
    if BARE.fullmatch(inner):
        return [item.strip() for item in inner.split(",")]
    return from_json(cell) or from_quotes(inner)


def from_json(cell: str) -> list[str] | None:
    """The items of a JSON list of texts and numbers."""
    try:
        items = json.loads(cell, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return list(items) if all(isinstance(item, str) for item in items) else None


def from_quotes(inner: str) -> list[str] | None:
    """Items between quotes of either kind, parted by commas or spaces."""
    items, at = [], 0
    while at < len(inner):
        found = QUOTED.match(inner, at)
        if found is None:
            return None
        items.append(re.sub(r"\\(.)", r"\1", found[1] if found[1] is not None else found[2]))
        at = found.end()
    return items
