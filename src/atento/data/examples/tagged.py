"""Sentences with a tag for each word, from CoNLL files or any table with a column of words and one of tags."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from atento.data.columns.roles import sample_columns, split_cell, text_column, words_and_tags
from atento.data.examples.pairs import (
    ExampleSource,
    ExampleTarget,
    Half,
    empty_cell,
    find_column,
    no_column,
    one_column,
)
from atento.data.records import Refusal, counted, excerpt, in_words, join_items
from atento.data.tables.table import Table
from atento.errors import InputError
from atento.spec import DataRecipe

FEWEST_WORDS = 3  # on lines of their own that are taken for sentences


class WordSource(ExampleSource):
    """The words of a sentence, with tabs between; a text is cut at its spaces."""

    def open(self, recipe: DataRecipe, file: str, names: Sequence[str]) -> Table:
        """The table of a file; of plain text with a word on each line, its sentences."""
        return fold_lines(super().open(recipe, file, names))

    def find(self, table: Table, recipe: DataRecipe, file: str, taken: Sequence[int]) -> Half:
        """By name, else the column that has as many items in each cell as one of tags, else the longest text."""
        words = find_column(table, recipe.source, "data.source")
        if words < 0:
            looks, tags = sample_columns(table), taken[0] if taken else -1
            words, tags = words_and_tags(looks, tags=tags)
            words = words if words >= 0 else text_column(looks, taken={tags})
        if words < 0:
            raise no_column(table, "texts", "source")

        def value(table: Table, row: int, column: int) -> str | Refusal:
            return join_items(split_cell(table.rows[row][column])) or empty_cell(table, row, column)

        return one_column(table, words, recipe, key="source", role="words", cell=value)


def fold_lines(table: Table) -> Table:
    """Plain text with one word on each line as one row per sentence, which end at blank lines; any other table as it
    is.
    """
    words = [row[0].strip() for row in table.rows]
    several = any(len(word.split()) > 1 for word in words)
    if table.kind != "text" or several or sum(map(bool, words)) < FEWEST_WORDS:
        return table
    rows, lines = list[tuple[str, ...]](), list[int]()
    for filled, block in groupby(zip(words, table.lines, strict=True), key=lambda one: bool(one[0])):
        if filled:
            sentence = list(block)
            rows.append((join_items(word for word, _ in sentence),))
            lines.append(sentence[0][1])
    note = f"each line of {table.file} is a word, and a blank line ends a sentence: {counted(len(rows), 'sentence')}"
    return replace(table, rows=tuple(rows), lines=tuple(lines), kind="conll", notes=(*table.notes, note))


class TagTarget(ExampleTarget):
    """The tags of a sentence, one for each word, with tabs between."""

    def find(self, table: Table, recipe: DataRecipe, source: Half) -> Half:
        """By name, else the column of few items that has as many in each cell as there are words."""
        words, named = source.columns[0], next(iter(self.named(table, recipe)), -1)
        found = words_and_tags(sample_columns(table), words if recipe.source else -1, named)
        tags = named if recipe.source and named >= 0 else found[1]
        if tags < 0 or (not recipe.source and found[0] < 0):
            raise InputError(
                f"{table.file}:1: no column of words has one of tags beside it, as many in each cell.",
                found=f"the columns {in_words(table.columns)}",
                fix="name them: --set data.source=... --set data.label=...",
            )

        def value(table: Table, row: int, column: int) -> str | Refusal:
            source, target = (split_cell(table.rows[row][at]) for at in (words, column))
            if len(source) != len(target):
                return Refusal(
                    *table.place(row, column),
                    f"there are {counted(len(source), 'word')} and {counted(len(target), 'tag')}.",
                    found=f"{excerpt(' '.join(source))} and {excerpt(' '.join(target))}",
                    fix="give every word one tag",
                )
            return join_items(target)

        return one_column(table, tags, recipe, key="label", role="tags", cell=value)
