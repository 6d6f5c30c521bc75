"""Contracts of a distribution alone."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from atento.attention.distributions import Distribution
from atento.checking.finding import CLOSE, EXACT, Finding, apart, aside, judged, tried
from atento.checking.subject import ROWS, TIME, chance, exact_copy

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
