"""Pairs of texts for translation, as they are."""

from collections.abc import Callable, Sequence

from atento.data.inflections import find_inflection
from atento.data.lists import join
from atento.data.pairs import BESIDE, Pairs, empty_cell, find_source, guess_columns, read_pairs, read_source
from atento.data.records import Refusal, stop_or_skip
from atento.data.tables import Table
from atento.spec import DataRecipe
from atento.tasks.reading import Reader, by_source
from atento.tasks.task import Opened

Refuse = Callable[[Table, int, Sequence[int]], dict[int, Refusal]]  # table, column, rows -> those not to be read


def read_file(recipe: DataRecipe, source: str) -> Pairs:
    """One file with the recipe's columns."""
    return read_pairs(
        source,
        source_column=recipe.source,
        target_column=recipe.target,
        header=recipe.header,
        bad_rows=recipe.bad_rows,
    )


def refuse_none(table: Table, column: int, rows: Sequence[int]) -> dict[int, Refusal]:
    """Any text will do."""
    return {}


def read_sources(recipe: DataRecipe, file: str, *, refuse: Refuse = refuse_none) -> Opened:
    """All columns of a file, and the cells to be read that are neither empty nor refused."""
    table = read_source(file, header=recipe.header, names=recipe.source.split(BESIDE) if recipe.source else [])
    at, beside = find_source(table, recipe.source)
    inflection = find_inflection(table) if at < 0 else None
    if inflection is not None:
        at, beside = inflection.lemma, inflection.features
    elif at < 0:
        at = guess_columns(table, -1, -1)[0] if len(table.columns) > 1 else 0
    filled = [row for row, cells in enumerate(table.rows) if cells[at].strip()]
    empty = [empty_cell(table, row, at) for row, cells in enumerate(table.rows) if not cells[at].strip()]
    broken = refuse(table, at, filled)
    refused = stop_or_skip([*table.refused, *empty, *broken.values()], recipe.bad_rows)
    kept = [table.rows[row] for row in filled if row not in broken]
    columns = {name: [cells[place] for cells in kept] for place, name in enumerate(table.columns)}
    sources = [join([cells[at], cells[beside]]) if beside >= 0 else cells[at] for cells in kept]
    return Opened(columns, sources, refused)


PAIRS = Reader(rows=read_file, sources=read_sources, questions=by_source)
