"""Sentences with a tag for each word, from CoNLL files or any table with a column of words and one of tags."""

from atento.data.labelled import open_table, require_text_column, said
from atento.data.lists import join
from atento.data.pairs import Pair, Pairs, collect, empty_cell, find_column
from atento.data.records import Refusal, counted, excerpt, in_words
from atento.data.roles import items, look_at, text_column, words_and_tags
from atento.data.tables import Table
from atento.errors import InputError
from atento.spec import DataRecipe


def read_tagged(recipe: DataRecipe, file: str) -> Pairs:
    """Every sentence, its words and its tags each with tabs between."""
    table = open_table(recipe, file, (recipe.source, recipe.label))
    words, tags = word_and_tag_columns(table, recipe)

    def pair_of(at: int) -> Pair | Refusal:
        row = table.rows[at]
        source, target = items(row[words]), items(row[tags])
        if not source:
            return empty_cell(table, at, words)
        if len(source) != len(target):
            return Refusal(
                *table.place(at, tags),
                f"there are {counted(len(source), 'word')} and {counted(len(target), 'tag')}.",
                found=f"{excerpt(' '.join(source))} and {excerpt(' '.join(target))}",
                fix="give every word one tag",
            )
        return join(source), join(target)

    notes = said(table, (words, "the words", recipe.source), (tags, "the tags", recipe.label))
    keys = {"source": words, "label": tags}
    return collect(table, pair_of, recipe.bad_rows, columns=(words, tags), notes=notes, keys=keys)


def word_and_tag_columns(table: Table, recipe: DataRecipe) -> tuple[int, int]:
    """The columns of the words and of their tags."""
    asked = find_column(table, recipe.source, "data.source"), find_column(table, recipe.label, "data.label")
    words, tags = asked if min(asked) >= 0 else words_and_tags(look_at(table), *asked)
    if min(words, tags) < 0:
        raise InputError(
            f"{table.file}:1: no column of words has one of tags beside it, as many in each cell.",
            found=f"the columns {in_words(table.columns)}",
            fix="name them: --set data.source=... --set data.label=...",
        )
    return words, tags


def words_at(table: Table, recipe: DataRecipe) -> int:
    """The column of the words, whether or not there are tags."""
    asked = find_column(table, recipe.source, "data.source")
    looks = look_at(table)
    words, tags = words_and_tags(looks, asked)
    return words if words >= 0 else require_text_column(table, text_column(looks, taken={tags}))
