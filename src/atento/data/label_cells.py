"""Cells that hold several labels each: what parts them, and the labels of a cell."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from atento.data.lists import BETWEEN, split

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
