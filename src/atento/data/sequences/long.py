"""Tables in long form, with a row for each time step of a case, folded to one sequence for each case.

Missing numbers of a sequence are refused at their place, or filled as the recipe says.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from atento.data.columns.numbers import around_columns, with_plain_numbers
from atento.data.numbers.reading import Around, read_numbers
from atento.data.records import Place, Refusal, counted, excerpt, in_words
from atento.data.series.cleaning import FILLS
from atento.data.tables.column_names import LABEL, is_named
from atento.data.tables.number_lists import ParseProblem, is_missing, parse_number, read_fast, read_steps
from atento.data.tables.table import Table
from atento.data.tables.wide import MISSING_NUMBER, SEQUENCE, write_channels

# Axes: T time, C channels.

STEPS = 3  # of a case on average, at least
CASE_NAMES = """
    id case sample instance subject series sequence recording trial window segment
    messung fall probe proband versuch aufnahme caso muestra sujeto ensayo medición medida cas essai sujet mesure
    échantillon campione prova soggetto misura
"""
TIME_NAMES = """
    time t step timestamp date ds second seconds ms frame index tick
    zeit zeitpunkt schritt sekunde sekunden tiempo hora paso segundo segundos temps pas seconde secondes tempo passo
    secondi
"""
CASES, TIMES = frozenset(CASE_NAMES.split()), frozenset(TIME_NAMES.split())

Gaps = Literal["stop", "linear", "previous"]
FIX = "write a number there, or fill what is missing: --set data.gaps=linear or --set data.gaps=previous"


class LongColumns(NamedTuple):
    """The columns of a table in long form, from 0; -1: none."""

    case: int
    time: int
    channels: list[int]
    label: int


def find_cases(table: Table, *, case: int = -1, time: int = -1, label: int = -1) -> LongColumns | None:
    """The columns of a table in long form, as given or as guessed; None where the table has another form."""
    if case < 0:
        distinct = {at: len({row[at] for row in table.rows}) for at in columns_named(table, CASES)}
        case = next((at for at, count in distinct.items() if 2 <= count <= len(table.rows) / STEPS), -1)
    if case < 0:
        return None
    if time < 0:
        time = next((at for at in columns_named(table, TIMES) if at not in (case, label)), -1)
    free = [at for at in range(len(table.columns)) if at not in (case, time)]
    if label < 0:
        constant = [at for at in free if is_constant_per_case(table, case, at)]
        label = next((at for at in constant if is_named(table.columns[at], LABEL)), constant[-1] if constant else -1)
    around = around_columns(table, "")
    channels = [at for at in free if at != label and all_numbers([row[at] for row in table.rows], around)]
    return LongColumns(case, time, channels, label) if channels else None


def columns_named(table: Table, names: frozenset[str]) -> list[int]:
    """The columns with one of these names, also as in `case_id`."""
    return [at for at, name in enumerate(table.columns) if is_named(name, names)]


def is_constant_per_case(table: Table, case: int, column: int) -> bool:
    """Whether a column has one value in all rows of a case, and few but several values in all."""
    values: dict[str, str] = {}
    if any(values.setdefault(row[case], row[column]) != row[column] for row in table.rows):
        return False
    return 2 <= len(set(values.values())) <= max(2, len(values) // 2)


def all_numbers(cells: Sequence[str], around: Around) -> bool:
    """Whether each cell is a number or marks a missing one."""
    numbers = read_numbers(cells, around)
    return numbers.is_numeric and not numbers.invalid.any()


def fold_cases(table: Table, long: LongColumns, *, order: str, decimal: str = "") -> Table:
    """A table of one row for each case: its sequence, its name and its label. A case whose rows are not in order of
    time is refused, or sorted where `order` is "sort".
    """
    table = with_plain_numbers(table, [*long.channels, *([long.time] if long.time >= 0 else [])], decimal)
    members: dict[str, list[int]] = {}
    for at, row in enumerate(table.rows):
        members.setdefault(row[long.case].strip(), []).append(at)
    rows: list[tuple[str, ...]] = []
    lines: list[int] = []
    refused = list(table.refused)
    steps_at: dict[int, list[int]] = {}  # line of a case -> its rows in order
    unordered = 0
    for case, steps in members.items():
        wrong = label_change(table, long, steps)
        late = -1 if long.time < 0 else first_unordered(table, long.time, steps)
        if wrong is None and late >= 0 and order == "sort":
            steps, unordered = sorted(steps, key=time_key(table, long.time)), unordered + 1
        elif wrong is None and late >= 0:
            fix = "sort the rows, or pass --set data.order=sort"
            found = excerpt(table.rows[late][long.time])
            sort = {"data.order": "sort"}
            wrong = Refusal(*table.place(late, long.time), f"case {case!r} goes back in time here.", found, fix, sort)
        if wrong is not None:
            refused.append(wrong)
            continue
        channels = ([table.rows[at][channel] for at in steps] for channel in long.channels)
        cells = [[MISSING_NUMBER if is_missing(cell) else cell.strip() for cell in channel] for channel in channels]
        label = [table.rows[steps[0]][long.label].strip()] if long.label >= 0 else []
        rows.append((write_channels(cells), case, *label))
        lines.append(table.lines[steps[0]])
        steps_at[table.lines[steps[0]]] = steps

    def locate(line: int, column: int) -> Place:
        first = (long.channels[0], long.case, long.label)[column]
        return table.place(steps_at[line][0], first)

    def locate_number(line: int, step: int, channel: int) -> Place:
        return table.place(steps_at[line][step], long.channels[channel])

    names = in_words([table.columns[at] for at in long.channels])
    order_text = f" in order of {table.columns[long.time]!r}" if long.time >= 0 else " in the order of the file"
    notes: tuple[str, ...] = (
        f"column {table.columns[long.case]!r} names {counted(len(members), 'case')} of {names},{order_text}",
    )
    if unordered:
        notes += (f"{counted(unordered, 'case')} sorted by time",)
    columns = (SEQUENCE, table.columns[long.case], *([table.columns[long.label]] if long.label >= 0 else []))
    return replace(
        table,
        columns=columns,
        rows=tuple(rows),
        lines=tuple(lines),
        refused=tuple(refused),
        notes=table.notes + notes,
        kind="sequences",
        locate=locate,
        locate_number=locate_number,
    )


def label_change(table: Table, long: LongColumns, steps: Sequence[int]) -> Refusal | None:
    """The refusal of a case whose rows have different labels, at the first that differs."""
    if long.label < 0:
        return None
    first = table.rows[steps[0]][long.label]
    other = next((at for at in steps if table.rows[at][long.label] != first), -1)
    if other < 0:
        return None
    return Refusal(
        *table.place(other, long.label),
        f"the label of case {table.rows[other][long.case]!r} changes here.",
        found=f"{excerpt(table.rows[other][long.label])} after {excerpt(first)}",
        fix="give all rows of a case one label",
    )


def first_unordered(table: Table, time: int, steps: Sequence[int]) -> int:
    """The first row that is not later than the one before; -1: there is none."""
    key = time_key(table, time)
    return next((now for before, now in pairwise(steps) if key(now) <= key(before)), -1)


def time_key(table: Table, time: int) -> Callable[[int], tuple[float, str]]:
    """The sort key of a row: its time as a number where it is one, else as text."""

    def key(row: int) -> tuple[float, str]:
        cell = table.rows[row][time].strip()
        number = parse_number(cell)
        return (0.0, cell) if number is None else (number, "")

    return key


class FilledSequence(NamedTuple):
    """A sequence without missing numbers as text, how many were filled, and its channels."""

    text: str
    filled: int
    channels: int


class SequenceProblem(NamedTuple):
    """Why a text is not a sequence, and at which step and channel, from 0."""

    problem: ParseProblem
    step: int
    channel: int


def fill_missing(text: str, gaps: Gaps, *, channels: int = 0) -> FilledSequence | SequenceProblem:
    """The sequence with missing numbers filled, or its first problem; it must have `channels` channels, if not 0."""
    quick = read_fast(text, channels=channels)
    if quick is not None:
        return FilledSequence(text, 0, quick.shape[1])
    steps = [step.split(",") for step in text.split()]
    missing = [(at, channel) for at, step in enumerate(steps) for channel, cell in enumerate(step) if is_missing(cell)]
    whole = read_steps(
        " ".join(",".join("0" if is_missing(cell) else cell for cell in step) for step in steps), channels=channels
    )
    if isinstance(whole, ParseProblem):
        return locate_problem(text, steps, whole, channels)
    if missing and gaps == "stop":
        at, channel = missing[0]
        of = f" of channel {channel + 1}" if len(steps[at]) > 1 else ""
        found = f"{excerpt(steps[at][channel])}, one of {len(missing)} missing in this sequence"
        place, linear = offset_of(text, at, channel), {"data.gaps": "linear"}
        return SequenceProblem(ParseProblem(place, f"step {at + 1}{of} is missing.", found, FIX, linear), at, channel)
    there = np.array([[not is_missing(cell) for cell in step] for step in steps])
    empty = np.flatnonzero(~there.any(axis=0))
    if len(empty):
        problem = f"channel {empty[0] + 1} has no number at all."
        return SequenceProblem(ParseProblem(0, problem, excerpt(text), "leave the sequence out"), 0, int(empty[0]))
    numbers = np.where(there, np.array(whole, dtype=np.float64), np.nan)  # (T, C)
    filled = numbers if not missing else np.stack([FILLS[gaps](channel) for channel in numbers.T], axis=1)
    cells = [
        ",".join(cell if kept else repr(float(number)) for cell, kept, number in zip(*parts, strict=True))
        for parts in zip(steps, there, filled, strict=True)
    ]
    return FilledSequence(" ".join(cells), len(missing), there.shape[1])


def locate_problem(text: str, steps: list[list[str]], problem: ParseProblem, channels: int) -> SequenceProblem:
    """The problem of a text that may also lack numbers, at its place."""
    width = channels or (len(steps[0]) if steps else 1)
    for at, step in enumerate(steps):
        wrong = [isinstance(read_steps("0" if is_missing(cell) else cell), ParseProblem) for cell in step]
        if any(wrong) or len(step) != width:
            channel = wrong.index(True) if any(wrong) else 0
            return SequenceProblem(problem._replace(at=offset_of(text, at, channel)), at, channel)
    return SequenceProblem(problem, 0, 0)


def offset_of(text: str, step: int, channel: int) -> int:
    """The offset of a number in a text, from 0."""
    at = 0
    for number, cells in enumerate(text.split()):
        at = text.index(cells, at)
        if number == step:
            return at + sum(len(cell) + 1 for cell in cells.split(",")[:channel])
        at += len(cells)
    return 0
