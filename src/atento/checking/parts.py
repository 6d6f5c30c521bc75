"""Contracts of a score alone and of an extent alone."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from atento.attention.extents import Extent
from atento.attention.scores import Score
from atento.checking.finding import CLOSE, EXACT, Finding, apart, aside, judged, tried
from atento.checking.places import some_items as some_items_of_extent
from atento.checking.places import spread, view_at
from atento.checking.subject import CUTS, ROWS, TIME, chance, exact_copy, widths_that_fit

# Axes: B rows, Q queries, K keys.

QUERIES = 5


def check_score(module: Score) -> list[Finding]:
    """What each number may depend on."""
    return [tried(name, partial(law, exact_copy(module))) for name, law in SCORE_LAWS.items()]


def check_extent(module: Extent) -> list[Finding]:
    """What a view is, and that a step sees what the whole pass sees."""
    return [tried(name, partial(law, exact_copy(module))) for name, law in EXTENT_LAWS.items()]


def sizes_of_score(score: Any) -> tuple[int, int]:
    """The widths it compares."""

    def attempt(query: int, key: int) -> None:
        score(torch.zeros(1, 2, query, dtype=torch.float64), torch.zeros(1, 3, key, dtype=torch.float64))

    query, key = widths_that_fit(score, attempt, sizes=2)
    return query, key


def some_items(score: Any) -> tuple[Tensor, Tensor]:
    """Queries (B, Q, ·) and keys (B, K, ·)."""
    query, key = sizes_of_score(score)
    with chance(2):
        return (
            torch.randn(ROWS, QUERIES, query, dtype=torch.float64),
            torch.randn(ROWS, TIME, key, dtype=torch.float64),
        )


def score_shape(score: Any) -> Finding:
    """One number for each query and key (two where they are opposed), all finite."""
    query, key = some_items(score)
    with torch.no_grad():
        found = score(query, key)
    lead = (2,) if getattr(score, "gives", "scores") == "opposed" else ()
    right = tuple(found.shape) == (*lead, ROWS, QUERIES, TIME) and bool(found.isfinite().all())
    words = "one finite number for each query and key"
    return judged("shape", 0.0 if right else float("inf"), EXACT, words, otherwise=f"{words}, not {tuple(found.shape)}")


def queries_apart(score: Any) -> Finding:
    """A row's query alone gives the scores it gives in company."""
    query, key = some_items(score)
    with torch.no_grad():
        whole = score(query, key)
        alone = [score(query[:, at : at + 1], key) for at in range(QUERIES)]
        rows = [score(query[row : row + 1], key[row : row + 1]) for row in range(ROWS)]
    gap = max(apart(torch.cat(alone, dim=-2), whole), apart(torch.cat(rows, dim=-3), whole))
    return judged("neighbours", gap, CLOSE, "a query alone, or a row alone, scores as it does in company")


def score_order(score: Any) -> Finding:
    """Keys in another order take their scores along."""
    if getattr(score, "by_position", False):
        return aside("key order", "it asks where a key stands, not what it is")
    query, key = some_items(score)
    with torch.no_grad():
        gap = apart(score(query, key.flip(1)), score(query, key).flip(-1))
    return judged("key order", gap, CLOSE, "keys in another order take their scores along")


def prepared_score(score: Any) -> Finding:
    """Prepared once and compared gives what forward gives."""
    query, key = some_items(score)
    with torch.no_grad():
        gap = apart(score.compare(query, score.prepare(key)), score(query, key))
    return judged("prepared", gap, EXACT, "prepared once, compared later: the same scores")


def view_shape(extent: Any) -> Finding:
    """`visible` is boolean, and every part broadcasts to (Q, K)."""
    view = view_of(extent, 0, TIME)
    shapes = [tuple(part.shape) for part in view if part is not None]
    fits = all(len(shape) >= 2 and set(shape[-2:]) <= {1, TIME} for shape in shapes)
    right = fits and view.visible.dtype == torch.bool
    words = "visible is boolean, and every part of a view broadcasts to queries × keys"
    return judged("shape", 0.0 if right else float("inf"), EXACT, words)


def view_cache(extent: Any) -> Finding:
    """Queries in steps of 1, 3 and the rest see what they see at once."""
    whole, gap = view_of(extent, 0, TIME), 0.0
    for first, last in pairwise(CUTS):
        for part, every in zip(view_of(extent, first, last), whole, strict=True):
            if part is not None:
                expected = spread(every)[..., first:last, :]
                gap = max(gap, apart(part.expand_as(expected).double(), expected))
    return judged("cache", gap, CLOSE, "a step sees what the whole pass sees")


def view_of(extent: Any, first: int, last: int) -> Any:
    """What queries at some positions see of TIME keys."""
    query, key = some_items_of_extent(extent)
    at = {"query_at": torch.arange(first, last), "key_at": torch.arange(TIME)}
    return view_at(extent, query[..., first:last, :], key, **at)


SCORE_LAWS: dict[str, Callable[[Any], Finding]] = {
    "shape": score_shape,
    "neighbours": queries_apart,
    "key order": score_order,
    "prepared": prepared_score,
}
EXTENT_LAWS: dict[str, Callable[[Any], Finding]] = {"shape": view_shape, "cache": view_cache}
