"""Sequences of numbers as sources, from any table: lists in cells, a column per step, a row per step."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median

from atento.data.columns.numbers import around_columns, refuse_doubt
from atento.data.columns.roles import label_column, sample_columns
from atento.data.examples.pairs import COMMA, ExampleSource, Half, empty_cell, find_column
from atento.data.files.opening import read_bytes
from atento.data.records import LIST_SEPARATOR, Refusal, counted, in_words
from atento.data.sequences.long import LongColumns, SequenceProblem, fill_missing, find_cases, fold_cases
from atento.data.tables.formats.arrays import read_case_arrays
from atento.data.tables.number_lists import is_sequence
from atento.data.tables.sniffing import kind_by_name
from atento.data.tables.table import Table, table_of
from atento.data.tables.wide import MISSING_NUMBER, SEQUENCE, fold_columns, numeric_steps, plain_steps
from atento.errors import InputError
from atento.spec import DataRecipe

FOLDED = ("ts", "arff", "npz", "sequences")  # kinds of tables whose first column is a sequence
SAMPLE = 200
NEARLY_ALL = 0.95


@dataclass
class Sequences:
    """A table, which of its columns hold the channels of a sequence, and how their cells become one text."""

    table: Table
    columns: list[int]
    channels_first: bool = False  # whether lists of lists hold a list a channel rather than a list a step
    filled: int = 0
    width: int = 0  # channels of the first sequence that was read

    def text(self, row: int, recipe: DataRecipe) -> str | Refusal:
        """The sequence of a row with every number there, or why there is none."""
        cells = [self.table.rows[row][at] for at in self.columns]
        if not all(cell.strip() for cell in cells):
            return empty_cell(self.table, row, next(at for at in self.columns if not self.table.rows[row][at].strip()))
        texts = [unlisted(cell, channels_first=self.channels_first) for cell in cells]
        if len(texts) > 1:
            steps = [text.split() for text in texts]
            if len({len(one) for one in steps}) > 1:
                return self.uneven(row, [len(one) for one in steps])
            texts = [" ".join(map(",".join, zip(*steps, strict=True)))]
        found = fill_missing(texts[0], recipe.gaps, channels=self.width)
        if isinstance(found, SequenceProblem):
            return self.refusal(row, found)
        self.width, self.filled = self.width or found.channels, self.filled + found.filled
        return found.text

    def half(self, recipe: DataRecipe, roles: dict[str, str]) -> Half:
        """The sources of examples."""
        value, notes = partial(self.text, recipe=recipe), partial(self.notes, recipe)
        return Half(self.table, tuple(self.columns), value, {}, roles, closing_notes=notes)

    def uneven(self, row: int, lengths: Sequence[int]) -> Refusal:
        """The refusal of a row whose channels are of unlike length."""
        named = [f"{self.table.columns[at]} {length}" for at, length in zip(self.columns, lengths, strict=True)]
        place = self.table.place(row, self.columns[0])
        return Refusal(*place, "channels have unlike numbers of steps.", in_words(named), "give all of them as many")

    def refusal(self, row: int, fault: SequenceProblem) -> Refusal:
        """What is wrong, at its place in the file; of a list in a cell, where the list begins."""
        table, column = self.table, self.columns[min(fault.channel, len(self.columns) - 1)]
        is_list = LIST_SEPARATOR in table.rows[row][column] or table.kind in ("parquet", "jsonl")
        if table.locate_number is not None:
            place = table.locate_number(table.lines[row], fault.step, fault.channel)
        elif is_list or len(self.columns) > 1:
            place = table.place(row, column)
        else:
            place = table.place_inside(row, column, fault.problem.at)
        return fault.problem.refusal(place)

    def notes(self, recipe: DataRecipe) -> tuple[str, ...]:
        """What was filled."""
        if not self.filled:
            return ()
        return (f"{counted(self.filled, 'missing number')} filled (data.gaps={recipe.gaps})",)


class SequenceSource(ExampleSource):
    """A sequence of numbers of each row: lists in cells, a column per step, or a row per step."""

    def open(self, recipe: DataRecipe, file: str, names: Sequence[str]) -> Table:
        """The table of a file; of arrays, with time on the axis that the recipe names."""
        if kind_by_name(file) == "npz" and recipe.time:
            name = Path(file).name
            return table_of(read_case_arrays(read_bytes(file), name, time=recipe.time), name, "npz")
        named = [name for name in (*names, recipe.label, recipe.target, recipe.series, recipe.time) if name]
        return super().open(recipe, file, named)

    def find(self, table: Table, recipe: DataRecipe, file: str, taken: Sequence[int]) -> Half:
        """By the kind of the file, else lists in cells, else rows that are steps of cases, else columns of steps."""
        if table.kind in FOLDED:
            return Sequences(table, [0]).half(recipe, {table.columns[0]: SEQUENCE})
        named = [find_column(table, name.strip(), "data.source") for name in recipe.source.split(COMMA) if name.strip()]
        lists = [at for at in named or range(len(table.columns)) if holds_sequences(table, at)]
        if lists and (not named or len(lists) == len(named)):
            return of_lists(table, lists, recipe)
        case, time = (find_column(table, getattr(recipe, key), f"data.{key}") for key in ("series", "time"))
        long = find_cases(table, case=case, time=time, label=taken[0] if taken else -1)
        if long is not None:
            return of_cases(table, long._replace(channels=named or long.channels), recipe)
        if named:
            return of_lists(table, named, recipe)
        wide = numeric_steps(table.columns, table.rows, taken or [label_column(sample_columns(table))])
        if wide is None:
            raise InputError(
                f"{table.file}:1: no column holds sequences of numbers, and no columns are the steps of one.",
                found=f"{counted(len(table.columns), 'column')}: {in_words(table.columns)}",
                fix="name it: --set data.source=..., or the column that tells cases apart: --set data.series=...",
            )
        rows, numbers = plain_steps(table.rows, wide, around_columns(table, recipe.decimal))
        if numbers is not None:
            refuse_doubt(table, wide.channels[0][0], numbers)
        folded = fold_columns(table.columns, rows, wide, table.locate, numbers)
        parts = {**folded._asdict(), "rows": tuple(folded.rows), "notes": table.notes + folded.notes}
        return Sequences(replace(table, kind="sequences", **parts), [0]).half(recipe, {})


def of_cases(table: Table, long: LongColumns, recipe: DataRecipe) -> Half:
    """Sequences whose steps are rows of the table."""
    channels = [table.columns[at] for at in long.channels]
    keys = {"series": table.columns[long.case], "source": COMMA.join(channels)}
    roles = dict.fromkeys(channels, "channel") | {table.columns[long.case]: "case"}
    if long.time >= 0:
        keys["time"] = table.columns[long.time]
        roles[table.columns[long.time]] = "time"
    half = Sequences(fold_cases(table, long, order=recipe.order, decimal=recipe.decimal), [0]).half(recipe, roles)
    return half._replace(keys=keys)


def of_lists(table: Table, columns: list[int], recipe: DataRecipe) -> Half:
    """Sequences in cells: one column, or a column per channel."""
    names = [table.columns[at] for at in columns]
    notes: tuple[str, ...] = ()
    if not recipe.source and len(table.columns) > len(columns) + 1:
        what = "sequences of numbers" if len(columns) == 1 else "a channel each"
        notes += (f"{in_words([repr(name) for name in names])} hold {what}; --set data.source=... chooses others",)
    first = channels_first(table, columns[0], recipe.time) if len(columns) == 1 else None
    if first is not None and not recipe.time:
        axis = "channel" if first else "step"
        notes += (f"{names[0]!r} holds a list a {axis}; --set data.time={1 if first else 2} takes the other axis",)
    half = Sequences(table, columns, channels_first=bool(first)).half(recipe, dict.fromkeys(names, SEQUENCE))
    return half._replace(notes=notes, keys={"source": COMMA.join(names)})


def holds_sequences(table: Table, column: int) -> bool:
    """Whether nearly all cells of a column are several numbers."""
    cells = [row[column] for row in table.rows[:: 1 + len(table.rows) // SAMPLE] if row[column].strip()]
    found = sum(is_sequence(unlisted(cell)) for cell in cells)
    return bool(cells) and found >= NEARLY_ALL * len(cells)


def channels_first(table: Table, column: int, time: str) -> bool | None:
    """Whether lists of lists hold a list a channel: as many in every row, and longer than they are many; None: there
    are none. `time` is the axis of time as the user says, 1 or 2.
    """
    cells = [row[column] for row in table.rows[:: 1 + len(table.rows) // SAMPLE]]
    shapes = [
        (cell.count(LIST_SEPARATOR) + 1, len(cell.split(LIST_SEPARATOR)[0].split()))
        for cell in cells
        if LIST_SEPARATOR in cell
    ]
    if not shapes or all(inner == 1 for _, inner in shapes):
        return None
    if time in ("1", "2"):
        return time == "2"
    return len({outer for outer, _ in shapes}) == 1 and median(inner for _, inner in shapes) > shapes[0][0]


def unlisted(cell: str, *, channels_first: bool = False) -> str:
    """A list in a cell, `1\\t2` or a list of lists, `1 2\\t3 4`, as a sequence; a text of numbers as it is."""
    if LIST_SEPARATOR not in cell:
        return cell.strip()
    items = [item.split() or [MISSING_NUMBER] for item in cell.split(LIST_SEPARATOR)]
    if channels_first and len({len(item) for item in items}) == 1:
        return " ".join(map(",".join, zip(*items, strict=True)))
    return " ".join(map(",".join, items))
