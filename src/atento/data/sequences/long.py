"""Long tables: a row a step, a column that says to which case it belongs, and what is true of the case in every row.

Numbers that are missing in a sequence: refused where they stand, or filled as the user says.
Decimal commas of a table whose cells are parted by semicolons, written as points.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.data.records import Place, Refusal, counted, excerpt, in_words
from atento.data.series.numbers import read_numbers
from atento.data.tables.names import LABEL, is_named
from atento.data.tables.number_lists import Numbers, Problem, as_number, is_missing, read_quickly, read_steps
from atento.data.tables.table import Table
from atento.data.tables.wide import GAP, SEQUENCE, write_channels


def with_points(table: Table) -> Table:
    """The table with points for commas in columns of numbers; as it is where no semicolons part the cells."""
    if table.delimiter != ";":
        return table
    found = [read_numbers([row[at] for row in table.rows], commas=True) for at in range(len(table.columns))]
    commas = {at for at, cells in enumerate(found) if cells.commas and cells.is_numeric}
    if not commas:
        return table
    rows = tuple(
        tuple(cell.replace(",", ".") if at in commas else cell for at, cell in enumerate(row)) for row in table.rows
    )
    note = f"decimals are written with commas in {in_words([repr(table.columns[at]) for at in sorted(commas)])}"
    return replace(table, rows=rows, notes=(*table.notes, note), delimiter=",")


STEPS = 3  # of a case, on average, at least
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
CASES, TIMES = tuple(CASE_NAMES.split()), tuple(TIME_NAMES.split())


class Long(NamedTuple):
    """The columns of a long table, from 0; -1: there is none."""

    case: int
    time: int
    channels: list[int]
    label: int


def find_cases(table: Table, *, case: int = -1, time: int = -1, label: int = -1) -> Long | None:
    """The columns of a long table, those that are given and those that fit; nothing where it is none."""
    table = with_points(table)
    if case < 0:
        case = next((at for at in by_name(table, CASES) if comes_again(table, at)), -1)
    if case < 0:
        return None
    if time < 0:
        time = next((at for at in by_name(table, TIMES) if at not in (case, label)), -1)
    free = [at for at in range(len(table.columns)) if at not in (case, time)]
    if label < 0:
        fixed = [at for at in free if is_fixed(table, case, at)]
        label = next((at for at in fixed if is_named(table.columns[at], LABEL)), fixed[-1] if fixed else -1)
    channels = [at for at in free if at != label and all(is_cell(row[at]) for row in table.rows)]
    return Long(case, time, channels, label) if channels else None


def by_name(table: Table, names: Sequence[str]) -> list[int]:
    """The columns that go by one of these names, also as in `case_id`."""
    return [at for at, name in enumerate(table.columns) if is_named(name, frozenset(names))]


def comes_again(table: Table, column: int) -> bool:
    """Whether a column names cases of several rows each, and of several cases."""
    distinct = len({row[column] for row in table.rows})
    return distinct >= 2 and STEPS * distinct <= len(table.rows)


def is_fixed(table: Table, case: int, column: int) -> bool:
    """Whether a column says the same in all rows of a case, of few things to say, and not the same in all cases."""
    said: dict[str, str] = {}
    if any(said.setdefault(row[case], row[column]) != row[column] for row in table.rows):
        return False
    return 2 <= len(set(said.values())) <= max(2, len(said) // 2)


def is_cell(cell: str) -> bool:
    """Whether a cell is a number or says that one is missing."""
    return as_number(cell.strip()) is not None or is_missing(cell)


def fold_cases(table: Table, long: Long, *, order: str) -> Table:
    """One row a case: its sequence, then the case and its label. Rows that are not in order of time are refused, or
    sorted where `order` says so.
    """
    table = with_points(table)
    members: dict[str, list[int]] = {}
    for at, row in enumerate(table.rows):
        members.setdefault(row[long.case].strip(), []).append(at)
    rows: list[tuple[str, ...]] = []
    lines: list[int] = []
    refused = list(table.refused)
    places: dict[int, list[int]] = {}  # line of a case -> its rows in order
    unordered = 0
    for case, steps in members.items():
        wrong = other_label(table, long, steps)
        late = -1 if long.time < 0 else first_late(table, long.time, steps)
        if wrong is None and late >= 0 and order == "sort":
            steps, unordered = sorted(steps, key=time_of(table, long.time)), unordered + 1
        elif wrong is None and late >= 0:
            fix = "sort the rows, or pass --set data.order=sort"
            found = excerpt(table.rows[late][long.time])
            sort = {"data.order": "sort"}
            wrong = Refusal(*table.place(late, long.time), f"case {case!r} goes back in time here.", found, fix, sort)
        if wrong is not None:
            refused.append(wrong)
            continue
        cells = [
            [GAP if is_missing(table.rows[at][c]) else table.rows[at][c].strip() for at in steps] for c in long.channels
        ]
        label = [table.rows[steps[0]][long.label].strip()] if long.label >= 0 else []
        rows.append((write_channels(cells), case, *label))
        lines.append(table.lines[steps[0]])
        places[table.lines[steps[0]]] = steps

    def locate(line: int, column: int) -> Place:
        first = (long.channels[0], long.case, long.label)[column]
        return table.place(places[line][0], first)

    def inside(line: int, step: int, channel: int) -> Place:
        return table.place(places[line][step], long.channels[channel])

    names = in_words([table.columns[at] for at in long.channels])
    clock = f" in order of {table.columns[long.time]!r}" if long.time >= 0 else " in the order of the file"
    notes: tuple[str, ...] = (
        f"column {table.columns[long.case]!r} names {counted(len(members), 'case')} of {names},{clock}",
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
        inside=inside,
    )


def other_label(table: Table, long: Long, steps: Sequence[int]) -> Refusal | None:
    """The refusal of a case whose rows say different labels, at the first that does."""
    if long.label < 0:
        return None
    first = table.rows[steps[0]][long.label]
    odd = next((at for at in steps if table.rows[at][long.label] != first), -1)
    if odd < 0:
        return None
    return Refusal(
        *table.place(odd, long.label),
        f"the label of case {table.rows[odd][long.case]!r} changes here.",
        found=f"{excerpt(table.rows[odd][long.label])} after {excerpt(first)}",
        fix="give all rows of a case one label",
    )


def first_late(table: Table, time: int, steps: Sequence[int]) -> int:
    """The first row whose time is not after the one before; -1: all are."""
    key = time_of(table, time)
    return next((now for before, now in pairwise(steps) if key(now) <= key(before)), -1)


def time_of(table: Table, time: int) -> Callable[[int], tuple[float, str]]:
    """A row's time: as a number where it is one, else as it is written."""

    def key(row: int) -> tuple[float, str]:
        cell = table.rows[row][time].strip()
        number = as_number(cell)
        return (0.0, cell) if number is None else (number, "")

    return key


# Axes: T time, C channels.

Gaps = Literal["stop", "linear", "previous"]
FIX = "write a number there, or fill what is missing: --set data.gaps=linear or --set data.gaps=previous"


class Mended(NamedTuple):
    """A text every number of which is there, how many had to be filled, and how many channels it has."""

    text: str
    filled: int
    channels: int


class Fault(NamedTuple):
    """What keeps a text from being a sequence, and at which step and channel, from 0."""

    problem: Problem
    step: int
    channel: int


def mend(text: str, gaps: Gaps, *, channels: int = 0) -> Mended | Fault:
    """The text as it is or filled; of `channels` channels where that is not 0."""
    quick = read_quickly(text, channels=channels)
    if quick is not None:
        return Mended(text, 0, quick.shape[1])
    steps = [step.split(",") for step in text.split()]
    missing = [(at, channel) for at, step in enumerate(steps) for channel, cell in enumerate(step) if is_missing(cell)]
    whole = read_steps(
        " ".join(",".join("0" if is_missing(cell) else cell for cell in step) for step in steps), channels=channels
    )
    if isinstance(whole, Problem):
        return fault_of(text, steps, whole, channels)
    if missing and gaps == "stop":
        at, channel = missing[0]
        of = f" of channel {channel + 1}" if len(steps[at]) > 1 else ""
        found = f"{excerpt(steps[at][channel])}, one of {len(missing)} missing in this sequence"
        place, linear = place_of(text, at, channel), {"data.gaps": "linear"}
        return Fault(Problem(place, f"step {at + 1}{of} is missing.", found, FIX, linear), at, channel)
    there = np.array([[not is_missing(cell) for cell in step] for step in steps])
    empty = np.flatnonzero(~there.any(axis=0))
    if len(empty):
        problem = Problem(0, f"channel {empty[0] + 1} has no number at all.", excerpt(text), "leave the sequence out")
        return Fault(problem, 0, int(empty[0]))
    filled = fill(np.array(whole, dtype=np.float64), there, gaps)
    cells = [
        ",".join(cell if kept else repr(float(number)) for cell, kept, number in zip(*parts, strict=True))
        for parts in zip(steps, there, filled, strict=True)
    ]
    return Mended(" ".join(cells), len(missing), there.shape[1])


def fill(numbers: Numbers, there: NDArray[np.bool_], gaps: Gaps) -> Numbers:
    """Numbers (T, C) with those that are missing on the line between their neighbours, or as the one before; at an end
    as the nearest one.
    """
    places = np.arange(len(numbers))
    filled = numbers.copy()
    for channel, known in enumerate(there.T):
        at = places[known]
        if gaps == "linear":
            filled[:, channel] = np.interp(places, at, numbers[known, channel])
        else:
            before = np.maximum(np.searchsorted(at, places, side="right") - 1, 0)
            filled[:, channel] = numbers[at[before], channel]
    filled[there] = numbers[there]
    return filled


def fault_of(text: str, steps: list[list[str]], problem: Problem, channels: int) -> Fault:
    """The strict reader's problem at its place in a text that may also lack numbers."""
    width = channels or (len(steps[0]) if steps else 1)
    for at, step in enumerate(steps):
        wrong = [isinstance(read_steps("0" if is_missing(cell) else cell), Problem) for cell in step]
        if any(wrong) or len(step) != width:
            channel = wrong.index(True) if any(wrong) else 0
            return Fault(problem._replace(at=place_of(text, at, channel)), at, channel)
    return Fault(problem, 0, 0)


def place_of(text: str, step: int, channel: int) -> int:
    """Where in a text a number begins, from 0."""
    at = 0
    for number, cells in enumerate(text.split()):
        at = text.index(cells, at)
        if number == step:
            return at + sum(len(cell) + 1 for cell in cells.split(",")[:channel])
        at += len(cells)
    return 0
