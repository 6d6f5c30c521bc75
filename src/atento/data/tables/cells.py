"""Cells of several values: lists as `["a", "b"]`, `['a', 'b']`, `[3 10]`, `[joy, anger]`, `<a><b>`; several labels."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from atento.data.records import (
    LIST_SEPARATOR,
    Records,
    Refusal,
    Row,
    collect,
    counted,
    excerpt,
    join_items,
    split_items,
)

LIST = re.compile(r"\[.*\]", re.DOTALL)
ANGLES = re.compile(r"(?:<[^<>\s]+>)+")  # <python><pandas>, as Stack Overflow writes tags
QUOTED = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*(?:,|\s|$)""", re.DOTALL)
BARE = re.compile(r"[^\s,'\"\[\]]+(?:\s*,\s*[^\s,'\"\[\]]+)*")
NUMBERS = re.compile(r"\d+(?:\s+\d+)*")
SAMPLE_ROWS = 200
SEPARATORS = {",": "commas", ";": "semicolons", "|": "bars", "/": "slashes", " ": "spaces"}
MAX_LABEL_LENGTH = 40  # characters, where no separator is given
MIN_SHARE = 0.02  # of the cells with several labels


def parse_lists(records: Records) -> Records:
    """The rows with all columns of lists in the form of `join_items`; a cell that is not a list is refused."""
    for column in range(len(records.columns)):
        if holds_lists([row[column].strip() for row in records.rows[:SAMPLE_ROWS]]):
            records = parse_list_column(records, column)
    return records


def holds_lists(cells: list[str]) -> bool:
    """Whether nearly all filled cells are lists, and some have quotes or several items."""
    filled = [cell for cell in cells if cell]
    if not filled or not (LIST.fullmatch(filled[0]) or all(map(ANGLES.fullmatch, filled))):
        return False
    found = [read_list(cell) for cell in filled]
    lists = [items for items in found if items is not None]
    plain = any(len(items) > 1 for items in lists) or any(cell[1:2] in ("'", '"') for cell in filled)
    return plain and 10 * len(lists) >= 9 * len(filled)


def parse_list_column(records: Records, column: int) -> Records:
    """The rows with the lists of one column parsed."""
    name = repr(records.columns[column])

    def parsed(row: Row, line: int) -> Row | Refusal:
        items = read_list(row[column].strip())
        if items is not None:
            return (*row[:column], join_items(items), *row[column + 1 :])
        problem, fix = f"the column {name} holds lists, and this is none.", "write it as a list, e.g. ['a', 'b']"
        return Refusal(*records.locate(line, column), problem, found=excerpt(row[column]), fix=fix)

    rows, lines, refused = collect(
        (line, parsed(row, line)) for row, line in zip(records.rows, records.lines, strict=True)
    )
    notes = (*records.notes, f"column {name} holds lists ({counted(len(rows), 'row')})")
    return records._replace(rows=rows, lines=lines, refused=records.refused + refused, notes=notes)


def read_list(cell: str) -> list[str] | None:
    """The items of a list as JSON, Python or numpy write it, or as tags in angle brackets; None for any other cell."""
    if not cell:
        return []
    if ANGLES.fullmatch(cell):
        return cell[1:-1].split("><")
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
    """The items of a JSON list of texts and numbers; None for anything else."""
    try:
        items = json.loads(cell, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return list(items) if all(isinstance(item, str) for item in items) else None


def from_quotes(inner: str) -> list[str] | None:
    """The items of a list of quoted texts, separated by commas or spaces; None for anything else."""
    items, at = [], 0
    while at < len(inner):
        found = QUOTED.match(inner, at)
        if found is None:
            return None
        items.append(re.sub(r"\\(.)", r"\1", found[1] if found[1] is not None else found[2]))
        at = found.end()
    return items


class LabelFormat(NamedTuple):
    """How several labels are written in a cell."""

    separator: str

    @property
    def note(self) -> str:
        """The format in words."""
        if self.separator == LIST_SEPARATOR:
            return "its cells are lists"
        return f"its labels are separated by {SEPARATORS.get(self.separator, repr(self.separator))}"

    def labels(self, cell: str) -> list[str]:
        """The distinct labels of a cell, in order."""
        parts = split_items(cell) if self.separator == LIST_SEPARATOR else cell.split(self.separator)
        return list(dict.fromkeys(part for part in map(str.strip, parts) if part))


def label_format(cells: Sequence[str], separator: str = "") -> LabelFormat | None:
    """The format of several labels in these cells; None where each holds one label, or text."""
    if any(LIST_SEPARATOR in cell for cell in cells):
        return LabelFormat(LIST_SEPARATOR)
    if separator:
        return LabelFormat({"tab": LIST_SEPARATOR, "space": " ", "comma": ","}.get(separator, separator))
    return next((LabelFormat(found) for found in SEPARATORS if separates_labels(cells, found)), None)


def separates_labels(cells: Sequence[str], separator: str) -> bool:
    """Whether a character separates short labels that occur in several combinations."""
    several = [cell for cell in cells if separator in cell]
    if len(several) < max(1, MIN_SHARE * len(cells)):
        return False
    sets = Counter(tuple(LabelFormat(separator).labels(cell)) for cell in cells)
    combinations = Counter(label for labels in sets for label in labels)  # label -> sets it is in
    used = Counter({label: 0 for label in combinations})
    for labels, times in sets.items():
        used.update({label: times for label in labels})
    if max(map(len, combinations)) > MAX_LABEL_LENGTH or 3 * len(combinations) > sum(used.values()) + 3:
        return False
    joined = {label for labels in sets if len(labels) > 1 for label in labels}
    repeated = sum(combinations[label] > 1 for label in joined)
    few = len(sets) <= 1.5 * len(combinations)
    if separator == "/" and 2 * sum((label,) in sets for label in joined) < len(joined):
        return False  # the parts of TCP/IP and of sport/tennis are no labels
    if separator == " " and (few or len(combinations) * 10 > len(cells) or 2 * len(sets) > len(cells)):
        return False  # sentences of few words, of which hardly two are alike
    return 2 * repeated >= len(joined)
