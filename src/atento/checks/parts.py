"""Contracts of a distribution alone.

Contracts of a score alone and of an extent alone.
Where a part asks at which place a key stands: there the side of padding must matter, and the contract says so.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.distributions.distributions import Distribution
from atento.attention.extents.extents import Extent
from atento.attention.scores.product import Score
from atento.checks.finding import CLOSE, EXACT, Finding, apart, aside, judged, tried
from atento.checks.subject import CUTS, ROWS, TIME, chance, exact_copy, widths_that_fit

# Axes: B rows, Q queries, K keys.

QUERIES = 5


def check_distribution(module: Distribution) -> list[Finding]:
    """What it promises of weights."""
    return [tried(name, partial(law, exact_copy(module))) for name, law in LAWS.items()]


def some_scores(distribution: Any) -> Tensor:
    """Random scores (B, Q, K), not negative where their sum divides them; two matrices where they are opposed."""
    kind = getattr(distribution, "takes", "scores")
    with chance():
        scores = torch.randn(2, ROWS, QUERIES, TIME, dtype=torch.float64)
    return scores if kind == "opposed" else scores[0].exp() if kind == "kernel" else scores[0]


def some_visible() -> Tensor:
    """By chance, but one key at least for every query."""
    with chance(1):
        visible = torch.rand(ROWS, QUERIES, TIME) < 0.6
    visible[..., 0] = True
    return visible


def promised_shares(distribution: Any) -> Finding:
    """0 where hidden; not negative and summing to 1 where it says so."""
    visible = some_visible()
    with torch.no_grad():
        weights = distribution(some_scores(distribution), visible)
    return judge_shares(weights, visible, distribution)


def judge_shares(weights: Tensor, visible: Tensor, distribution: Any, *, whole: bool = True) -> Finding:
    """What a distribution declares, held against its weights; `whole`: nothing was taken off them afterwards."""
    gap, promises = float(weights.masked_fill(visible, 0.0).abs().sum()), ["0 where hidden"]
    if distribution.non_negative:
        gap, promises = max(gap, float(-weights.min().clamp(max=0.0))), [*promises, "never negative"]
    if distribution.sums_to_one and whole:
        rounding = apart(weights.sum(dim=-1), visible.any(dim=-1).double().expand_as(weights[..., 0]))
        gap, promises = gap if rounding <= CLOSE else max(gap, rounding), [*promises, "summing to 1"]
    return judged("weights", gap, EXACT, f"they are {', '.join(promises)}")


def hidden_content(distribution: Any) -> Finding:
    """What a hidden score is never matters."""
    scores, visible = some_scores(distribution), some_visible()
    with torch.no_grad():
        fillings = (0.0, torch.nan, torch.inf, 1e300)
        results = [distribution(scores.masked_fill(~visible, filling), visible) for filling in fillings]
    gap = max(apart(odd, results[0]) for odd in results[1:])
    return judged("hidden content", gap, EXACT, "NaN or infinity in a hidden score changes nothing")


def nothing_visible(distribution: Any) -> Finding:
    """A query that sees nothing gives zeros, and its gradients are finite."""
    scores, visible = some_scores(distribution).requires_grad_(), some_visible()
    visible[0] = False
    weights = distribution(scores, visible)
    gap = apart(weights[0], torch.zeros_like(weights[0]))
    if weights.requires_grad:
        (gradient,) = torch.autograd.grad(weights.square().sum(), scores)
        gap = max(gap, apart(gradient, gradient.nan_to_num(0.0, 0.0, 0.0)))
    return judged("nothing visible", gap, EXACT, "a query that sees nothing gives zeros and finite gradients")


def moved_keys(distribution: Any) -> Finding:
    """Keys in another order take their weights along."""
    scores, visible, order = some_scores(distribution), some_visible(), torch.arange(TIME - 1, -1, -1)
    with torch.no_grad():
        gap = apart(distribution(scores[..., order], visible[..., order]), distribution(scores, visible)[..., order])
    return judged("key order", gap, CLOSE, "keys in another order take their weights along")


def constant(distribution: Any) -> Finding:
    """A number added to all scores changes no share, where shares come from differences of scores."""
    if not distribution.sums_to_one or getattr(distribution, "takes", "scores") != "scores":
        return aside("constant", "its weights do not come from differences of scores")
    scores, visible = some_scores(distribution), some_visible()
    with torch.no_grad():
        gap = apart(distribution(scores + 17, visible), distribution(scores, visible))
    return judged("constant", gap, CLOSE, "a number added to all scores changes no share")


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
    gap = max(apart(one, one.nan_to_num(0.0, 0.0, 0.0)) for one in found)
    return judged("large scores", gap, EXACT, "scores of ±10 000 give finite weights and gradients")


LAWS: dict[str, Callable[[Any], Finding]] = {
    "weights": promised_shares,
    "hidden content": hidden_content,
    "nothing visible": nothing_visible,
    "key order": moved_keys,
    "constant": constant,
    "large scores": large_scores,
}


SHIFT = 3
BY_SCORE = "its score asks at which place a key stands: pad on the right"
BY_EXTENT = "its extent counts places from the left edge: pad on the right"


def why_sided(module: nn.Module, *, ahead: nn.Module | None = None) -> str:
    """Why the side of padding matters to a module; empty: it does not. `ahead`: a decoder that asks a padded source."""
    if any(getattr(part, "by_position", False) for part in module.modules() if isinstance(part, Score)):
        return BY_SCORE
    asked = [] if ahead is None else attentions_over_source(ahead)
    own = [part for part in module.modules() if isinstance(part, Attention) and part not in asked]
    moved = any(moves(one.extent, queries=SHIFT) for one in own) or any(moves(one.extent, queries=0) for one in asked)
    return BY_EXTENT if moved else ""


def attentions_over_source(decoder: nn.Module) -> list[Attention]:
    """Every attention of a decoder but those over what it has written itself."""
    return [
        part for name, part in decoder.named_modules() if isinstance(part, Attention) and "self_attention" not in name
    ]


def moves(extent: Extent, *, queries: int) -> bool:
    """Whether keys moved to the right, and queries by so much, are seen in another way."""
    extent = exact_copy(extent)
    query, key = extent_items(extent)
    at = torch.arange(TIME)
    before, after = (
        view_at(extent, query, key, query_at=at + queries * moved, key_at=at + SHIFT * moved) for moved in (0, 1)
    )
    return any(
        apart(spread(one), spread(other)) > 0
        for one, other in zip(before, after, strict=True)
        if one is not None and other is not None
    )


def view_at(extent: Any, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor) -> Any:
    """What the extent shows, nothing being padded."""
    with torch.no_grad():
        return extent(query, key, query_at=query_at, key_at=key_at, valid=None)


def spread(part: Tensor) -> Tensor:
    """A part of a view over all queries and keys, as numbers."""
    return part.expand(*part.shape[:-2], TIME, TIME).double()


def extent_items(extent: Any) -> tuple[Tensor, Tensor]:
    """Queries and keys (1, 1, T, D) of a width the extent can read."""

    def attempt(size: int) -> None:
        query = torch.zeros(1, 1, TIME, size, dtype=torch.float64)
        view_at(extent, query, query, query_at=torch.arange(TIME), key_at=torch.arange(TIME))

    (size,) = widths_that_fit(extent, attempt, sizes=1)
    with chance(3):
        return (
            torch.randn(1, 1, TIME, size, dtype=torch.float64),
            torch.randn(1, 1, TIME, size, dtype=torch.float64),
        )


# Axes: B rows, Q queries, K keys.


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
    query, key = extent_items(extent)
    at = {"query_at": torch.arange(first, last), "key_at": torch.arange(TIME)}
    return view_at(extent, query[..., first:last, :], key, **at)


SCORE_LAWS: dict[str, Callable[[Any], Finding]] = {
    "shape": score_shape,
    "neighbours": queries_apart,
    "key order": score_order,
    "prepared": prepared_score,
}
EXTENT_LAWS: dict[str, Callable[[Any], Finding]] = {"shape": view_shape, "cache": view_cache}
