"""Two texts and how they stand to each other."""

from atento.data.lists import join
from atento.data.matches import read_matches, two_columns
from atento.data.pairs import empty_cell
from atento.data.records import Refusal
from atento.data.roles import label_column, look_at, two_texts
from atento.spec import DataRecipe
from atento.tasks.opening import open_rows, read_to_answer
from atento.tasks.reading import Reader
from atento.tasks.task import Opened


def read_couples(recipe: DataRecipe, file: str) -> Opened:
    """The two texts of each row of a file that may have no labels."""
    table = read_to_answer(recipe, file, (recipe.source, recipe.target))
    looks = look_at(table)
    label = label_column(looks, taken=two_texts(looks))
    first, second = two_columns(table, recipe, {label} if len(table.columns) > 2 else set())

    def source_of(row: int) -> str | Refusal:
        texts = table.rows[row][first].strip(), table.rows[row][second].strip()
        return join(texts) if all(texts) else empty_cell(table, row, first if not texts[0] else second)

    return open_rows(recipe, table, source_of)


MATCHES = Reader(rows=read_matches, sources=read_couples, columns=("texts", "label"))
