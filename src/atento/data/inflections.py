"""Tables of inflection: a word, one of its forms and the features of it, as in `manducar manducado V.PTCP;PST`."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from atento.data.headings import are_numbers
from atento.data.tables import Table

SAMPLE_ROWS = 500
PARTS = re.compile(r"[;,|:=+/. ]+")
LEAST_KINSHIP = 0.3  # pairs of letters that a word and its form share
LEAST_LEMMAS = 0.02  # of the rows are different words: each may have many forms ...
LEAST_FORMS = 0.2  # ... which are different themselves
MOST_WORDS = 2.5  # of a word or form


class Inflection(NamedTuple):
    """The numbers of the columns, from 0."""

    lemma: int
    form: int
    features: int


def find_inflection(table: Table) -> Inflection | None:
    """The three columns where a table has them: two of kindred words, and one of parts that come again and again."""
    if len(table.columns) < 3:
        return None
    rows = table.rows[:: 1 + len(table.rows) // SAMPLE_ROWS]
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
