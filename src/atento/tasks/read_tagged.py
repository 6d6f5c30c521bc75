"""Sentences with a tag for each word."""

from atento.data.lists import join
from atento.data.pairs import empty_cell
from atento.data.records import Refusal
from atento.data.roles import items
from atento.data.tagged import read_tagged, words_at
from atento.spec import DataRecipe
from atento.tasks.opening import open_rows, read_to_answer
from atento.tasks.reading import Reader
from atento.tasks.task import Opened


def read_words(recipe: DataRecipe, file: str) -> Opened:
    """The sentences of a file that may have no tags; a line of plain text is cut at its spaces."""
    table = read_to_answer(recipe, file, (recipe.source,))
    at = words_at(table, recipe)

    def source_of(row: int) -> str | Refusal:
        return join(items(table.rows[row][at])) or empty_cell(table, row, at)

    return open_rows(recipe, table, source_of)


TAGGED = Reader(rows=read_tagged, sources=read_words, columns=("words", "tags"))
