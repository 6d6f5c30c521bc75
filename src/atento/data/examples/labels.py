"""Labels as targets: one for each source, or any number of them.

Labels that a table gives as numbers get their names from a file beside it, such as `labels.txt` with one name per line.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from atento.data.columns.roles import (
    indicator_columns,
    label_column,
    label_format_of,
    labels_column,
    sample_columns,
    says_in_words,
)
from atento.data.examples.label_spelling import merge_spellings, spelling_notes
from atento.data.examples.pairs import COMMA, ExampleTarget, Half, Pairs, one_column
from atento.data.files.opening import read_text, split_paths
from atento.data.records import Refusal, counted, in_words, join_items, split_items
from atento.data.tables.table import Table
from atento.errors import AtentoError, InputError
from atento.spec import DataRecipe

FILES = ("labels.txt", "classes.txt", "label_names.txt", "class_names.txt", "emotions.txt", "categories.txt")
NO_LABELS = frozenset({"unsup", "unlabeled", "unlabelled", "-"})  # what stands for no label beside others in words
WORD_IN_LABEL = re.compile(r"[^\W\d_]{2}")
MOST_DASHES = 0.1  # of the rows
YES, NO = frozenset({"1", "true", "1.0", "yes"}), frozenset({"0", "false", "0.0", "no", ""})


@dataclass(frozen=True)
class LabelTarget(ExampleTarget):
    """One label of each source."""

    role: str = "label"
    what: str = ""
    names_beside: bool = False  # whether a file beside may name labels that are numbers

    def find(self, table: Table, recipe: DataRecipe, source: Half) -> Half:
        """By name, else the column of few values that come again and again."""
        at = next(iter(self.named(table, recipe)), -1)
        at = at if at >= 0 else label_column(sample_columns(table), taken=source.columns)
        if at < 0:
            raise no_label(table)
        half = one_column(table, at, recipe, key="label", role=self.role, what=self.what)
        return half if recipe.label else half._replace(notes=codes_notes(table, at))

    def finish(self, pairs: Pairs, recipe: DataRecipe, file: str) -> Pairs:
        """Without rows that have no label; labels by their names, where a file beside gives them, and merged where the
        recipe says so.
        """
        pairs = without_unlabelled(pairs)
        return merged(with_names(pairs, recipe, file) if self.names_beside else pairs, recipe)


def without_unlabelled(pairs: Pairs) -> Pairs:
    """The examples without those whose label says that they have none, such as `unsup` or a dash."""
    counts = Counter(target for _, target in pairs.pairs)
    none = {label for label in counts if label.lower() in NO_LABELS}
    others = [label for label in counts if label not in none]
    if not none or len(others) < 2 or not all(WORD_IN_LABEL.search(label) for label in others):
        return pairs
    if "-" in none and counts["-"] > MOST_DASHES * len(pairs.pairs):
        return pairs
    kept = [at for at, (_, target) in enumerate(pairs.pairs) if target not in none]
    left_out = len(pairs.pairs) - len(kept)
    names = in_words(sorted(map(repr, none)))
    note = f"{counted(left_out, 'row')} left out: their label {names} says that they have none"
    return pairs._replace(
        pairs=tuple(pairs.pairs[at] for at in kept),
        lines=tuple(pairs.lines[at] for at in kept),
        rows=tuple(pairs.rows[at] for at in kept),
        notes=(*pairs.notes, note),
    )


def codes_notes(table: Table, at: int) -> tuple[str, ...]:
    """Notes on columns that say the same labels by numbers."""
    samples = sample_columns(table)
    same = [one for one in samples if one.index != at and one.is_numeric and says_in_words(samples[at], one)]
    return tuple(
        f"{table.columns[one.index]!r} says the same by numbers: {table.columns[at]!r} is preferred, since it has names"
        for one in same
    )


class LabelSetTarget(ExampleTarget):
    """Any number of labels of each source, with tabs between: in one cell, or in a column of 0 and 1 for each."""

    def named(self, table: Table, recipe: DataRecipe) -> list[int]:
        """The one column that the user named, or the columns of 0 and 1, those of them that are there."""
        if COMMA not in recipe.label or recipe.label in table.columns:
            return super().named(table, recipe)
        names = [name.strip() for name in recipe.label.split(COMMA)]
        there = [table.columns.index(name) for name in names if name in table.columns]
        return there if len(there) > 1 else super().named(table, recipe)

    def find(self, table: Table, recipe: DataRecipe, source: Half) -> Half:
        """By name, else the column whose cells hold several labels, else the columns of 0 and 1."""
        named, looks = self.named(table, recipe), sample_columns(table)
        if len(named) > 1:
            return of_switches(table, named)
        label = named[0] if named else labels_column(looks, taken=source.columns)
        switches = [at for at in indicator_columns(looks) if at not in source.columns]
        if label < 0 and len(switches) > 1:
            return of_switches(table, switches)
        label = label if label >= 0 else label_column(looks, taken=source.columns)
        if label < 0:
            raise no_label(table)
        way = label_format_of(table, label, recipe.separator)

        def value(table: Table, row: int, column: int) -> str:
            cell = table.rows[row][column].strip()
            return join_items(way.labels(cell)) if way else cell

        half = one_column(table, label, recipe, key="label", role="labels", cell=value)
        note = f"column {table.columns[label]!r}: {way.note if way else 'each cell is one label'}"
        keys = half.keys | ({"separator": way.separator} if way and way.separator else {})
        return half._replace(keys=keys, notes=(note,))

    def finish(self, pairs: Pairs, recipe: DataRecipe, file: str) -> Pairs:
        """Labels by their names, where a file beside gives them, and merged where the recipe says so."""
        return merged(with_names(pairs, recipe, file) if pairs.target_column else pairs, recipe)


def merged(pairs: Pairs, recipe: DataRecipe) -> Pairs:
    """The examples with one spelling of each label, or a note on spellings that may be one."""
    if recipe.merge_labels == "no":
        return pairs._replace(notes=(*pairs.notes, *spelling_notes(pairs.pairs)))
    plain, notes = merge_spellings(pairs.pairs)
    return pairs._replace(pairs=plain, notes=(*pairs.notes, *notes))


def of_switches(table: Table, columns: list[int]) -> Half:
    """Labels that are the names of columns which hold 1."""
    names = [table.columns[at] for at in columns]

    def value(row: int) -> str | Refusal:
        cells = {at: table.rows[row][at].strip().lower() for at in columns}
        wrong = next((at for at, cell in cells.items() if cell not in YES | NO), -1)
        if wrong >= 0:
            return Refusal(
                *table.place(row, wrong),
                f"the column {table.columns[wrong]!r} says neither yes nor no here.",
                found=repr(table.rows[row][wrong]),
                fix="write 1 or 0",
            )
        return join_items(table.columns[at] for at, cell in cells.items() if cell in YES)

    note = f"the labels are the columns {in_words(names)}, 1 where they hold"
    return Half(
        table, tuple(columns), value, {"label": COMMA.join(names)}, dict.fromkeys(names, "label"), notes=(note,)
    )


def no_label(table: Table) -> InputError:
    """The error for a table no column of which looks like labels."""
    return InputError(
        f"{table.file}:1: no column looks like a label: few values that come again and again.",
        found=f"{counted(len(table.columns), 'column')}: {in_words(table.columns)}",
        fix=f"name it: --set data.label={table.columns[-1]}",
        settings={"data.label": table.columns[-1]},
    )


def with_names(pairs: Pairs, recipe: DataRecipe, file: str) -> Pairs:
    """Labels by their names, where a file beside gives them."""
    known = names_beside(recipe, file, (label for _, target in pairs.pairs for label in split_items(target)))
    if known is None:
        return pairs
    names, note = known
    renamed = ((source, join_items(names[label] for label in split_items(target))) for source, target in pairs.pairs)
    return pairs._replace(pairs=tuple(renamed), notes=(*pairs.notes, note))


def names_beside(recipe: DataRecipe, file: str, labels: Iterable[str]) -> tuple[dict[str, str], str] | None:
    """The names of labels that are all numbers within a list that stands beside their file, and a note on it."""
    used = set(labels)
    if recipe.siblings == "no" or not used or not all(label.isdecimal() for label in used):
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
        return known, f"labels are numbers from {first} on; {name} beside gives {counted(len(lines), 'name')}"
    return None
