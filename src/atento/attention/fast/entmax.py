"""α-entmax, in slices that fit the cache.

p_i = max(u_i, 0)^e with u_i = (α − 1)(s_i − max s) − τ, e = 1 / (α − 1), and τ such that Σ p = 1, found by Newton's
method. (Σ max(u, 0)^e)^(1/e) is convex and falls with τ: steps from τ = −1, where it is at least 1, increase to the
root and never pass it. A row stops at a τ that one more step would not raise, independently of other rows. Only the
weights are kept for the backward pass.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

# Axes: R rows (queries of all leading axes), K keys.

SLICE = 1 << 18  # numbers of a slice: 1 MB in float32, within the second-level cache
MAX_STEPS = 64  # of Newton's method; at most twelve were ever seen, the last to confirm
RECORDED_STEPS = 12  # of Newton's method where no step can ask whether it was the last


class EntmaxWeights(torch.autograd.Function):
    """scores (R, K), order α − 1 (1, 1) or (R, 1) -> weights (R, K). Gradients reach both."""

    @staticmethod
    def forward(context: Any, scores: Tensor, order: Tensor) -> Tensor:
        """The weights of each slice of rows."""
        weights = torch.empty_like(scores)
        for rows in row_slices(scores):
            write_weights(scores[rows], order_of(order, rows), weights[rows])
        context.save_for_backward(weights, order)
        return weights

    @staticmethod
    @once_differentiable
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, Tensor | None]:
        """ds = r ⊙ (g − Σ r g / Σ r) with r = p^(2−α) where p > 0 (Peters et al., 2019, prop. 2)."""
        weights, order = context.saved_tensors
        to_scores = torch.empty_like(weights)
        to_order = weights.new_empty(len(weights), 1) if context.needs_input_grad[1] else None
        for rows in row_slices(weights):
            upstream, probs, power = gradient[rows], weights[rows], order_of(order, rows)
            slope = slopes(probs, power)
            centre = (slope * upstream).sum(dim=-1, keepdim=True) / slope.sum(dim=-1, keepdim=True)
            torch.sub(upstream, centre, out=to_scores[rows]).mul_(slope)
            if to_order is not None:
                to_order[rows] = (change_with_order(probs, slope, power) * upstream).sum(dim=-1, keepdim=True)
        return to_scores, None if to_order is None else to_order.sum_to_size(order.shape)


def entmax_weights(scores: Tensor, order: Tensor | float) -> Tensor:
    """scores (..., K), order α − 1 that broadcasts to (..., 1) -> weights that sum to 1 over the last axis."""
    precise = scores.float() if scores.dtype in (torch.bfloat16, torch.float16) else scores
    if torch.compiler.is_compiling():
        return recorded_entmax(precise, order).to(scores.dtype)
    order = order.to(precise) if isinstance(order, Tensor) else precise.new_tensor(order)
    order = order.reshape(1, 1) if order.numel() == 1 else order.expand(*scores.shape[:-1], 1).reshape(-1, 1)
    weights: Tensor = EntmaxWeights.apply(precise.reshape(-1, scores.size(-1)), order)  # type: ignore[no-untyped-call]
    return weights.view_as(scores).to(scores.dtype)


def row_slices(rows: Tensor) -> Iterator[slice]:
    """Slices of as many rows as fit the cache; on a GPU one slice of all."""
    size = max(1, SLICE // max(1, rows.size(-1))) if rows.device.type == "cpu" else max(1, len(rows))
    for first in range(0, len(rows), size):
        yield slice(first, first + size)


def order_of(order: Tensor, rows: slice) -> Tensor:
    """The order of these rows, or the one number for all."""
    return order if len(order) == 1 else order[rows]


def product_order(order: Tensor) -> float:
    """The order if it is 1 (sparsemax) or ½ (1.5-entmax), which need no logarithms; else 0."""
    known = order.item() if order.numel() == 1 else 0.0
    return known if known in (1.0, 0.5) else 0.0


def write_weights(scores: Tensor, order: Tensor, weights: Tensor) -> None:
    """Write the weights of scores (R, K), by products if the order allows it."""
    below = (scores - scores.amax(dim=-1, keepdim=True)).mul_(order)
    if product_order(order):
        newton_by_products(below.add_(1.0), weights, squared=product_order(order) == 0.5)
    else:
        newton_by_logarithms(below, order, weights)


def newton_by_products(lifted: Tensor, weights: Tensor, *, squared: bool) -> None:
    """α = 2: p = u, sparsemax; α = 1.5: p = u², squared. `lifted` is u at τ = −1."""
    raised = torch.zeros_like(lifted[:, :1])  # τ + 1
    for _ in range(MAX_STEPS):
        torch.sub(lifted, raised, out=weights).clamp_(min=0.0)
        total = weights.sum(dim=-1, keepdim=True)
        if squared:
            length = torch.linalg.vector_norm(weights, dim=-1, keepdim=True)
            step = (length - 1) * length / total
        else:
            step = (total - 1) / weights.sign().sum(dim=-1, keepdim=True)
        higher = torch.maximum(raised, raised + step)
        if torch.equal(higher, raised):
            break
        raised = higher
    if squared:
        weights.square_()


def newton_by_logarithms(below: Tensor, order: Tensor, weights: Tensor) -> None:
    """Any α, by logarithms of u = 1 + (below − raised), which stay exact as α and u approach 1."""
    raised = torch.zeros_like(below[:, :1])  # τ + 1
    for _ in range(MAX_STEPS):
        torch.sub(below, raised, out=weights).clamp_(min=-1.0)
        base = (weights + 1).clamp_(min=torch.finfo(weights.dtype).tiny)
        weights.log1p_().div_(order).exp_()  # exp(−inf) = 0 where u is 0
        total = weights.sum(dim=-1, keepdim=True)
        slope = (weights / base).sum(dim=-1, keepdim=True)
        logarithm = total.log()
        step = torch.expm1(order * logarithm) * torch.exp((1 - order) * logarithm) / slope
        higher = torch.maximum(raised, raised + step)
        if torch.equal(higher, raised):
            break
        raised = higher


def slopes(weights: Tensor, order: Tensor) -> Tensor:
    """p^(2−α) where p > 0, else 0: the derivative of a weight by its own score at fixed τ."""
    if product_order(order) == 0.5:
        return weights.sqrt()
    inside = weights.sign()
    return inside if product_order(order) == 1.0 else inside.mul_(weights.pow(1 - order))


def change_with_order(weights: Tensor, slope: Tensor, order: Tensor) -> Tensor:
    """∂p / ∂α = (p − p̃) / (α − 1)² + (h − p̃ Σ h) / (α − 1), with h = −p ln p and p̃ = p^(2−α) / Σ p^(2−α)
    (Correia et al., 2019, prop. 1).
    """
    weighted = slope / slope.sum(dim=-1, keepdim=True)
    surprise = -weights.clamp(min=torch.finfo(weights.dtype).tiny).log()
    entropy = weights * surprise
    grown = torch.expm1(order * surprise)  # p̃ = p (1 + grown) / Σ p (1 + grown): no near-equal numbers are subtracted
    mean = (weights * grown).sum(dim=-1, keepdim=True)
    difference = weights * (grown - mean) / (1 + mean)  # p̃ − p
    return (entropy - weighted * entropy.sum(dim=-1, keepdim=True)) / order - difference / order.square()


def recorded_entmax(scores: Tensor, order: Tensor | float) -> Tensor:
    """As `entmax_weights`, by a fixed number of steps of plain operations, which torch.compile and torch.export record.

    τ is found without a gradient. One step more, with it, moves no τ, and its derivative is that of the root.
    """
    below = (scores - scores.detach().amax(dim=-1, keepdim=True)) * order
    still, fixed = below.detach(), order.detach() if isinstance(order, Tensor) else order
    raised = torch.zeros_like(still[..., :1])  # τ + 1
    for _ in range(RECORDED_STEPS):
        raised = torch.maximum(raised, raised + newton_step(still, raised, fixed))
    raised = raised + newton_step(below, raised, order)
    return powers(below, raised, order)[0]


def newton_step(below: Tensor, raised: Tensor, order: Tensor | float) -> Tensor:
    """How far Newton's method raises τ."""
    weights, base = powers(below, raised, order)
    logarithm = weights.sum(dim=-1, keepdim=True).log()
    slope = (weights / base).sum(dim=-1, keepdim=True)
    return torch.expm1(order * logarithm) * torch.exp((1 - order) * logarithm) / slope


def powers(below: Tensor, raised: Tensor, order: Tensor | float) -> tuple[Tensor, Tensor]:
    """u^e, which is 0 where u = 1 + (below − raised) is not positive, and u, which is 1 there."""
    moved = below - raised
    inside = moved > -1.0
    moved = moved.masked_fill(~inside, 0.0)
    is_plain = isinstance(order, float) and order == 1.0  # sparsemax
    powered = moved + 1 if is_plain else torch.exp(torch.log1p(moved) / order)
    return powered.masked_fill(~inside, 0.0), moved + 1
