"""Tables with a row for each series: names, then the values of one step after the other, as in the M4 competition.

The steps are columns whose names count (V2, V3), or are years or dates (1960, 1961), or they are a list in one cell
beside the time of the first (.tsf, GluonTS). Rows may be of unlike length; what is missing at their ends is no gap.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from atento.data.columns.numbers import around_columns, refuse_doubt
from atento.data.numbers.dialects import is_number
from atento.data.numbers.reading import NumberCells, read_numbers, tell_decided
from atento.data.records import counted, in_words
from atento.data.series.cleaning import FILLS
from atento.data.series.column_words import TIME_WORDS, has_word, words
from atento.data.series.frequency import date_range, infer_frequency, parse_frequency
from atento.data.series.grid import error_at
from atento.data.series.series import Frequency, Integers, Numbers, Series, Times
from atento.data.series.timestamps import are_timestamps, parse_timestamps
from atento.data.tables.number_lists import is_missing, is_sequence
from atento.data.tables.table import Table
from atento.data.tables.wide import NUMBERED_NAME, are_all_numbers
from atento.errors import InputError
from atento.spec import DataRecipe

MIN_STEPS = 8
FIRST_YEAR, LAST_YEAR = 1500, 2200
SAMPLE_ROWS = 50
LONGEST_NAMES = 3  # columns that together name a series
MOST_FACTS = 8  # columns of numbers that may stand between the names and the steps, as a latitude
LIST_KINDS = frozenset({"tsf", "jsonl", "parquet"})
START_WORDS = frozenset({"start", "starttimestamp", "begin"})
FREQUENCY_NAMES = frozenset({"frequency", "freq"})
UNITS = TIME_WORDS | words("t h d w m q y hr wk qtr yr")


class SeriesInRows(NamedTuple):
    """Which columns of a table hold what, from 0."""

    names: tuple[int, ...]  # that tell the series apart
    steps: tuple[int, ...]  # columns of the values; one: it holds lists
    times: Integers | None = None  # microseconds since 1970 of each step; None: steps are counted
    start: int = -1  # the column of the time of the first step
    frequency: int = -1  # the column of the frequency

    @property
    def lists(self) -> bool:
        """Whether the values of a series are a list in one cell."""
        return len(self.steps) == 1


def find_series_in_rows(table: Table) -> SeriesInRows | None:
    """The columns of a table with a row for each series; None for any other table."""
    if not table.rows:
        return None
    if table.kind in LIST_KINDS:
        return lists_of_values(table)
    if table.kind not in ("csv", "tsv", "xlsx", "spaced") or len(table.columns) <= MIN_STEPS:
        return None
    steps = step_columns(table)
    if len(steps) < MIN_STEPS:
        return None
    others = list(range(len(table.columns) - len(steps)))  # the steps come last
    texts = [at for at in others if not is_number(table.rows[0][at])]
    if not texts or any(are_times(table, at) for at in others):
        return None
    names = naming_columns(table, texts)
    return SeriesInRows(names, tuple(steps), times_named([table.columns[at] for at in steps])) if names else None


def step_columns(table: Table) -> list[int]:
    """The columns of numbers, one after the other to the last, whose names count or are times in a row; a few numbers
    of another kind may stand before them.
    """
    rows = table.rows[:: 1 + len(table.rows) // SAMPLE_ROWS]
    first = len(table.columns)
    while first and are_all_numbers([row[first - 1] for row in rows]):
        first -= 1
    if not table.header:
        return list(range(first, len(table.columns)))
    for begin in range(first, min(first + MOST_FACTS + 1, len(table.columns))):
        names = table.columns[begin:]
        if count_up(names) or times_named(names) is not None:
            return list(range(begin, len(table.columns)))
    return []


def count_up(names: Sequence[str]) -> bool:
    """Whether names have one stem and numbers in a row, as V2, V3, V4."""
    found = [NUMBERED_NAME.fullmatch(name) for name in names]
    stems = {one[1] for one in found if one is not None}
    numbers = [int(one[2]) for one in found if one is not None]
    return (
        len(numbers) == len(names) > 0
        and len(stems) == 1
        and numbers == list(range(numbers[0], numbers[0] + len(names)))
    )


def times_named(names: Sequence[str]) -> Integers | None:
    """The times that names say, years or dates at equal steps, in microseconds since 1970; None: they say none."""
    bare = [name.removeprefix("X").removeprefix("x") for name in names]  # R writes X1960
    if all(name.isdigit() and FIRST_YEAR <= int(name) <= LAST_YEAR for name in bare):
        bare = [f"{name}-01-01" for name in bare]
    if len(bare) < MIN_STEPS or not are_timestamps(bare, 1.0):
        return None
    found = parse_timestamps(bare)
    times = found.day_first if found.valid.all() else found.month_first
    rising = bool((np.diff(times) > 0).all())
    even = infer_frequency(times, np.zeros(len(times), np.int64)) is not None
    return times if rising and even else None


def count_time(table: Table, form: SeriesInRows) -> bool:
    """Whether the names of the steps count a unit of time, as d_1, d_2 and week1, week2."""
    found = NUMBERED_NAME.fullmatch(table.columns[form.steps[0]])
    return table.header and not form.lists and found is not None and found[1].lower() in UNITS


def are_times(table: Table, at: int) -> bool:
    """Whether a column holds times: then each row is a step, not a series."""
    cells = [row[at] for row in table.rows[:SAMPLE_ROWS]]
    return are_timestamps(cells, 0.9) or (has_word(table.columns[at], TIME_WORDS) and all(map(is_number, cells)))


def naming_columns(table: Table, texts: Sequence[int]) -> tuple[int, ...]:
    """The first column of texts that are all different, else the first few that are so together."""
    for count in range(1, LONGEST_NAMES + 1):
        for first in range(len(texts)) if count == 1 else (0,):
            names = tuple(texts[first : first + count])
            if len({tuple(row[at].strip() for at in names) for row in table.rows}) == len(table.rows):
                return names
    return ()


def lists_of_values(table: Table) -> SeriesInRows | None:
    """A table with a column of lists of numbers; in other files than .tsf, beside the time of the first."""
    rows = table.rows[:: 1 + len(table.rows) // SAMPLE_ROWS]
    lists = [at for at in range(len(table.columns)) if all(is_sequence(row[at].replace("\t", " ")) for row in rows)]
    others = [at for at in range(len(table.columns)) if at not in lists]
    start = next((at for at in others if is_start(table, at)), -1)
    if len(lists) != 1 or (table.kind != "tsf" and start < 0):
        return None
    frequency = next((at for at in others if table.columns[at].lower() in FREQUENCY_NAMES), -1)
    texts = [at for at in others if at not in (start, frequency)]
    return SeriesInRows(naming_columns(table, texts), (lists[0],), None, start, frequency)


def is_start(table: Table, at: int) -> bool:
    """Whether a column is named as the beginning of a series, and holds times."""
    name = "".join(filter(str.isalpha, table.columns[at].lower()))
    return name in START_WORDS and are_timestamps(start_cells(table, at), 0.9)


def start_cells(table: Table, at: int) -> list[str]:
    """The times in a column; those of the Monash archive have hyphens between hours, minutes and seconds."""
    cells = [row[at].strip() for row in table.rows]
    return [f"{cell[:11]}{cell[11:].replace('-', ':')}" if len(cell) == 19 else cell for cell in cells]


def smoothness(table: Table, form: SeriesInRows) -> float:
    """The correlation of neighbouring values, each row centred by itself, over a sample of the rows."""
    rows = table.rows[:: 1 + len(table.rows) // SAMPLE_ROWS]
    pairs = []
    for row in rows:
        cells = row[form.steps[0]].replace("\t", " ").split() if form.lists else [row[at] for at in form.steps]
        values = read_numbers([cell for cell in cells if not is_missing(cell)]).values
        values = values[np.isfinite(values)]
        scale = np.abs(values).max(initial=0.0)
        if len(values) > 2 and np.ptp(values) > 0:
            centred = values / scale - (values / scale).mean()
            pairs.append(np.stack([centred[:-1], centred[1:]]) / centred.std())
    if not pairs:
        return 0.0
    one, other = np.concatenate(pairs, axis=1)
    return float((one * other).mean() / np.sqrt((one * one).mean() * (other * other).mean()))


class RowsRead(NamedTuple):
    """The series of a table with a row for each."""

    series: tuple[Series, ...]
    frequency: Frequency
    notes: tuple[str, ...]
    channel: str


def read_rows(table: Table, form: SeriesInRows, recipe: DataRecipe) -> RowsRead:
    """The series, each from its first number to its last; numbers that are missing between are filled or refused."""
    numbers = read_all(table, form, recipe)
    frequency, times = time_axis(table, form, recipe)
    series, empty, filled = [], [], 0
    for at, (row, values) in enumerate(zip(table.rows, values_of(table, form, numbers), strict=True)):
        name = "/".join(row[column].strip() for column in form.names) or str(at + 1)
        there = np.flatnonzero(np.isfinite(values))
        if not len(there):
            empty.append(name)
            continue
        first, last = int(there[0]), int(there[-1]) + 1
        kept = values[first:last]
        if len(there) < len(kept):
            kept, filled = fill(table, form, at, first, kept, recipe), filled + len(kept) - len(there)
        when = times(at, first, last)
        series.append(Series(name, kept[:, None], np.zeros((len(kept), 0)), when, line=table.lines[at]))
    if not series:
        raise InputError(f"{table.file}: no row holds a number.", found=counted(len(empty), "row"), fix="add numbers")
    notes = [
        f"each row is a series, named by {in_words([repr(table.columns[at]) for at in form.names]) or 'its number'}"
    ]
    used = {*form.names, *form.steps, form.start, form.frequency}
    unused = [repr(name) for at, name in enumerate(table.columns) if at not in used]
    notes += [f"{in_words(unused, 8)} {'is' if len(unused) == 1 else 'are'} not used"] if unused else []
    notes += tell_decided([(table.columns[form.steps[0]], numbers)]) if numbers is not None else []
    notes += [f"{counted(len(empty), 'row')} without a number left out: {in_words(empty, 5)}"] if empty else []
    notes += [f"{counted(filled, 'missing number')} filled (data.gaps={recipe.gaps})"] if filled else []
    return RowsRead(tuple(series), frequency, (*table.notes, *notes), "value")


def read_all(table: Table, form: SeriesInRows, recipe: DataRecipe) -> NumberCells | None:
    """All numbers in the columns of steps, in one dialect; None where they are lists."""
    if form.lists:
        return None
    around = around_columns(table, recipe.decimal)
    numbers = read_numbers([row[at] for row in table.rows for at in form.steps], around)
    refuse_doubt(table, form.steps[0], numbers)
    if numbers.invalid.any():
        row, step = divmod(int(np.argmax(numbers.invalid)), len(form.steps))
        at = form.steps[step]
        raise error_at(
            table.place(row, at),
            f"the column {table.columns[at]!r} holds no number here.",
            found=repr(table.rows[row][at]),
            fix="write a number there, or leave the cell empty",
        )
    return numbers


def values_of(table: Table, form: SeriesInRows, numbers: NumberCells | None) -> Iterator[Numbers]:
    """The values of each row, NaN where they are missing."""
    if numbers is not None:
        yield from numbers.values.reshape(len(table.rows), len(form.steps))
        return
    for row in table.rows:
        cells = row[form.steps[0]].replace("\t", " ").split()
        yield np.array([np.nan if is_missing(cell) else float(cell) for cell in cells], np.float64)


def time_axis(
    table: Table, form: SeriesInRows, recipe: DataRecipe
) -> tuple[Frequency, Callable[[int, int, int], Times | None]]:
    """The frequency, and the times of the steps `first` to `last` of a row."""
    if form.times is not None:
        frequency = infer_frequency(form.times, np.zeros(len(form.times), np.int64)) or Frequency(1, "")
        stamps = form.times.astype("datetime64[us]")
        return frequency, lambda row, first, last: stamps[first:last]
    written = recipe.frequency or (table.rows[0][form.frequency] if form.frequency >= 0 else "")
    if form.start < 0 or not written:
        return Frequency(1, ""), lambda row, first, last: None
    frequency = parse_frequency(written)
    begins = parse_timestamps(start_cells(table, form.start)).day_first.astype("datetime64[us]")
    return frequency, lambda row, first, last: date_range(begins[row], frequency, last)[first:]


def fill(table: Table, form: SeriesInRows, row: int, first: int, values: Numbers, recipe: DataRecipe) -> Numbers:
    """Values without gaps; the first gap is refused unless the recipe says how to fill it."""
    if recipe.gaps != "stop":
        return FILLS[recipe.gaps](values)
    step = first + int(np.argmax(~np.isfinite(values)))
    at = form.steps[0] if form.lists else form.steps[step]
    raise error_at(
        table.place(row, at),
        f"the number of step {step + 1} is missing between others.",
        found=f"{int((~np.isfinite(values)).sum())} missing in this series",
        fix="write numbers there, or pass --set data.gaps=linear or previous to fill them",
        settings={"data.gaps": "linear"},
    )
