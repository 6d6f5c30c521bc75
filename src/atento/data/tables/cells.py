"""Lists written into the cells of CSV and TSV files: `["a", "b"]`, `['a', 'b']`, `[3 10]`, `[joy, anger]`.

Cells that hold several labels each: what parts them, and the labels of a cell.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from atento.data.records import BETWEEN, Records, Refusal, counted, excerpt, join, split

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


SEPARATORS = {",": "commas", ";": "semicolons", "|": "bars", " ": "spaces"}
LONGEST = 40  # characters of a label that was not asked for
LEAST_SHARE = 0.02  # of the cells that hold several labels


class LabelCells(NamedTuple):
    """How the cells of a column hold labels."""

    separator: str

    @property
    def note(self) -> str:
        """What was found, in words."""
        if self.separator == BETWEEN:
            return "its cells are lists"
        return f"its labels are parted by {SEPARATORS.get(self.separator, repr(self.separator))}"

    def labels(self, cell: str) -> list[str]:
        """The labels of a cell, each once, in their order; none where it is empty."""
        parts = split(cell) if self.separator == BETWEEN else cell.split(self.separator)
        return list(dict.fromkeys(part for part in map(str.strip, parts) if part))


def cells_of_labels(cells: Sequence[str], separator: str = "") -> LabelCells | None:
    """How these cells hold several labels; None where each seems to hold one, or text."""
    if any(BETWEEN in cell for cell in cells):
        return LabelCells(BETWEEN)
    if separator:
        return LabelCells({"tab": BETWEEN, "space": " ", "comma": ","}.get(separator, separator))
    return next((LabelCells(mark) for mark in SEPARATORS if parts_labels(cells, mark)), None)


def parts_labels(cells: Sequence[str], mark: str) -> bool:
    """Whether a mark parts short labels that come again in other company."""
    several = [cell for cell in cells if mark in cell]
    if len(several) < max(1, LEAST_SHARE * len(cells)):
        return False
    way = LabelCells(mark)
    sets = Counter(tuple(way.labels(cell)) for cell in cells)
    company = Counter(label for labels in sets for label in labels)
    used = Counter({label: 0 for label in company})
    for labels, times in sets.items():
        used.update({label: times for label in labels})
    if max(map(len, company)) > LONGEST or 3 * len(company) > sum(used.values()) + 3:
        return False
    joined = {label for labels in sets if len(labels) > 1 for label in labels}
    again = sum(company[label] > 1 for label in joined)
    if mark == " " and (len(sets) <= 1.5 * len(company) or len(company) * 10 > len(cells)):
        return False
    return 2 * again >= len(joined)
