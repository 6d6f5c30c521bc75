"""Wide format: tables with one column for each time step, as in the UCR archive, folded to one cell a sequence.

Columns with one name and increasing numbers, `t0 t1 t2` or `x_1 … x_150, y_1 … y_150`, are the steps of one channel.
A folded sequence is one text, `0.53,0 0.91,1`: steps separated by spaces, channels by commas.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from atento.data.records import Locate, Place, Records, counted, in_words
from atento.data.tables.headers import is_number
from atento.data.tables.number_lists import is_missing

SEQUENCE, LABEL, TARGET = "sequence", "label", "target"  # names of columns where a format does not name them
MISSING_NUMBER = "nan"
MIN_STEPS = 8  # fewer columns of numbers are another kind of table
SAMPLE_ROWS = 200
MAX_LABELS = 100
NUMBERED_NAME = re.compile(r"(.*?)[\s_.\-]*(\d+)")


def write_channels(channels: Sequence[Sequence[str]]) -> str:
    """A sequence as one text, from channels of equally many cells."""
    if len(channels) == 1:
        return " ".join(channels[0])
    return " ".join(map(",".join, zip(*channels, strict=True)))


def channel_cells(text: str, between: str = ",") -> list[str]:
    """The cells of a channel, missing ones as `nan`."""
    cells = text.split(between)
    if "?" in text or " " in text or not all(cells):
        cells = [cell.strip() for cell in cells]
        return [MISSING_NUMBER if is_missing(cell) else cell for cell in cells]
    return cells


def without_missing_end(channels: Sequence[list[str]]) -> list[list[str]]:
    """The channels without the steps at the end at which all numbers are missing."""
    end = len(channels[0])
    while end > 1 and all(is_missing(cells[end - 1]) for cells in channels):
        end -= 1
    return [[MISSING_NUMBER if is_missing(cell) else cell for cell in cells[:end]] for cells in channels]


class StepColumns(NamedTuple):
    """The indices of the columns with the steps of each channel, and of all other columns."""

    channels: list[list[int]]
    others: list[int]


def fold_steps(records: Records, *, named: bool) -> Records | None:
    """The rows as (sequence, label) where the columns are the steps of labelled sequences; None for any other table."""
    if len(records.columns) <= MIN_STEPS or not records.rows:
        return None
    wide = by_names(records.columns, records.rows) if named else by_position(records.rows)
    if wide is None or len(wide.others) != 1 or not is_label([row[wide.others[0]] for row in records.rows]):
        return None
    if not named:
        names = (LABEL if at == wide.others[0] else name for at, name in enumerate(records.columns))
        records = records._replace(columns=tuple(names))
    return fold_columns(records, wide)


def by_position(rows: Sequence[tuple[str, ...]]) -> StepColumns | None:
    """Step columns without names: the label is first, as in the UCR archive, or last, and all others are numbers."""
    width, sample = len(rows[0]), rows[:: 1 + len(rows) // SAMPLE_ROWS]
    for label in (0, width - 1):
        steps = [at for at in range(width) if at != label]
        if is_label([row[label] for row in rows]) and all(
            is_number_or_missing(row[at]) for row in sample for at in steps
        ):
            return StepColumns([steps], [label])
    return None


def by_names(columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> StepColumns | None:
    """Step columns by names with consecutive numbers; all channels have equally many steps."""
    groups: dict[str, list[int]] = {}
    numbers: dict[str, list[int]] = {}
    sample = rows[:: 1 + len(rows) // SAMPLE_ROWS]
    for at, name in enumerate(columns):
        found = NUMBERED_NAME.fullmatch(name)
        if found is not None and all(is_number_or_missing(row[at]) for row in sample):
            groups.setdefault(found[1], []).append(at)
            numbers.setdefault(found[1], []).append(int(found[2]))
    kept = {name: places for name, places in groups.items() if len(places) >= MIN_STEPS}
    counts = [numbers[name] for name in kept]
    if not kept or any(one != list(range(one[0], one[0] + len(counts[0]))) for one in counts):
        return None
    taken = {at for places in kept.values() for at in places}
    return StepColumns(list(kept.values()), [at for at in range(len(columns)) if at not in taken])


def numeric_steps(columns: Sequence[str], rows: Sequence[tuple[str, ...]], aside: Sequence[int]) -> StepColumns | None:
    """All columns of numbers but those aside, where the user says that they are steps."""
    named = by_names(columns, rows)
    if named is not None:
        return named
    sample = rows[:: 1 + len(rows) // SAMPLE_ROWS]
    steps = [
        at for at in range(len(columns)) if at not in aside and all(is_number_or_missing(row[at]) for row in sample)
    ]
    return StepColumns([steps], [at for at in range(len(columns)) if at not in steps]) if len(steps) > 1 else None


def fold_columns(records: Records, wide: StepColumns) -> Records:
    """The rows with one cell for all steps; missing numbers at the end make a sequence shorter, with a note."""
    rows: list[tuple[str, ...]] = []
    shorter = 0
    for row in records.rows:
        channels = [[row[at].strip() for at in steps] for steps in wide.channels]
        kept = without_missing_end(channels) if has_missing(channels) else channels
        shorter += len(kept[0]) < len(channels[0])
        rows.append((write_channels(kept), *(row[at].strip() for at in wide.others)))
    steps = wide.channels[0]
    names = [records.columns[at] for at in wide.others]
    beside = f" beside {in_words(names)}" if names else ""
    notes: tuple[str, ...] = (
        f"{counted(len(steps), 'column')} are the steps of {counted(len(wide.channels), 'channel')}{beside}",
    )
    if shorter:
        notes += (f"{counted(shorter, 'row')} with missing numbers at the end: read as shorter sequences",)
    locate: Locate = records.locate

    def place(line: int, column: int) -> Place:
        return locate(line, steps[0] if column == 0 else wide.others[column - 1])

    def locate_number(line: int, step: int, channel: int) -> Place:
        return locate(line, wide.channels[channel][step])

    folded = records._replace(columns=(SEQUENCE, *names), rows=rows, locate=place, locate_number=locate_number)
    return folded._replace(notes=records.notes + notes)


def has_missing(channels: Sequence[Sequence[str]]) -> bool:
    """Whether any cell may be a missing number."""
    return any(not cell or cell[-1] not in "0123456789." for cells in channels for cell in cells)


def is_number_or_missing(cell: str) -> bool:
    """Whether a cell is a number or stands for a missing one."""
    return is_number(cell) or is_missing(cell)


def is_label(cells: Sequence[str]) -> bool:
    """Whether cells hold few repeated values; numbers only where they are whole."""
    values = {cell.strip() for cell in cells}
    if "" in values or not 2 <= len(values) <= min(MAX_LABELS, max(2, len(cells) // 2)):
        return False
    return all(not is_number(value) or float(value.replace(",", ".").rstrip("%")).is_integer() for value in values)
