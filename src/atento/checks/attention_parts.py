"""Contracts of the parts of attention by themselves: distributions, scores and extents.

`why_side_matters` says of which modules outputs may depend on the side of padding: those with a score or an extent
that depends on absolute positions.
"""

from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.distributions.distributions import Distribution
from atento.attention.extents.extents import Extent
from atento.attention.scores.product import Score
from atento.checks.finding import CLOSE, EXACT, Finding, difference, judged, not_applicable
from atento.checks.subject import (
    CUTS,
    ROWS,
    TIME,
    Law,
    check_laws,
    exact_copy,
    numbers_of,
    seeded,
    some_numbers,
    widths_that_fit,
)

# Axes: B rows, Q queries, K keys, T time.

QUERIES = 5
SHIFT = 3
BY_SCORE = "its score depends on the position of a key: pad on the right"
BY_EXTENT = "its extent depends on absolute positions: pad on the right"


def check_distribution(module: Distribution) -> list[Finding]:
    """Every contract of a distribution."""
    return check_laws(module, DISTRIBUTION_LAWS)


def some_scores(distribution: Any) -> Tensor:
    """Random scores (B, Q, K): positive ones for a kernel, two matrices for a difference of distributions."""
    kind = getattr(distribution, "takes", "scores")
    scores = some_numbers(2, ROWS, QUERIES, TIME)
    return scores if kind == "opposed" else scores[0].exp() if kind == "kernel" else scores[0]


def some_visible() -> Tensor:
    """A random mask (B, Q, K) with at least one visible key for every query."""
    with seeded(1):
        visible = torch.rand(ROWS, QUERIES, TIME) < 0.6
    visible[..., 0] = True
    return visible


def declared_weights(distribution: Any) -> Finding:
    """Weights are 0 where hidden, not negative and sum to 1 where declared."""
    visible = some_visible()
    with torch.no_grad():
        weights = distribution(some_scores(distribution), visible)
    return judge_weights(weights, visible, distribution)


def judge_weights(weights: Tensor, visible: Tensor, distribution: Any, *, whole: bool = True) -> Finding:
    """The weights against what the distribution declares; `whole`: they were not scaled afterwards."""
    gap, declared = float(weights.masked_fill(visible, 0.0).abs().sum()), ["0 where hidden"]
    if distribution.non_negative:
        gap, declared = max(gap, float(-weights.min().clamp(max=0.0))), [*declared, "never negative"]
    if distribution.sums_to_one and whole:
        rounding = difference(weights.sum(dim=-1), visible.any(dim=-1).double().expand_as(weights[..., 0]))
        gap, declared = gap if rounding <= CLOSE else max(gap, rounding), [*declared, "summing to 1"]
    return judged("weights", gap, EXACT, f"they are {', '.join(declared)}")


def hidden_content(distribution: Any) -> Finding:
    """The value of a hidden score changes nothing."""
    scores, visible = some_scores(distribution), some_visible()
    with torch.no_grad():
        fillings = (0.0, torch.nan, torch.inf, 1e300)
        results = [distribution(scores.masked_fill(~visible, filling), visible) for filling in fillings]
    gap = max(difference(odd, results[0]) for odd in results[1:])
    return judged("hidden content", gap, EXACT, "NaN or infinity in a hidden score changes nothing")


def nothing_visible(distribution: Any) -> Finding:
    """A query that sees nothing gives zeros, and its gradients are finite."""
    scores, visible = some_scores(distribution).requires_grad_(), some_visible()
    visible[0] = False
    weights = distribution(scores, visible)
    gap = difference(weights[0], torch.zeros_like(weights[0]))
    if weights.requires_grad:
        (gradient,) = torch.autograd.grad(weights.square().sum(), scores)
        gap = max(gap, difference(gradient, gradient.nan_to_num(0.0, 0.0, 0.0)))
    return judged("nothing visible", gap, EXACT, "a query that sees nothing gives zeros and finite gradients")


def moved_keys(distribution: Any) -> Finding:
    """Keys in another order have the same weights in that order."""
    scores, visible, order = some_scores(distribution), some_visible(), torch.arange(TIME - 1, -1, -1)
    with torch.no_grad():
        moved = distribution(scores[..., order], visible[..., order])
        gap = difference(moved, distribution(scores, visible)[..., order])
    return judged("key order", gap, CLOSE, "keys in another order have the same weights")


def constant(distribution: Any) -> Finding:
    """A constant added to all scores changes no weight, where weights depend on differences of scores."""
    if not distribution.sums_to_one or getattr(distribution, "takes", "scores") != "scores":
        return not_applicable("constant", "its weights do not depend on differences of scores")
    scores, visible = some_scores(distribution), some_visible()
    with torch.no_grad():
        gap = difference(distribution(scores + 17, visible), distribution(scores, visible))
    return judged("constant", gap, CLOSE, "a constant added to all scores changes no weight")


def large_scores(distribution: Any) -> Finding:
    """Scores of ±1e4 give finite weights and gradients."""
    scores = some_scores(distribution)
    if getattr(distribution, "takes", "scores") != "kernel":
        scores = scores.sign() * 1e4
    scores.requires_grad_()
    weights = distribution(scores, torch.ones(ROWS, QUERIES, TIME, dtype=torch.bool))
    found = [weights]
    if weights.requires_grad:
        found += torch.autograd.grad(weights.square().sum(), scores)
    gap = max(difference(one, one.nan_to_num(0.0, 0.0, 0.0)) for one in found)
    return judged("large scores", gap, EXACT, "scores of ±10 000 give finite weights and gradients")


DISTRIBUTION_LAWS: dict[str, Law] = {
    "weights": declared_weights,
    "hidden content": hidden_content,
    "nothing visible": nothing_visible,
    "key order": moved_keys,
    "constant": constant,
    "large scores": large_scores,
}


def check_score(module: Score) -> list[Finding]:
    """Every contract of a score."""
    return check_laws(module, SCORE_LAWS)


def some_items(score: Any) -> tuple[Tensor, Tensor]:
    """Queries (B, Q, ·) and keys (B, K, ·) of widths that it compares."""

    def attempt(query: int, key: int) -> None:
        score(torch.zeros(1, 2, query, dtype=torch.float64), torch.zeros(1, 3, key, dtype=torch.float64))

    query, key = widths_that_fit(score, attempt, sizes=2)
    with seeded(2):
        return numbers_of(query)(ROWS, QUERIES), numbers_of(key)(ROWS, TIME)


def score_shape(score: Any) -> Finding:
    """A finite score for each query and key; two for a difference of distributions."""
    query, key = some_items(score)
    with torch.no_grad():
        found = score(query, key)
    lead = (2,) if getattr(score, "gives", "scores") == "opposed" else ()
    right = tuple(found.shape) == (*lead, ROWS, QUERIES, TIME) and bool(found.isfinite().all())
    words = "a finite score for each query and key"
    return judged("shape", 0.0 if right else float("inf"), EXACT, words, otherwise=f"{words}, not {tuple(found.shape)}")


def queries_alone(score: Any) -> Finding:
    """A query, or a row, has the same scores alone as among others."""
    query, key = some_items(score)
    with torch.no_grad():
        whole = score(query, key)
        alone = [score(query[:, at : at + 1], key) for at in range(QUERIES)]
        rows = [score(query[row : row + 1], key[row : row + 1]) for row in range(ROWS)]
    gap = max(difference(torch.cat(alone, dim=-2), whole), difference(torch.cat(rows, dim=-3), whole))
    return judged("neighbours", gap, CLOSE, "a query or a row has the same scores alone as among others")


def score_order(score: Any) -> Finding:
    """Keys in another order have the same scores in that order."""
    if getattr(score, "by_position", False):
        return not_applicable("key order", "it depends on the position of a key, not on its content")
    query, key = some_items(score)
    with torch.no_grad():
        gap = difference(score(query, key.flip(1)), score(query, key).flip(-1))
    return judged("key order", gap, CLOSE, "keys in another order have the same scores")


def prepared_score(score: Any) -> Finding:
    """Preparing and comparing gives the same as forward."""
    query, key = some_items(score)
    with torch.no_grad():
        gap = difference(score.compare(query, score.prepare(key)), score(query, key))
    return judged("prepared", gap, EXACT, "prepare, then compare gives the same scores as forward")


SCORE_LAWS: dict[str, Law] = {
    "shape": score_shape,
    "neighbours": queries_alone,
    "key order": score_order,
    "prepared": prepared_score,
}


def check_extent(module: Extent) -> list[Finding]:
    """Every contract of an extent."""
    return check_laws(module, EXTENT_LAWS)


def extent_items(extent: Any) -> tuple[Tensor, Tensor]:
    """Random queries and keys (1, H, T, D) of a width that the extent takes, with as many heads as it has."""
    heads = next((part.heads for part in extent.modules() if isinstance(getattr(part, "heads", None), int)), 1)

    def attempt(size: int) -> None:
        query = torch.zeros(1, heads, TIME, size, dtype=torch.float64)
        view_at(extent, query, query, query_at=torch.arange(TIME), key_at=torch.arange(TIME))

    (size,) = widths_that_fit(extent, attempt, sizes=1)
    query, key = some_numbers(2, 1, heads, TIME, size, seed=3)
    return query, key


def view_at(extent: Any, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor) -> Any:
    """The view of an extent, without padding."""
    with torch.no_grad():
        return extent(query, key, query_at=query_at, key_at=key_at, valid=None)


def view_of(extent: Any, first: int, last: int) -> Any:
    """The view of the queries from `first` to `last` of TIME keys."""
    query, key = extent_items(extent)
    at = {"query_at": torch.arange(first, last), "key_at": torch.arange(TIME)}
    return view_at(extent, query[..., first:last, :], key, **at)


def view_shape(extent: Any) -> Finding:
    """`visible` is boolean, and every part broadcasts to (Q, K)."""
    view = view_of(extent, 0, TIME)
    shapes = [tuple(part.shape) for part in view if part is not None]
    fits = all(len(shape) >= 2 and set(shape[-2:]) <= {1, TIME} for shape in shapes)
    right = fits and view.visible.dtype == torch.bool
    words = "visible is boolean, and every part of a view broadcasts to queries × keys"
    return judged("shape", 0.0 if right else float("inf"), EXACT, words)


def view_cache(extent: Any) -> Finding:
    """Queries in steps of 1, 3 and the rest have the same view as all at once."""
    whole, gap = view_of(extent, 0, TIME), 0.0
    for first, last in pairwise(CUTS):
        for part, every in zip(view_of(extent, first, last), whole, strict=True):
            if part is not None:
                expected = broadcast(every)[..., first:last, :]
                gap = max(gap, difference(part.expand_as(expected).double(), expected))
    return judged("cache", gap, CLOSE, "a step has the same view as the whole pass")


def broadcast(part: Tensor) -> Tensor:
    """A part of a view for all queries and keys, as numbers."""
    return part.expand(*part.shape[:-2], TIME, TIME).double()


EXTENT_LAWS: dict[str, Law] = {"shape": view_shape, "cache": view_cache}


def why_side_matters(module: nn.Module, *, ahead: nn.Module | None = None) -> str:
    """Why the side of padding may change outputs; empty: it may not. `ahead`: a decoder with a padded source."""
    if any(getattr(part, "by_position", False) for part in module.modules() if isinstance(part, Score)):
        return BY_SCORE
    asked = [] if ahead is None else attentions_over_source(ahead)
    own = [part for part in module.modules() if isinstance(part, Attention) and part not in asked]
    moved = any(position_dependent(one.extent, queries=SHIFT) for one in own) or any(
        position_dependent(one.extent, queries=0) for one in asked
    )
    return BY_EXTENT if moved else ""


def attentions_over_source(decoder: nn.Module) -> list[Attention]:
    """Every attention of a decoder but its self-attention."""
    return [
        part for name, part in decoder.named_modules() if isinstance(part, Attention) and "self_attention" not in name
    ]


def position_dependent(extent: Extent, *, queries: int) -> bool:
    """Whether shifting keys by SHIFT positions, and queries by so many, changes the view."""
    extent = exact_copy(extent)
    query, key = extent_items(extent)
    at = torch.arange(TIME)
    before, after = (
        view_at(extent, query, key, query_at=at + queries * moved, key_at=at + SHIFT * moved) for moved in (0, 1)
    )
    return any(
        difference(broadcast(one), broadcast(other)) > 0
        for one, other in zip(before, after, strict=True)
        if one is not None and other is not None
    )
