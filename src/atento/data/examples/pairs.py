"""Examples of a table, a source and a target for each row, read by two halves that are chosen apart.

A source half finds the columns of an input: a text, two texts, words, numbers, an image. A target half finds those of
an output: a label, several labels, tags, a text, a number. `read_examples` combines any two of them, and
`read_sources` reads a file that has no targets.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

from atento.data.records import Refusal, counted, excerpt, in_words, pass_setting, stop_or_skip
from atento.data.sources.reading import read_source
from atento.data.tables.table import Table
from atento.errors import NO_SETTINGS, InputError, nearest
from atento.spec import DataRecipe

COMMA = ","  # between the names of several columns in one key of the recipe
MADE = frozenset({"images", "ts", "arff", "npz", "sequences"})  # kinds of tables whose columns no user named

Pair = tuple[str, str]  # (source, target)


class Pairs(NamedTuple):
    """Source and target of every usable row, and where they came from."""

    file: str
    pairs: tuple[Pair, ...]
    lines: tuple[int, ...]
    refused: tuple[Refusal, ...]
    notes: tuple[str, ...]
    source_column: str
    target_column: str
    table: Table
    keys: tuple[tuple[str, str], ...] = ()  # what data.* must say for another file to be read alike
    roles: tuple[tuple[str, str], ...] = ()  # (column, what it holds)
    rows: tuple[int, ...] = ()  # the number of each in the table, from 0


class UnlabelledFile(NamedTuple):
    """All columns of a file as they are, and the sources in it that a trained model should answer."""

    columns: dict[str, list[str]]
    sources: list[Any]
    refused: tuple[Refusal, ...]
    notes: tuple[str, ...] = ()
    rows: tuple[int, ...] | None = None  # the numbers of the rows with a source, from 0; None: every row has one
    table: Table | None = None  # that was read; None: the sources are no rows of a table
    names: tuple[tuple[str, str], ...] = ()  # of series: what the file calls the columns of time and of series
    time_format: str = ""  # how the file writes times, for strftime; empty: not known


class Guess(NamedTuple):
    """A column that nobody named, what it holds, and the key of the recipe that would name it."""

    column: str
    what: str
    key: str


class Half(NamedTuple):
    """The sources or the targets of a table, as a half found them."""

    table: Table
    columns: tuple[int, ...]  # that are read, from 0
    value: Callable[[int], str | Refusal]  # the number of a row -> its source or target, or why it has none
    keys: dict[str, str]  # what data.* must say for another file to be read alike
    roles: dict[str, str]  # column -> what it holds
    guesses: tuple[Guess, ...] = ()
    notes: tuple[str, ...] = ()
    closing_notes: Callable[[], tuple[str, ...]] = tuple  # that are known only after all rows were read


class ExampleSource(ABC):
    """How the sources of one kind of input are found in a table."""

    keys: ClassVar[tuple[str, ...]] = ("source",)  # of the recipe, that name its columns

    def open(self, recipe: DataRecipe, file: str, names: Sequence[str]) -> Table:
        """The table of a file; `names` are the columns that the user asked for."""
        return read_source(file, header=recipe.header, names=names, sheet=recipe.sheet)

    def recipe_without_targets(self, recipe: DataRecipe, file: str) -> DataRecipe:
        """The recipe by which a file that has no targets is read."""
        return recipe

    @abstractmethod
    def find(self, table: Table, recipe: DataRecipe, file: str, taken: Sequence[int]) -> Half:
        """The sources; `taken` are the columns of the targets, where the user named them."""


class ExampleTarget(ABC):
    """How the targets of one kind of output are found in a table."""

    keys: ClassVar[tuple[str, ...]] = ("label",)  # of the recipe, that name its columns

    def named(self, table: Table, recipe: DataRecipe) -> list[int]:
        """The columns that the user named."""
        found = [find_column(table, getattr(recipe, key), f"data.{key}") for key in self.keys]
        return [at for at in found if at >= 0]

    @abstractmethod
    def find(self, table: Table, recipe: DataRecipe, source: Half) -> Half:
        """The targets beside these sources."""

    def finish(self, pairs: Pairs, recipe: DataRecipe, file: str) -> Pairs:
        """The examples once all of them were read."""
        return pairs


def read_examples(recipe: DataRecipe, file: str, source: ExampleSource, target: ExampleTarget) -> Pairs:
    """The source and the target of every row of a file that has both; the other rows are refused."""
    opened = source.open(recipe, file, names_in(recipe, (*source.keys, *target.keys)))
    require_rows(opened)
    inputs = source.find(opened, recipe, file, target.named(opened, recipe))
    table = inputs.table
    require_rows(table)
    outputs = target.find(table, recipe, inputs)
    pairs, rows, refused = list[Pair](), list[int](), list(table.refused)
    for row in range(len(table.lines)):
        after = outputs.value(row)
        if isinstance(after, Refusal):
            refused.append(first_empty(inputs, row) or after)
            continue
        before = inputs.value(row)
        if isinstance(before, Refusal):
            refused.append(before)
        else:
            pairs.append((before, after))
            rows.append(row)
    if not pairs:
        raise nothing_left(table.file, stop_or_skip(refused, "skip"))
    ordered = stop_or_skip(refused, recipe.bad_rows, used=len(pairs))
    said = tell(table, (*inputs.guesses, *outputs.guesses))
    found = Pairs(
        file=table.file,
        pairs=tuple(pairs),
        lines=tuple(table.lines[row] for row in rows),
        refused=ordered,
        notes=(*table.notes, *inputs.notes, *said, *outputs.notes, *inputs.closing_notes()),
        source_column=table.columns[inputs.columns[0]],
        target_column=table.columns[outputs.columns[0]] if len(outputs.columns) == 1 else "",
        table=table,
        keys=tuple((inputs.keys | outputs.keys).items()),
        roles=tuple((inputs.roles | outputs.roles).items()),
        rows=tuple(rows),
    )
    return target.finish(found, recipe, file)


def read_sources(recipe: DataRecipe, file: str, source: ExampleSource) -> UnlabelledFile:
    """All columns of a file, and the sources of its rows; the rows without one are refused."""
    recipe = source.recipe_without_targets(recipe, file)
    opened = source.open(recipe, file, names_in(recipe, source.keys))
    targets = names_in(recipe, [key for key in ("target", "label") if key not in source.keys])
    found = source.find(
        opened, recipe, file, [opened.columns.index(name) for name in targets if name in opened.columns]
    )
    table = found.table
    sources = [found.value(row) for row in range(len(table.rows))]
    kept = {at: one for at, one in enumerate(sources) if isinstance(one, str)}
    wrong = [*table.refused, *(one for one in sources if isinstance(one, Refusal))]
    if not kept:
        raise nothing_left(table.file, stop_or_skip(wrong, "skip"))
    return UnlabelledFile(
        columns={name: [cells[at] for cells in table.rows] for at, name in enumerate(table.columns)},
        sources=list(kept.values()),
        refused=stop_or_skip(wrong, recipe.bad_rows, used=len(kept)),
        notes=(*table.notes, *found.notes, *tell(table, found.guesses), *found.closing_notes()),
        rows=tuple(kept),
        table=table,
    )


def first_empty(source: Half, row: int) -> Refusal | None:
    """The refusal of an empty source, which is told before a bad target."""
    found = text_cell(source.table, row, source.columns[0])
    return found if isinstance(found, Refusal) else None


def names_in(recipe: DataRecipe, keys: Iterable[str]) -> list[str]:
    """The columns that these keys of the recipe name."""
    values = [getattr(recipe, key) for key in keys]
    return [name for value in values for name in dict.fromkeys([value, *map(str.strip, value.split(COMMA))]) if name]


def require_rows(table: Table) -> None:
    """A table without rows is refused."""
    if not table.rows:
        raise nothing_left(table.file, table.refused)


def one_column(
    table: Table,
    at: int,
    recipe: DataRecipe,
    *,
    key: str,
    role: str,
    what: str = "",
    cell: Callable[[Table, int, int], str | Refusal] | None = None,
) -> Half:
    """A half that is read from one column; `cell` is the value of a row in it, its text where none is given."""
    read, name = cell or text_cell, table.columns[at]
    guesses = () if getattr(recipe, key) else (Guess(name, what or f"the {role}", key),)
    return Half(table, (at,), lambda row: read(table, row, at), {key: name}, {name: role}, guesses)


def text_cell(table: Table, row: int, column: int) -> str | Refusal:
    """The text of a cell without outer white space; an empty one is refused."""
    return table.rows[row][column].strip() or empty_cell(table, row, column)


def tell(table: Table, guesses: Sequence[Guess]) -> tuple[str, ...]:
    """A note on the columns that nobody named; nothing where no user could have named them."""
    if not guesses or len(table.columns) < 2 or (table.kind in MADE and len(table.columns) == 2):
        return ()
    held = in_words([f"column {guess.column!r} holds {guess.what}" for guess in guesses])
    ways = " ".join(f"--set data.{key}=..." for key in dict.fromkeys(guess.key for guess in guesses))
    return (f"{held}; {ways} {'choose' if len(guesses) > 1 else 'chooses'} otherwise",)


def find_column(table: Table, name: str, key: str) -> int:
    """The number of the column of this name, from 0; -1 when no name is given."""
    if not name:
        return -1
    if name in table.columns:
        return table.columns.index(name)
    numbers = [str(number + 1) for number in range(len(table.columns))]
    if not table.header and name in numbers:
        return numbers.index(name)
    raise InputError(
        f"{table.file}:1: there is no column {name!r}.",
        found=f"the columns {in_words(table.columns)}",
        fix=pass_setting(key, nearest(name, table.columns)),
    )


def no_column(table: Table, what: str, key: str) -> InputError:
    """The error for a table no column of which holds what is needed."""
    return InputError(
        f"{table.file}:1: no column holds {what}.",
        found=f"{counted(len(table.columns), 'column')}: {in_words(table.columns)}",
        fix=f"name it: --set data.{key}=...",
    )


def empty_cell(table: Table, row: int, column: int) -> Refusal:
    """The refusal of a row one cell of which is empty."""
    return Refusal(
        *table.place(row, column),
        f"the column {table.columns[column]!r} is empty here.",
        found=excerpt(table.rows[row][column]),
        fix="write a text there, or delete the row",
    )


def nothing_left(file: str, refused: Sequence[Refusal]) -> InputError:
    """The error for a file no row of which can be used."""
    return InputError(
        f"{refused[0].file if refused else file}: none of the {counted(len(refused), 'row')} can be used.",
        found=f"first {refused[0]}" if refused else "no rows",
        fix=refused[0].fix if refused else "add rows",
        settings=refused[0].settings if refused else NO_SETTINGS,
    )
