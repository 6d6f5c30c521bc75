"""Texts with a label each, or with any number of labels."""

from collections.abc import Iterable

from atento.data.labelled import read_label_sets, read_labelled, text_at
from atento.data.lists import split
from atento.data.pairs import Pair, empty_cell
from atento.data.records import Refusal
from atento.spec import DataRecipe
from atento.tasks.opening import open_rows, read_to_answer
from atento.tasks.reading import Reader
from atento.tasks.task import Opened, Question


def read_texts(recipe: DataRecipe, file: str) -> Opened:
    """The texts of a file that may have no labels."""
    table = read_to_answer(recipe, file, (recipe.source,))
    at = text_at(table, recipe)

    def source_of(row: int) -> str | Refusal:
        return table.rows[row][at].strip() or empty_cell(table, row, at)

    return open_rows(recipe, table, source_of)


def all_labels(pairs: Iterable[Pair]) -> tuple[Question, ...]:
    """Every row is a question whose references are all its labels."""
    return tuple(Question(source, tuple(split(target))) for source, target in pairs)


LABELLED = Reader(rows=read_labelled, sources=read_texts, columns=("text", "label"))
LABEL_SETS = Reader(rows=read_label_sets, sources=read_texts, questions=all_labels, columns=("text", "labels"))
