"""Sparse weights by Newton's steps, in slices that fit the cache; only the weights are kept for the way back.

α-entmax: p_i = max(u_i, 0)^e with u_i = (α − 1)(s_i − max s) − τ, e = 1 / (α − 1), and τ such that Σ p = 1.
(Σ max(u, 0)^e)^(1/e) is convex and falls with τ: steps from τ = −1, where it is at least 1, climb to the root and
never pass it. A row stands still at a τ that one more step would not raise, however long its neighbours still climb.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

# Axes: R rows, K keys.

SLICE = 1 << 18  # numbers of a slice: 1 MB in float32, within the second-level cache
MOST_STEPS = 64  # about ten are taken


class EntmaxWeights(torch.autograd.Function):
    """scores (R, K), order α − 1 (1, 1) or (R, 1) -> weights (R, K). Gradients reach both."""

    @staticmethod
    def forward(context: Any, scores: Tensor, order: Tensor) -> Tensor:
        """Each row by itself."""
        weights = torch.empty_like(scores)
        for rows in slices(scores):
            write_weights(scores[rows], of_rows(order, rows), weights[rows])
        context.save_for_backward(weights, order)
        return weights

    @staticmethod
    @once_differentiable
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, Tensor | None]:
        """ds = r ⊙ (g − Σ r g / Σ r) with r = p^(2−α) where p > 0 (Peters et al., 2019, prop. 2)."""
        weights, order = context.saved_tensors
        to_scores = torch.empty_like(weights)
        to_order = weights.new_empty(len(weights), 1) if context.needs_input_grad[1] else None
        for rows in slices(weights):
            upstream, shares, power = gradient[rows], weights[rows], of_rows(order, rows)
            slope = slopes(shares, power)
            centre = (slope * upstream).sum(dim=-1, keepdim=True) / slope.sum(dim=-1, keepdim=True)
            torch.sub(upstream, centre, out=to_scores[rows]).mul_(slope)
            if to_order is not None:
                to_order[rows] = (change_with_order(shares, slope, power) * upstream).sum(dim=-1, keepdim=True)
        return to_scores, None if to_order is None else to_order.sum_to_size(order.shape)


def entmax_weights(scores: Tensor, order: Tensor) -> Tensor:
    """scores (..., K), order α − 1 that broadcasts to (..., 1) -> weights that sum to 1 over the last axis."""
    precise = scores.float() if scores.dtype in (torch.bfloat16, torch.float16) else scores
    order = order.to(precise)
    order = order.reshape(1, 1) if order.numel() == 1 else order.expand(*scores.shape[:-1], 1).reshape(-1, 1)
    weights: Tensor = EntmaxWeights.apply(precise.reshape(-1, scores.size(-1)), order)  # type: ignore[no-untyped-call]
    return weights.view_as(scores).to(scores.dtype)


def slices(rows: Tensor) -> Iterator[slice]:
    """Places of as many rows as fit; on a GPU all at once."""
    size = max(1, SLICE // max(1, rows.size(-1))) if rows.device.type == "cpu" else max(1, len(rows))
    for first in range(0, len(rows), size):
        yield slice(first, first + size)


def of_rows(order: Tensor, rows: slice) -> Tensor:
    """The order of these rows; one number serves all."""
    return order if len(order) == 1 else order[rows]


def simple(order: Tensor) -> float:
    """1 for sparsemax, ½ for 1.5-entmax, which need no logarithm; 0 for all others."""
    known = order.item() if order.numel() == 1 else 0.0
    return known if known in (1.0, 0.5) else 0.0


def write_weights(scores: Tensor, order: Tensor, weights: Tensor) -> None:
    """The shorter way where there is one."""
    below = (scores - scores.amax(dim=-1, keepdim=True)).mul_(order)
    if simple(order):
        climb_by_products(below.add_(1.0), weights, squared=simple(order) == 0.5)
    else:
        climb(below, order, weights)


def climb_by_products(lifted: Tensor, weights: Tensor, *, squared: bool) -> None:
    """α = 2: p = u, sparsemax; α = 1.5: p = u². `lifted` is u where τ = −1."""
    climbed = torch.zeros_like(lifted[:, :1])  # τ + 1
    for _ in range(MOST_STEPS):
        torch.sub(lifted, climbed, out=weights).clamp_(min=0.0)
        total = weights.sum(dim=-1, keepdim=True)
        if squared:
            length = torch.linalg.vector_norm(weights, dim=-1, keepdim=True)
            step = (length - 1) * length / total
        else:
            step = (total - 1) / weights.sign().sum(dim=-1, keepdim=True)
        higher = torch.maximum(climbed, climbed + step)
        if torch.equal(higher, climbed):
            break
        climbed = higher
    if squared:
        weights.square_()


def climb(below: Tensor, order: Tensor, weights: Tensor) -> None:
    """Any α, by logarithms of u = 1 + (below − climbed), which stay exact when α nears 1 and u with it."""
    climbed = torch.zeros_like(below[:, :1])  # τ + 1
    for _ in range(MOST_STEPS):
        torch.sub(below, climbed, out=weights).clamp_(min=-1.0)
        base = (weights + 1).clamp_(min=torch.finfo(weights.dtype).tiny)
        weights.log1p_().div_(order).exp_()  # exp(−inf) = 0 where u is 0
        total = weights.sum(dim=-1, keepdim=True)
        slope = (weights / base).sum(dim=-1, keepdim=True)
        logarithm = total.log()
        step = torch.expm1(order * logarithm) * torch.exp((1 - order) * logarithm) / slope
        higher = torch.maximum(climbed, climbed + step)
        if torch.equal(higher, climbed):
            break
        climbed = higher


def slopes(weights: Tensor, order: Tensor) -> Tensor:
    """p^(2−α) where p > 0: how fast a weight follows its own score."""
    if simple(order) == 0.5:
        return weights.sqrt()
    inside = weights.sign()
    return inside if simple(order) == 1.0 else inside.mul_(weights.pow(1 - order))


def change_with_order(weights: Tensor, slope: Tensor, order: Tensor) -> Tensor:
    """∂p / ∂α = (p − p̃) / (α − 1)² + (h − p̃ Σ h) / (α − 1), with h = −p ln p and p̃ = p^(2−α) / Σ p^(2−α)
    (Correia et al., 2019, prop. 1).
    """
    tilted = slope / slope.sum(dim=-1, keepdim=True)
    surprise = -weights.clamp(min=torch.finfo(weights.dtype).tiny).log()
    entropy = weights * surprise
    grown = torch.expm1(order * surprise)  # p̃ = p (1 + grown) / Σ p (1 + grown): no near-equal numbers are subtracted
    mean = (weights * grown).sum(dim=-1, keepdim=True)
    further = weights * (grown - mean) / (1 + mean)  # p̃ − p
    return (entropy - tilted * entropy.sum(dim=-1, keepdim=True)) / order - further / order.square()
