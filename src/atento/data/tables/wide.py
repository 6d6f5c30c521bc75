"""Tables with a column for each step: those of the UCR archive, a label and then numbers, and others of their kind.

Columns that are named alike and counted, `t0 t1 t2` or `x_1 … x_150, y_1 … y_150`, are the steps of one channel each.

Sequences as one text: cells of each channel to `0.53,0 0.91,1`, steps parted by spaces, channels by commas.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from atento.data.records import Locate, Place, Records, counted, in_words
from atento.data.tables.headers import is_number
from atento.data.tables.number_lists import is_missing

SEQUENCE, LABEL, TARGET = "sequence", "label", "target"  # what columns are called where a format does not name them
GAP = "nan"  # a number that is missing


def write_channels(channels: Sequence[Sequence[str]]) -> str:
    """One text of channels, each a list of cells as long as the others."""
    if len(channels) == 1:
        return " ".join(channels[0])
    return " ".join(map(",".join, zip(*channels, strict=True)))


def cells_of(text: str, between: str = ",") -> list[str]:
    """The cells of a channel, those that are missing as `nan`."""
    cells = text.split(between)
    if "?" in text or " " in text or not all(cells):
        cells = [cell.strip() for cell in cells]
        return [GAP if is_missing(cell) else cell for cell in cells]
    return cells


def without_missing_end(channels: Sequence[list[str]]) -> list[list[str]]:
    """The channels up to the last step of which any number is there."""
    end = len(channels[0])
    while end > 1 and all(is_missing(cells[end - 1]) for cells in channels):
        end -= 1
    return [[GAP if is_missing(cell) else cell for cell in cells[:end]] for cells in channels]


LEAST = 8  # steps; fewer columns of numbers are a table of something else
SAMPLE = 200  # rows that are looked at
FEW_LABELS = 100
COUNTED = re.compile(r"(.*?)[\s_.\-]*(\d+)")


class Wide(NamedTuple):
    """Which columns, from 0, hold the steps of each channel, and which hold something else."""

    channels: list[list[int]]
    others: list[int]


def fold_steps(records: Records, *, named: bool) -> Records | None:
    """A table of (sequence, label, …) where columns are plainly the steps of labelled sequences; else nothing."""
    if len(records.columns) <= LEAST or not records.rows:
        return None
    wide = by_names(records.columns, records.rows) if named else by_place(records.rows)
    if wide is None or len(wide.others) != 1 or not is_label([row[wide.others[0]] for row in records.rows]):
        return None
    if not named:
        names = (LABEL if at == wide.others[0] else name for at, name in enumerate(records.columns))
        records = records._replace(columns=tuple(names))
    return fold(records, wide)


def by_place(rows: Sequence[tuple[str, ...]]) -> Wide | None:
    """Without names: the label stands first, as in the UCR archive, or last, and all else are numbers."""
    width, sample = len(rows[0]), rows[:: 1 + len(rows) // SAMPLE]
    for label in (0, width - 1):
        steps = [at for at in range(width) if at != label]
        if is_label([row[label] for row in rows]) and all(is_cell(row[at]) for row in sample for at in steps):
            return Wide([steps], [label])
    return None


def by_names(columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> Wide | None:
    """By names that are alike but for a number that counts up by one; channels have as many steps each."""
    groups: dict[str, list[int]] = {}
    numbers: dict[str, list[int]] = {}
    sample = rows[:: 1 + len(rows) // SAMPLE]
    for at, name in enumerate(columns):
        found = COUNTED.fullmatch(name)
        if found is not None and all(is_cell(row[at]) for row in sample):
            groups.setdefault(found[1], []).append(at)
            numbers.setdefault(found[1], []).append(int(found[2]))
    kept = {name: places for name, places in groups.items() if len(places) >= LEAST}
    counts = [numbers[name] for name in kept]
    if not kept or any(one != list(range(one[0], one[0] + len(counts[0]))) for one in counts):
        return None
    taken = {at for places in kept.values() for at in places}
    return Wide(list(kept.values()), [at for at in range(len(columns)) if at not in taken])


def all_numbers(columns: Sequence[str], rows: Sequence[tuple[str, ...]], aside: Sequence[int]) -> Wide | None:
    """All columns of numbers but those aside, where a user says that they are steps."""
    named = by_names(columns, rows)
    if named is not None:
        return named
    sample = rows[:: 1 + len(rows) // SAMPLE]
    steps = [at for at in range(len(columns)) if at not in aside and all(is_cell(row[at]) for row in sample)]
    return Wide([steps], [at for at in range(len(columns)) if at not in steps]) if len(steps) > 1 else None


def fold(records: Records, wide: Wide) -> Records:
    """The rows with one cell for all steps; what is missing at the end makes a sequence shorter, which is said."""
    rows: list[tuple[str, ...]] = []
    shorter = 0
    for row in records.rows:
        channels = [[row[at].strip() for at in steps] for steps in wide.channels]
        kept = without_missing_end(channels) if holds_gap(channels) else channels
        shorter += len(kept[0]) < len(channels[0])
        rows.append((write_channels(kept), *(row[at].strip() for at in wide.others)))
    steps = wide.channels[0]
    names = [records.columns[at] for at in wide.others]
    said = f" beside {in_words(names)}" if names else ""
    notes: tuple[str, ...] = (
        f"{counted(len(steps), 'column')} are the steps of {counted(len(wide.channels), 'channel')}{said}",
    )
    if shorter:
        notes += (f"{counted(shorter, 'row')} with missing numbers at the end: read as shorter sequences",)
    locate: Locate = records.locate

    def place(line: int, column: int) -> Place:
        return locate(line, steps[0] if column == 0 else wide.others[column - 1])

    def inside(line: int, step: int, channel: int) -> Place:
        return locate(line, wide.channels[channel][step])

    folded = records._replace(columns=(SEQUENCE, *names), rows=rows, locate=place, inside=inside)
    return folded._replace(notes=records.notes + notes)


def holds_gap(channels: Sequence[Sequence[str]]) -> bool:
    """Whether any cell is no plain number."""
    return any(not cell or cell[-1] not in "0123456789." for cells in channels for cell in cells)


def is_cell(cell: str) -> bool:
    """Whether a cell is a number or says that one is missing."""
    return is_number(cell) or is_missing(cell)


def is_label(cells: Sequence[str]) -> bool:
    """Whether cells hold one of few values, some of which come again; numbers only where they are whole."""
    values = {cell.strip() for cell in cells}
    if "" in values or not 2 <= len(values) <= min(FEW_LABELS, max(2, len(cells) // 2)):
        return False
    return all(not is_number(value) or float(value.replace(",", ".").rstrip("%")).is_integer() for value in values)
