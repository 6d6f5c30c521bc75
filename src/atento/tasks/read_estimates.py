"""From a recipe to the three parts of a set of number sequences, each with its number."""

from atento.data.builtin.catalogue import is_builtin
from atento.data.estimates import only_numbers, refuse_sources
from atento.data.pairs import Pairs, empty_cell, find_column, guess_columns, read_source
from atento.data.records import stop_or_skip
from atento.spec import DataRecipe
from atento.tasks.read_pairs import asked_of, questions, read_file, read_parts
from atento.tasks.task import Asked, Opened, Reading


def read_numbers(recipe: DataRecipe, file: str) -> Pairs:
    """The rows of a file that are numbers; the others are refused."""
    return only_numbers(read_file(recipe, file), recipe.bad_rows)


def read_estimates(recipe: DataRecipe, seed: int) -> Reading:
    """Split as pairs are."""
    return read_parts(recipe, seed, read_numbers)


def read_questions(recipe: DataRecipe, file: str, seed: int) -> Asked:
    """All sequences of a file as questions; of a built-in set, its test part."""
    if is_builtin(file):
        reading = read_estimates(asked_of(recipe, file), seed)
        return Asked(reading.test, reading.notes, reading.refused)
    pairs = read_numbers(recipe, file)
    return Asked(questions(pairs.pairs), pairs.notes, pairs.refused)


def read_sources(recipe: DataRecipe, file: str, seed: int) -> Opened:
    """All columns of a file, and the sequences to be read; of a built-in set, its test part."""
    if is_builtin(file):
        test = read_estimates(asked_of(recipe, file), seed).test
        sources = [question.source for question in test]
        return Opened({"source": sources, "target": [question.references[0] for question in test]}, sources, ())
    table = read_source(file, header=recipe.header, names=[recipe.source] if recipe.source else [])
    at = find_column(table, recipe.source, "data.source")
    if at < 0:
        at = guess_columns(table, -1, -1)[0] if len(table.columns) > 1 else 0
    filled = [row for row, cells in enumerate(table.rows) if cells[at].strip()]
    empty = [empty_cell(table, row, at) for row, cells in enumerate(table.rows) if not cells[at].strip()]
    broken = refuse_sources(table, at, filled)
    refused = stop_or_skip([*table.refused, *empty, *broken.values()], recipe.bad_rows)
    kept = [table.rows[row] for row in filled if row not in broken]
    columns = {name: [cells[place] for cells in kept] for place, name in enumerate(table.columns)}
    return Opened(columns, [cells[at] for cells in kept], refused)
