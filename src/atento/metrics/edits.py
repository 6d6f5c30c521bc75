"""How many edits lie between an output and the nearest reference: of characters, or of the symbols between spaces."""

from collections.abc import Callable, Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein

from atento.metrics.metric import Metric, Sums, share

Cut = Callable[[str], Sequence[str]]


def edit_statistics(outputs: Sequence[str], references: Sequence[Sequence[str]], *, cut: Cut) -> Sums:
    """(N, 3): edits to the nearest reference, that reference's length, and one.

    An edit takes a symbol out, puts one in or replaces one (Levenshtein, 1966).
    """
    rows = []
    for output, allowed in zip(outputs, references, strict=True):
        said, known = cut(output), [cut(reference) for reference in allowed]
        edits, length = min(((Levenshtein.distance(said, true), len(true)) for true in known), key=lambda one: one[0])
        rows.append((edits, length, 1))
    return np.asarray(rows, dtype=np.float64)


def character_statistics(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Sums:
    """Of characters."""
    return edit_statistics(outputs, references, cut=str)


def symbol_statistics(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Sums:
    """Of what stands between spaces: words, phones."""
    return edit_statistics(outputs, references, cut=str.split)


def mean_edits(sums: Sums) -> Sums:
    """Edits an output."""
    return share(sums[:, [0, 2]])


SYMBOL_ERROR = Metric(
    "symbol_error",
    "edits of symbols between spaces to the nearest reference, over its length",
    symbol_statistics,
    share,
    smaller_is_better=True,
)
CHARACTER_ERROR = Metric(
    "character_error",
    "edits of characters to the nearest reference, over its length",
    character_statistics,
    share,
    smaller_is_better=True,
)
EDITS = Metric(
    "edits",
    "mean edits of characters to the nearest reference",
    character_statistics,
    mean_edits,
    smaller_is_better=True,
)
