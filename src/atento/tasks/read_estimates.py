"""Number sequences, each with its number."""

from functools import partial

from atento.data.estimates import only_numbers, refuse_sources
from atento.data.pairs import Pairs
from atento.spec import DataRecipe
from atento.tasks.read_pairs import read_file, read_sources
from atento.tasks.reading import Reader, by_source


def read_numbers(recipe: DataRecipe, file: str) -> Pairs:
    """The rows of a file that are numbers; the others are refused."""
    return only_numbers(read_file(recipe, file), recipe.bad_rows)


ESTIMATES = Reader(rows=read_numbers, sources=partial(read_sources, refuse=refuse_sources), questions=by_source)
