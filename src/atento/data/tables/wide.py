"""Wide format: tables with one column for each time step, as in the UCR archive, folded to one cell per sequence.

Columns with one name and increasing numbers, `t0 t1 t2` or `x_1 … x_150, y_1 … y_150`, are the steps of one channel.
A folded sequence is one text, `0.53,0 0.91,1`: steps separated by spaces, channels by commas.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from atento.data.numbers.dialects import is_number
from atento.data.numbers.reading import Around, NumberCells, read_numbers, tell_decided, write_plain
from atento.data.records import Locate, LocateNumber, Place, Records, counted, in_words
from atento.data.tables.number_lists import is_missing

SEQUENCE, LABEL, TARGET = "sequence", "label", "target"  # names of columns where a format does not name them
MISSING_NUMBER = "nan"
MIN_STEPS = 8  # fewer columns of numbers are another kind of table
SAMPLE_ROWS = 200
MAX_LABELS = 100
SCIENTIFIC = re.compile(r"[+-]?\d\.\d*[eE][+-]?\d+")
NUMBERED_NAME = re.compile(r"(.*?)[\s_.\-]*(\d+)")


def write_channels(channels: Sequence[Sequence[str]]) -> str:
    """A sequence as one text, from channels of equally many cells."""
    return " ".join(map(",".join, zip(*channels, strict=True)))


def channel_cells(text: str) -> list[str]:
    """The cells of a channel, missing ones as `nan`."""
    cells = text.split(",")
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


def fold_steps(records: Records, *, named: bool, delimiter: str = ",") -> Records | None:
    """The rows as (sequence, label) where the columns are the steps of labelled sequences; None for any other table,
    and where the numbers can be read in two ways.
    """
    if not records.rows:
        return None
    wide = by_names(records.columns, records.rows) if named else by_position(records.rows)
    if wide is None or len(wide.others) != 1 or not is_label([row[wide.others[0]] for row in records.rows]):
        return None
    records = with_plain_labels(records, wide.others[0])
    if not named:
        names = (LABEL if at == wide.others[0] else name for at, name in enumerate(records.columns))
        records = records._replace(columns=tuple(names))
    rows, numbers = plain_steps(records.rows, wide, Around(delimiter=delimiter))
    if numbers is not None and numbers.doubt is not None:
        return None
    folded = fold_columns(records.columns, rows, wide, records.locate, numbers)
    return records._replace(**folded._replace(notes=records.notes + folded.notes)._asdict())


def with_plain_labels(records: Records, label: int) -> Records:
    """The rows with labels as `1` where numpy has written all of them as `1.0000000e+00`."""
    if not all(SCIENTIFIC.fullmatch(row[label].strip()) for row in records.rows):
        return records
    plain = [(*row[:label], f"{float(row[label]):g}", *row[label + 1 :]) for row in records.rows]
    first = f"{records.rows[0][label].strip()} is {plain[0][label]}"
    return records._replace(rows=plain, notes=(*records.notes, f"labels are whole numbers: {first}"))


def by_position(rows: Sequence[tuple[str, ...]]) -> StepColumns | None:
    """Step columns without names: the label is first, as in the UCR archive, or last, and all others are numbers."""
    width = len(rows[0])
    labels = [at for at in (0, width - 1) if is_label([row[at] for row in rows])]
    numeric = numeric_columns(rows) if labels else set()
    for label in labels:
        steps = [at for at in range(width) if at != label]
        if numeric.issuperset(steps):
            return StepColumns([steps], [label])
    return None


def numeric_columns(rows: Sequence[tuple[str, ...]]) -> set[int]:
    """The columns whose cells, in a sample of the rows, are numbers or stand for missing ones."""
    sample = rows[:: 1 + len(rows) // SAMPLE_ROWS]
    return {at for at, cells in enumerate(zip(*sample, strict=True)) if are_all_numbers(cells)}


def are_all_numbers(cells: Sequence[str]) -> bool:
    """Whether cells are numbers or stand for missing ones; plain numbers are read fastest."""
    try:
        return "_" not in "".join(cells) and bool(list(map(float, cells)))
    except ValueError:
        return all(is_number(cell) or is_missing(cell) for cell in cells)


def by_names(columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> StepColumns | None:
    """Step columns by names with consecutive numbers; all channels have equally many steps."""
    groups: dict[str, list[int]] = {}
    numbers: dict[str, list[int]] = {}
    numeric = numeric_columns(rows)
    for at, name in enumerate(columns):
        found = NUMBERED_NAME.fullmatch(name)
        if found is not None and at in numeric:
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
    steps = sorted(numeric_columns(rows).difference(aside))
    return StepColumns([steps], [at for at in range(len(columns)) if at not in steps]) if len(steps) > 1 else None


class FoldedColumns(NamedTuple):
    """What of a table changes when its step columns become one cell."""

    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    notes: tuple[str, ...]
    locate: Locate
    locate_number: LocateNumber


def plain_steps(
    cells: Sequence[tuple[str, ...]], wide: StepColumns, around: Around
) -> tuple[Sequence[tuple[str, ...]], NumberCells | None]:
    """The rows with the numbers of their steps as Python writes them, and what was decided; None: they were so."""
    steps = sorted(at for channel in wide.channels for at in channel)
    sample = [row[at] for row in cells[:: 1 + len(cells) // SAMPLE_ROWS] for at in steps]
    if read_numbers(sample, around).is_plain:
        return cells, None
    if read_numbers([cell for cell in sample if not is_missing(cell)], around).is_plain:
        return cells, None
    flat = [row[at] for row in cells for at in steps]
    numbers = read_numbers(flat, around)
    written, places = iter(write_plain(flat, numbers)), frozenset(steps)
    rows = [tuple(next(written) if at in places else cell for at, cell in enumerate(row)) for row in cells]
    return rows, numbers


def fold_columns(
    columns: Sequence[str],
    cells: Sequence[tuple[str, ...]],
    wide: StepColumns,
    locate: Locate,
    numbers: NumberCells | None = None,
) -> FoldedColumns:
    """The rows with one cell for all steps; missing numbers at the end make a sequence shorter, with a note. `numbers`
    is what was decided about how they are written.
    """
    rows: list[tuple[str, ...]] = []
    shorter = 0
    for row in cells:
        channels = [[row[at].strip() for at in steps] for steps in wide.channels]
        kept = without_missing_end(channels) if has_missing(channels) else channels
        shorter += len(kept[0]) < len(channels[0])
        rows.append((write_channels(kept), *(row[at].strip() for at in wide.others)))
    steps = wide.channels[0]
    names = [columns[at] for at in wide.others]
    beside = f" beside {in_words(names)}" if names else ""
    notes: tuple[str, ...] = (
        f"{counted(len(steps), 'column')} are the steps of {counted(len(wide.channels), 'channel')}{beside}",
    )
    notes += tuple(tell_decided([(columns[steps[0]], numbers)])) if numbers is not None else ()
    if shorter:
        notes += (f"{counted(shorter, 'row')} with missing numbers at the end: read as shorter sequences",)

    def place(line: int, column: int) -> Place:
        return locate(line, steps[0] if column == 0 else wide.others[column - 1])

    def locate_number(line: int, step: int, channel: int) -> Place:
        return locate(line, wide.channels[channel][step])

    return FoldedColumns((SEQUENCE, *names), rows, notes, place, locate_number)


def has_missing(channels: Sequence[Sequence[str]]) -> bool:
    """Whether any cell may be a missing number."""
    return any(not cell or cell[-1] not in "0123456789." for cells in channels for cell in cells)


def is_label(cells: Sequence[str]) -> bool:
    """Whether cells hold few repeated values; numbers only where they are whole."""
    values = {cell.strip() for cell in cells}
    if "" in values or len(values) == len(cells) or not 2 <= len(values) <= min(MAX_LABELS, max(2, len(cells) // 2)):
        return False
    numbers = [value for value in values if is_number(value)]
    return not numbers or read_numbers(numbers).is_whole
