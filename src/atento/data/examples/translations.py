"""A text and the text that is made of it: translations, spellings, and forms of a word by its features.

In a table of inflection a row holds a word, one of its forms and the features of it, as in
`manducar manducado V.PTCP;PST`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from atento.data.examples.pairs import COMMA, ExampleSource, ExampleTarget, Half, find_column, one_column, text_cell
from atento.data.records import Refusal, excerpt, in_words, join_items
from atento.data.tables.column_names import ROW_NAMES, is_named
from atento.data.tables.headers import LANGUAGES, PAIR_NAMES, are_numbers
from atento.data.tables.table import Table
from atento.errors import InputError
from atento.spec import DataRecipe

SAMPLE_ROWS = 1000
INFLECTION_ROWS = 500
MOST_COLUMNS = 50  # of a table of inflection
PARTS = re.compile(r"[;,|:=+/. ]+")
LEAST_KINSHIP = 0.3  # pairs of letters that a word and its form share
LEAST_LEMMAS = 0.02  # of the rows are different words: each may have many forms ...
LEAST_FORMS = 0.2  # ... which are different themselves
MOST_WORDS = 2.5  # of a word or form


class TranslationSource(ExampleSource):
    """A text, and beside it its features where data.source names two columns or the table is one of inflection."""

    def find(self, table: Table, recipe: DataRecipe, file: str, taken: Sequence[int]) -> Half:
        """By name, else by the names of source and target, else the first column of text."""
        first, beside = source_columns(table, recipe, taken)
        name = table.columns[first]
        if beside < 0:
            half = one_column(table, first, recipe, key="source", role="source")
            return half._replace(guesses=())

        def value(row: int) -> str | Refusal:
            word = text_cell(table, row, first)
            return word if isinstance(word, Refusal) else join_items([word, table.rows[row][beside].strip()])

        features = table.columns[beside]
        keys = {"source": f"{name}{COMMA}{features}"}
        return Half(table, (first, beside), value, keys, {name: "source", features: "features"})


@dataclass(frozen=True)
class TranslationTarget(ExampleTarget):
    """What stands beside a source in the second of two columns: a text, or what `cell` reads there."""

    cell: Callable[[Table, int, int], str | Refusal] = text_cell
    keys = ("target",)

    def find(self, table: Table, recipe: DataRecipe, source: Half) -> Half:
        """By name, else by the names of source and target, else the second column of text."""
        if len(table.columns) == 1:
            raise InputError(
                f"{table.file}:1: there is one column, and a pair needs two.",
                found=f"the column {table.columns[0]!r}, e.g. {excerpt(table.rows[0][0])}",
                fix="part source and target by a tab (.tsv) or a comma (.csv), or give two files: train.de,train.en",
            )
        first, named = source.columns[0], find_column(table, recipe.target, "data.target")
        if recipe.source and first == named:
            other = table.columns[guess_columns(table, first, -1)[1]]
            raise InputError(
                f"{table.file}:1: source and target are the same column {table.columns[first]!r}.",
                found=f"the columns {in_words(table.columns)}",
                fix=f"pass --set data.target={other}",
            )
        inflection = find_inflection(table) if not recipe.source and len(source.columns) == 2 else None
        if inflection is not None:
            second = inflection.form
        else:
            second = named if named >= 0 else guess_columns(table, first if recipe.source else -1, -1)[1]
        notes: tuple[str, ...] = ()
        if not recipe.source or (named < 0 and len(source.columns) == 1):
            notes = guess_notes(table.columns, source.columns, second)
        half = one_column(table, second, recipe, key="target", role="target", cell=self.cell)
        return half._replace(guesses=(), notes=notes)


def source_columns(table: Table, recipe: DataRecipe, taken: Sequence[int]) -> tuple[int, int]:
    """The column of the source, and that of its features; -1: there are none."""
    if COMMA in recipe.source and recipe.source not in table.columns:
        word, _, features = recipe.source.partition(COMMA)
        return find_column(table, word.strip(), "data.source"), find_column(table, features.strip(), "data.source")
    if recipe.source:
        return find_column(table, recipe.source, "data.source"), -1
    inflection = None if taken else find_inflection(table)
    if inflection is not None:
        return inflection.lemma, inflection.features
    return guess_columns(table, -1, taken[0] if taken else -1)[0] if len(table.columns) > 1 else 0, -1


def guess_columns(table: Table, source: int, target: int) -> tuple[int, int]:
    """Columns by well-known names, else two languages, else the first two of text; -1 stands for one to be found."""
    rows = table.rows[:SAMPLE_ROWS]
    filled = [any(row[at].strip() for row in rows) for at in range(len(table.columns))]
    names = [last_name(name) if there else "" for name, there in zip(table.columns, filled, strict=True)]
    for couple in PAIR_NAMES:
        if couple[0] in names and couple[1] in names:
            first, second = names.index(couple[0]), names.index(couple[1])
            if source in (-1, first) and target in (-1, second):
                return first, second
    free = [at for at in range(len(names)) if at not in (source, target)]
    free.sort(key=lambda at: (not filled[at], names_rows(table.columns[at], [row[at] for row in rows])))
    likely = [at for at in free if names[at] in LANGUAGES]
    wanted = (source, target).count(-1)
    if len(likely) < wanted:
        texts = list(islice((at for at in free if not are_numbers([row[at] for row in rows])), wanted))
        likely = [*texts, *(at for at in free if at not in texts)]
    order = iter(likely)
    return source if source >= 0 else next(order), target if target >= 0 else next(order)


def names_rows(name: str, cells: Sequence[str]) -> bool:
    """Whether a column only tells rows apart: by its name, with a word in each cell, and all of them different."""
    return (
        is_named(name, ROW_NAMES) and len(set(cells)) == len(cells) and not any(" " in cell.strip() for cell in cells)
    )


def last_name(name: str) -> str:
    """A column's name in small letters; of a dotted one, as `translation.en`, the last part."""
    return name.lower().rpartition(".")[2] or name.lower()


def guess_notes(columns: Sequence[str], source: Sequence[int], target: int) -> tuple[str, ...]:
    """What was chosen, said when there was more to choose from."""
    names = [columns[at] for at in source]
    if len(names) == 2:
        features = f"{names[0]} with its features {names[1]}"
        return (f"source is {features}, target is {columns[target]}; --set data.source=... chooses others",)
    unused = [name for at, name in enumerate(columns) if at not in (*source, target)]
    if not unused:
        return ()
    return (
        f"{len(columns)} columns: source is {names[0]}, target is {columns[target]}, {in_words(unused)} "
        f"{'is' if len(unused) == 1 else 'are'} not used; --set data.source=... chooses others",
    )


class Inflection(NamedTuple):
    """The numbers of the columns, from 0."""

    lemma: int
    form: int
    features: int


def find_inflection(table: Table) -> Inflection | None:
    """The three columns where a table has them: two of kindred words, and one of parts that come again and again."""
    if not 3 <= len(table.columns) <= MOST_COLUMNS:
        return None
    rows = table.rows[:: 1 + len(table.rows) // INFLECTION_ROWS]
    columns = [[row[at].strip() for row in rows] for at in range(len(table.columns))]
    features = [at for at, cells in enumerate(columns) if are_features(cells)]
    words = [at for at, cells in enumerate(columns) if at not in features and are_words(cells)]
    if len(features) != 1 or len(words) < 2:
        return None
    lemma, form = words[:2]
    names = [table.columns[at].lower() for at in (lemma, form)]
    if names in (["form", "lemma"], ["inflected", "lemma"], ["target", "source"]):
        lemma, form = form, lemma
    varied = max(len(set(columns[at])) for at in (lemma, form)) >= LEAST_FORMS * len(rows)
    if not varied or kinship(columns[lemma], columns[form]) < LEAST_KINSHIP:
        return None
    return Inflection(lemma, form, features[0])


def are_features(cells: Sequence[str]) -> bool:
    """Whether cells are bundles of few parts: two or more in most, each part in many cells."""
    parts = [[part for part in PARTS.split(cell) if part] for cell in cells]
    total = sum(map(len, parts))
    several = sum(len(some) > 1 and not re.search(r"\s", cell) for some, cell in zip(parts, cells, strict=True))
    return 2 * several > len(cells) and 5 * len({part for some in parts for part in some}) <= total


def are_words(cells: Sequence[str]) -> bool:
    """Whether cells are words."""
    filled = [cell for cell in cells if cell]
    if not filled or are_numbers(filled) or LEAST_LEMMAS * len(filled) > len(set(filled)):
        return False
    return sum(len(cell.split()) for cell in filled) <= MOST_WORDS * len(filled)


def kinship(ones: Sequence[str], others: Sequence[str]) -> float:
    """The mean share of letter pairs of the shorter word that stand in the longer one, too."""
    shares = [shared_pairs(one, other) for one, other in zip(ones, others, strict=True) if one and other]
    return sum(shares) / len(shares) if shares else 0.0


def shared_pairs(one: str, other: str) -> float:
    """From 0 to 1."""
    first, second = (
        {text[at : at + 2] for at in range(max(1, len(text) - 1))} for text in (one.lower(), other.lower())
    )
    return len(first & second) / min(len(first), len(second))
