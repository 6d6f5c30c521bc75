"""Numeric sequences and what is said of each, from any table: lists in cells, a column a step, a row a step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from atento.data.columns.roles import label_column, look_at
from atento.data.examples.pairs import Pair, Pairs, collect, empty_cell, find_column, nothing_left
from atento.data.files.opening import read_bytes
from atento.data.records import BETWEEN, Records, Refusal, counted, in_words, stop_or_skip
from atento.data.sequences.long import Fault, find_cases, fold_cases, mend
from atento.data.sources import read_source
from atento.data.tables.arrays import read_arrays
from atento.data.tables.number_lists import is_sequence
from atento.data.tables.sniffing import kind_by_name
from atento.data.tables.table import Table, table_of
from atento.data.tables.wide import GAP, SEQUENCE, all_numbers, fold
from atento.errors import InputError
from atento.spec import DataRecipe

FOLDED = ("ts", "arff", "npz", "sequences")  # kinds of tables whose first column is a sequence
SAMPLE = 200
NEARLY_ALL = 0.95

FindTarget = Callable[[Table, Sequence[int]], int]  # table, columns that are read -> the column of the target


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
        mended = mend(texts[0], recipe.gaps, channels=self.width)
        if isinstance(mended, Fault):
            return self.refusal(row, mended)
        self.width, self.filled = self.width or mended.channels, self.filled + mended.filled
        return mended.text

    def uneven(self, row: int, lengths: Sequence[int]) -> Refusal:
        """The refusal of a row whose channels are of unlike length."""
        named = [f"{self.table.columns[at]} {length}" for at, length in zip(self.columns, lengths, strict=True)]
        place = self.table.place(row, self.columns[0])
        return Refusal(*place, "channels have unlike numbers of steps.", in_words(named), "give all of them as many")

    def refusal(self, row: int, fault: Fault) -> Refusal:
        """What is wrong, at its place in the file; of a list in a cell, where the list begins."""
        table, column = self.table, self.columns[min(fault.channel, len(self.columns) - 1)]
        cell = table.rows[row][column]
        if table.inside is not None:
            file, line, at = table.inside(table.lines[row], fault.step, fault.channel)
        else:
            file, line, at = table.place(row, column)
            after = table.place(row, column + 1)
            if BETWEEN not in cell and table.kind not in ("parquet", "jsonl") and len(self.columns) == 1:
                quote = after.line == line and after.column - at - len(cell) >= 2  # a delimiter alone takes one
                at += quote + fault.problem.at
        return Refusal(file, line, at, *fault.problem[1:])

    def notes(self, recipe: DataRecipe) -> tuple[str, ...]:
        """What was filled."""
        if not self.filled:
            return ()
        return (f"{counted(self.filled, 'missing number')} filled (data.gaps={recipe.gaps})",)


def read_sequences(recipe: DataRecipe, file: str, find_target: FindTarget, *, key: str) -> Pairs:
    """Every sequence with its target; `key` is the recipe key that names the target's column."""
    asked = getattr(recipe, key)
    found, notes, keys = find_sequences(recipe, file, target=asked)
    table = found.table
    if not table.rows:
        raise nothing_left(table.file, stop_or_skip(table.refused, recipe.bad_rows))
    target = find_column(table, asked, f"data.{key}")
    if target < 0:
        target = find_target(table, found.columns)
        if table.kind not in FOLDED or len(table.columns) > 2:
            notes += (f"column {table.columns[target]!r} holds the {key}; --set data.{key}=... chooses otherwise",)

    def pair_of(at: int) -> Pair | Refusal:
        label = table.rows[at][target].strip()
        if not label:
            return empty_cell(table, at, target)
        text = found.text(at, recipe)
        return text if isinstance(text, Refusal) else (text, label)

    named = {**keys, key: table.columns[target]}
    pairs = collect(table, pair_of, recipe.bad_rows, columns=(found.columns[0], target), notes=notes, keys=named)
    return pairs._replace(notes=pairs.notes + found.notes(recipe))


def find_sequences(
    recipe: DataRecipe, file: str, *, target: str = ""
) -> tuple[Sequences, tuple[str, ...], dict[str, int | str]]:
    """The sequences of a file, what was guessed, and what data.* must say for another file to be read alike."""
    table = open_table(recipe, file, target)
    if table.kind in FOLDED:
        return Sequences(table, [0]), (), {}
    named = [find_column(table, name.strip(), "data.source") for name in recipe.source.split(",") if name.strip()]
    lists = [at for at in named or range(len(table.columns)) if holds_sequences(table, at)]
    if lists and (not named or len(lists) == len(named)):
        return of_lists(table, lists, recipe)
    label = table.columns.index(target) if target in table.columns else -1
    places = [
        find_column(table, name, f"data.{key}") for key, name in (("series", recipe.series), ("time", recipe.time))
    ]
    long = find_cases(table, case=places[0], time=places[1], label=label)
    if long is not None:
        long = long._replace(channels=named or long.channels)
        names = [table.columns[at] for at in long.channels]
        keys: dict[str, int | str] = {"series": table.columns[long.case], "source": ",".join(names)}
        if long.time >= 0:
            keys["time"] = table.columns[long.time]
        return Sequences(fold_cases(table, long, order=recipe.order), [0]), (), keys
    if named:
        return of_lists(table, named, recipe)
    aside = [label] if label >= 0 else [label_column(look_at(table))]
    wide = all_numbers(table.columns, table.rows, aside)
    if wide is None:
        raise InputError(
            f"{table.file}:1: no column holds sequences of numbers, and no columns are the steps of one.",
            found=f"{counted(len(table.columns), 'column')}: {in_words(table.columns)}",
            fix="name it: --set data.source=..., or the column that tells cases apart: --set data.series=...",
        )
    return Sequences(folded(table, fold(table_records(table), wide)), [0]), (), {}


def open_table(recipe: DataRecipe, file: str, target: str) -> Table:
    """The table of a file; of arrays, with time on the axis that the recipe names."""
    if kind_by_name(file) == "npz" and recipe.time:
        name = Path(file).name
        return table_of(read_arrays(read_bytes(file), name, time=recipe.time), name, "npz", "", False, "skip")
    names = [name for name in (*recipe.source.split(","), target, recipe.series, recipe.time) if name]
    return read_source(file, header=recipe.header, names=names)


def of_lists(
    table: Table, columns: list[int], recipe: DataRecipe
) -> tuple[Sequences, tuple[str, ...], dict[str, int | str]]:
    """Sequences in cells: one column, or a column a channel."""
    names = [table.columns[at] for at in columns]
    notes: tuple[str, ...] = ()
    if not recipe.source and len(table.columns) > len(columns) + 1:
        what = "sequences of numbers" if len(columns) == 1 else "a channel each"
        notes += (f"{in_words([repr(name) for name in names])} hold {what}; --set data.source=... chooses others",)
    first = channels_first(table, columns[0], recipe.time) if len(columns) == 1 else None
    if first is not None and not recipe.time:
        axis = "channel" if first else "step"
        notes += (f"{names[0]!r} holds a list a {axis}; --set data.time={1 if first else 2} takes the other axis",)
    return Sequences(table, columns, channels_first=bool(first)), notes, {"source": ",".join(names)}


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
    shapes = [(cell.count(BETWEEN) + 1, len(cell.split(BETWEEN)[0].split())) for cell in cells if BETWEEN in cell]
    if not shapes or all(inner == 1 for _, inner in shapes):
        return None
    if time in ("1", "2"):
        return time == "2"
    return len({outer for outer, _ in shapes}) == 1 and median(inner for _, inner in shapes) > shapes[0][0]


def unlisted(cell: str, *, channels_first: bool = False) -> str:
    """A list in a cell, `1\\t2` or a list of lists, `1 2\\t3 4`, as a sequence; a text of numbers as it is."""
    if BETWEEN not in cell:
        return cell.strip()
    items = [item.split() or [GAP] for item in cell.split(BETWEEN)]
    if channels_first and len({len(item) for item in items}) == 1:
        return " ".join(map(",".join, zip(*items, strict=True)))
    return " ".join(map(",".join, items))


def table_records(table: Table) -> Records:
    """The rows of a table as its reader found them."""
    return Records(
        table.columns, list(table.rows), list(table.lines), list(table.refused), table.locate, table.notes, table.inside
    )


def folded(table: Table, records: Records) -> Table:
    """The same table with the rows that were made of its own."""
    return replace(
        table,
        columns=records.columns,
        rows=tuple(records.rows),
        notes=records.notes,
        kind="sequences",
        locate=records.locate,
        inside=records.inside,
    )


def label_of(table: Table, read: Sequence[int]) -> int:
    """The column of the labels: few values that come again and again."""
    label = label_column(look_at(table), taken=read)
    if label < 0:
        raise InputError(
            f"{table.file}:1: no column looks like a label: few values that come again and again.",
            found=f"{counted(len(table.columns), 'column')}: {in_words(table.columns)}",
            fix=f"name it: --set data.label={table.columns[-1]}",
            settings={"data.label": table.columns[-1]},
        )
    return label


def text_of(table: Table, read: Sequence[int]) -> int:
    """The column of the texts that are written: the longest that is no sequence."""
    looks = [look for look in look_at(table) if look.at not in read and look.cells]
    texts = [look for look in looks if not look.numeric] or looks
    if not texts:
        raise InputError(
            f"{table.file}:1: no column holds texts beside the sequences.",
            found=f"{counted(len(table.columns), 'column')}: {in_words(table.columns)}",
            fix="name it: --set data.target=...",
        )
    return max(texts, key=lambda look: look.distinct).at


def cast_sequences(table: Table) -> dict[int, str]:
    """A sequence and its label, as columns of the table; of a row a step, the case, its time and its channels."""
    read = [0] if table.kind in FOLDED else [at for at in range(len(table.columns)) if holds_sequences(table, at)]
    long = None if read else find_cases(table)
    if long is not None:
        return {**dict.fromkeys(long.channels, "channel"), long.case: "case", long.time: "time", long.label: "label"}
    return {**dict.fromkeys(read, SEQUENCE), label_column(look_at(table), taken=read): "label"}
