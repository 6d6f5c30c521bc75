"""Texts with one label each, or with any number of them, from any table.

Two texts and a label that says how they stand to each other, from any table.
Labels that a table gives as numbers and a file beside it by name: `labels.txt`, one name a line.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from atento.data.columns.roles import find_roles, how_labels_are_parted, label_column, look_at, text_column, two_texts
from atento.data.examples.pairs import Pair, Pairs, collect, empty_cell, find_column, nothing_left
from atento.data.files.opening import read_text
from atento.data.records import Refusal, counted, in_words, join, split, stop_or_skip
from atento.data.sources import read_source
from atento.data.tables.cells import LabelCells
from atento.data.tables.parallel import split_paths
from atento.data.tables.table import Table
from atento.errors import AtentoError, InputError
from atento.spec import DataRecipe

FILES = ("labels.txt", "classes.txt", "label_names.txt", "class_names.txt", "emotions.txt", "categories.txt")


class LabelNames(NamedTuple):
    """The names of labels 0, 1, … or 1, 2, …; `note` says where they stand."""

    names: dict[str, str]
    note: str


def names_beside(recipe: DataRecipe, file: str, labels: Iterable[str]) -> LabelNames | None:
    """The names of labels that are all numbers within a list that stands beside their file."""
    used = set(labels)
    if recipe.beside == "no" or not used or not all(label.isdecimal() for label in used):
        return None
    place = Path(split_paths(file)[0])
    for name in FILES:
        path = (place if place.is_dir() else place.parent) / name
        if not path.is_file():
            continue
        try:
            lines = [line.strip() for line in read_text(str(path)).text.strip().split("\n")]
        except AtentoError:
            continue
        numbers = {int(label) for label in used}
        first = 1 if max(numbers) == len(lines) and min(numbers) >= 1 else 0
        if max(numbers) >= len(lines) + first or not all(lines) or len(set(lines)) < len(lines):
            continue
        names = {str(number): line for number, line in enumerate(lines, start=first)}
        known = {label: names[str(int(label))] for label in used}
        return LabelNames(
            known, f"labels are numbers from {first} on; {name} beside gives {counted(len(lines), 'name')}"
        )
    return None


def read_labelled(recipe: DataRecipe, file: str) -> Pairs:
    """Every text with its one label."""
    table = open_table(recipe, file, (recipe.source, recipe.label))
    text, label = text_and_label(table, recipe)

    def pair_of(at: int) -> Pair | Refusal:
        pair = table.rows[at][text].strip(), table.rows[at][label].strip()
        return pair if all(pair) else empty_cell(table, at, text if not pair[0] else label)

    notes = said(table, (text, "the text", recipe.source), (label, "the label", recipe.label))
    keys = {"source": text, "label": label}
    pairs = collect(table, pair_of, recipe.bad_rows, columns=(text, label), notes=notes, keys=keys)
    return with_names(pairs, names_beside(recipe, file, (target for _, target in pairs.pairs)))


def read_label_sets(recipe: DataRecipe, file: str) -> Pairs:
    """Every text with all its labels, tabs between them; none is an empty text."""
    switched = switches_asked(recipe)
    table = open_table(recipe, file, (recipe.source, *(switched or (recipe.label,))))
    roles = find_roles(table)
    text = text_at(table, recipe)
    switches = [find_column(table, name, "data.label") for name in switched if name in table.columns]
    if not recipe.label and roles.labels < 0 and len(roles.switches) > 1:
        switches = [at for at in roles.switches if at != text]
    if len(switches) > 1:
        found = (f"the labels are the columns {in_words([table.columns[at] for at in switches])}, 1 where they hold",)
        keys: dict[str, int | str] = {"source": text, "label": ",".join(table.columns[at] for at in switches)}
        pair_of = by_switches(table, text, switches)
        return collect(table, pair_of, recipe.bad_rows, columns=(text, -1), notes=found, keys=keys)
    label = find_column(table, recipe.label, "data.label")
    if label < 0:
        label = roles.labels if roles.labels >= 0 else label_column(look_at(table), {text})
    if label < 0:
        raise no_label(table)
    way = how_labels_are_parted(table, label, recipe.separator)
    notes = said(table, (text, "the text", recipe.source), (label, "the labels", recipe.label))
    notes += (f"column {table.columns[label]!r}: {way.note if way else 'each cell is one label'}",)
    keys = {"source": text, "label": label, "separator": way.separator if way else ""}
    pair_of = by_cells(table, text, label, way)
    pairs = collect(table, pair_of, recipe.bad_rows, columns=(text, label), notes=notes, keys=keys)
    return with_names(pairs, names_beside(recipe, file, (one for _, target in pairs.pairs for one in split(target))))


def with_names(pairs: Pairs, known: LabelNames | None) -> Pairs:
    """Labels by their names, where a file beside gives them."""
    if known is None:
        return pairs
    renamed = tuple((source, join(known.names[one] for one in split(target))) for source, target in pairs.pairs)
    return pairs._replace(pairs=renamed, notes=(*pairs.notes, known.note))


def switches_asked(recipe: DataRecipe) -> tuple[str, ...]:
    """The columns of 0 and 1 that data.label names, parted by commas."""
    names = tuple(name.strip() for name in recipe.label.split(","))
    return names if len(names) > 1 else ()


def by_cells(table: Table, text: int, label: int, way: LabelCells | None) -> Callable[[int], Pair | Refusal]:
    """The pair of a row whose labels stand in one cell."""

    def pair_of(at: int) -> Pair | Refusal:
        source, cell = table.rows[at][text].strip(), table.rows[at][label].strip()
        labels = way.labels(cell) if way else [cell] if cell else []
        return (source, join(labels)) if source else empty_cell(table, at, text)

    return pair_of


def by_switches(table: Table, text: int, switches: list[int]) -> Callable[[int], Pair | Refusal]:
    """The pair of a row whose labels are the columns that hold 1."""

    def pair_of(at: int) -> Pair | Refusal:
        row = table.rows[at]
        wrong = next((column for column in switches if row[column].strip().lower() not in ON | OFF), -1)
        if wrong >= 0:
            return Refusal(
                *table.place(at, wrong),
                f"the column {table.columns[wrong]!r} says neither yes nor no here.",
                found=repr(row[wrong]),
                fix="write 1 or 0",
            )
        labels = [table.columns[column] for column in switches if row[column].strip().lower() in ON]
        return (row[text].strip(), join(labels)) if row[text].strip() else empty_cell(table, at, text)

    return pair_of


ON, OFF = frozenset({"1", "true", "1.0", "yes"}), frozenset({"0", "false", "0.0", "no", ""})


def open_table(recipe: DataRecipe, file: str, names: tuple[str, ...]) -> Table:
    """The table of a file, which has at least one row."""
    table = read_source(file, header=recipe.header, names=[name for name in names if name])
    if not table.rows:
        raise nothing_left(table.file, stop_or_skip(table.refused, recipe.bad_rows))
    return table


def text_and_label(table: Table, recipe: DataRecipe) -> tuple[int, int]:
    """The columns of the text and of its label."""
    label = find_column(table, recipe.label, "data.label")
    text = find_column(table, recipe.source, "data.source")
    looks = look_at(table)
    if text < 0:
        text = require_text_column(table, text_column(looks, taken={label}))
    if label < 0:
        label = label_column(looks, taken={text})
    if label < 0:
        raise no_label(table)
    return text, label


def text_at(table: Table, recipe: DataRecipe) -> int:
    """The column of the text, whether or not there is a label."""
    text = find_column(table, recipe.source, "data.source")
    return text if text >= 0 else require_text_column(table, text_column(look_at(table)))


def require_text_column(table: Table, column: int) -> int:
    """The column that was found; a table without one is refused."""
    if column < 0:
        raise InputError(
            f"{table.file}:1: no column holds texts.",
            found=f"{counted(len(table.columns), 'column')}: {in_words(table.columns)}",
            fix="name it: --set data.source=...",
        )
    return column


def no_label(table: Table) -> InputError:
    """The refusal of a table no column of which looks like labels."""
    return InputError(
        f"{table.file}:1: no column looks like a label: few values that come again and again.",
        found=f"{counted(len(table.columns), 'column')}: {in_words(table.columns)}",
        fix=f"name it: --set data.label={table.columns[-1]}",
        settings={"data.label": table.columns[-1]},
    )


def said(table: Table, *roles: tuple[int, str, str]) -> tuple[str, ...]:
    """What was guessed: (column, what it holds, the name the user gave), said of those nobody named."""
    guessed = [(at, what) for at, what, asked in roles if not asked]
    if not guessed or len(table.columns) < 2:
        return ()
    held = in_words([f"column {table.columns[at]!r} holds {what}" for at, what in guessed])
    keys = {"the text": "source", "the first text": "source", "the words": "source", "the second text": "target"}
    ways = " ".join(f"--set data.{keys.get(what, 'label')}=..." for _, what in guessed)
    return (f"{held}; {ways} {'choose' if len(guessed) > 1 else 'chooses'} otherwise",)


def read_matches(recipe: DataRecipe, file: str) -> Pairs:
    """Every couple of texts, a tab between them, with its label."""
    table = open_table(recipe, file, (recipe.source, recipe.target, recipe.label))
    first, second, label = two_texts_and_label(table, recipe)

    def pair_of(at: int) -> Pair | Refusal:
        row = table.rows[at]
        empty = next((column for column in (first, second, label) if not row[column].strip()), -1)
        if empty >= 0:
            return empty_cell(table, at, empty)
        return join((row[first].strip(), row[second].strip())), row[label].strip()

    notes = said(
        table,
        (first, "the first text", recipe.source),
        (second, "the second text", recipe.target),
        (label, "the label", recipe.label),
    )
    keys = {"source": first, "target": second, "label": label}
    return collect(table, pair_of, recipe.bad_rows, columns=(first, label), notes=notes, keys=keys)


def two_texts_and_label(table: Table, recipe: DataRecipe) -> tuple[int, int, int]:
    """The columns of both texts and of the label."""
    label = find_column(table, recipe.label, "data.label")
    asked = {find_column(table, recipe.source, "data.source"), find_column(table, recipe.target, "data.target")}
    looks = look_at(table)
    if label < 0:
        label = label_column(looks, taken={*asked, *two_texts(looks)})
    if label < 0:
        raise no_label(table)
    return *two_columns(table, recipe, {label}), label


def two_columns(table: Table, recipe: DataRecipe, taken: set[int]) -> tuple[int, int]:
    """The columns of both texts, as named or as found."""
    first = find_column(table, recipe.source, "data.source")
    second = find_column(table, recipe.target, "data.target")
    looks = look_at(table)
    guess = two_texts(looks, taken)
    if min(guess) < 0:
        rest = [look.at for look in looks if look.at not in taken and not look.numeric]
        guess = (rest[0], rest[1]) if len(rest) == 2 else guess
    if first < 0 <= second:
        first = next((at for at in guess if at != second), -1)
    elif second < 0 <= first:
        second = next((at for at in guess if at != first), -1)
    elif first < 0:
        first, second = guess
    if min(first, second) < 0:
        raise InputError(
            f"{table.file}:1: two columns of text are needed.",
            found=f"the columns {in_words(table.columns)}",
            fix="name them: --set data.source=... --set data.target=...",
        )
    return first, second
