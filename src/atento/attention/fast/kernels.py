"""Autograd functions for additive scores on a CPU and for α-entmax, computed in slices that fit the cache.

Additive scores: tanh(q + k) = 2σ(2q + 2k) − 1 with σ(2q + 2k) = 1 / (1 + e^(−2q) e^(−2k)). The exponentials are taken
of each query and each key, not of each pair. The difference loses digits where all z of a pair are small, and where
they are large the product is no number: those pairs are computed by a tanh. No (Q, K, H) tensor of the whole batch is
held: slices share one buffer, and are computed again in the backward pass.

α-entmax: p_i = max(u_i, 0)^e with u_i = (α − 1)(s_i − max s) − τ, e = 1 / (α − 1), and τ such that Σ p = 1, found by
Newton's method. (Σ max(u, 0)^e)^(1/e) is convex and falls with τ: steps from τ = −1, where it is at least 1, increase
to the root and never pass it. A row stops at a τ that one more step would not raise, independently of other rows. Only
the weights are kept for the backward pass."""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

# Axes: B batch, Q queries, K keys, H hidden, R rows (queries of all leading axes).

SLICE = 1 << 18  # numbers of a slice: 1 MB in float32, within the second-level cache
SMALL = 0.1  # of |query| + |key|, the largest of a pair: below it 2σ(2z) − 1 may lose more than two digits of seven
MAX_STEPS = 64  # of Newton's method; at most twelve were ever seen, the last to confirm
RECORDED_STEPS = 12  # of Newton's method where no step can ask whether it was the last


class AdditiveScores(torch.autograd.Function):
    """query (B, Q, H), key (B, K, H), weight (H,) -> weight . tanh(query + key), (B, Q, K)."""

    @staticmethod
    def forward(context: Any, query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
        """Σ_h v_h tanh(z_h) = 2 Σ_h v_h σ(2 z_h) − Σ_h v_h."""
        context.exponentials = exponentials(query, key)
        context.save_for_backward(query, key, weight)
        scores = query.new_empty(len(query), query.size(1), key.size(1))
        for rows, squashed in batch_slices(*context.exponentials):
            torch.matmul(squashed.view(-1, len(weight)), weight, out=scores[rows].view(-1))
        scores.mul_(2).sub_(weight.sum())
        context.small, context.large = small_and_large(query, key)
        for pairs in (context.small, context.large):
            for place, squashed in pairs_by_tanh(pairs, query, key):
                scores[place] = (squashed @ weight).to(scores.dtype)
        return scores

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """d tanh(z) = 4 σ(2z) (1 − σ(2z)) dz."""
        query, key, weight = context.saved_tensors
        gradient = gradients[0].contiguous()  # (B, Q, K)
        to_query, to_key = torch.empty_like(query), torch.empty_like(key)
        small, large = context.small, context.large
        usual = gradient if large is None else gradient.masked_fill(large, 0.0)
        rest = usual if small is None else usual.masked_fill(small, 0.0)
        to_weight = -rest.sum().expand(len(weight)).clone()
        for rows, squashed in batch_slices(*context.exponentials):
            to_weight.addmv_(squashed.view(-1, len(weight)).mT, rest[rows].reshape(-1), alpha=2)
            slope = squashed.addcmul_(squashed, squashed, value=-1).mul_(usual[rows].unsqueeze(-1))  # σ(1 − σ) g
            torch.sum(slope, dim=2, out=to_query[rows])
            torch.sum(slope, dim=1, out=to_key[rows])
        for place, squashed in pairs_by_tanh(small, query, key):
            to_weight.addmv_(squashed.mT, gradient[place])
        for (row, at_query, at_key), squashed in pairs_by_tanh(large, query, key):
            upstream = gradient[row, at_query, at_key]
            to_weight.addmv_(squashed.mT, upstream)
            slope = (1 - squashed.square()).mul_(upstream.unsqueeze(-1) / 4)
            to_query.index_put_((row, at_query), slope, accumulate=True)
            to_key.index_put_((row, at_key), slope, accumulate=True)
        scale = 4 * weight
        return to_query.mul_(scale), to_key.mul_(scale), to_weight


def exponentials(query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
    """e^(−2 query) (B, Q, 1, H) and e^(−2 key) (B, 1, K, H), none of them infinite or 0."""
    most = most_of(query)
    of_query, of_key = ((-2 * part).clamp_(-most, most).exp_() for part in (query, key))
    return of_query.unsqueeze(2), of_key.unsqueeze(1)


def batch_slices(of_query: Tensor, of_key: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """Slices of the batch with σ(2 (query + key)) (b, Q, K, H), in one buffer for all; of no use at large pairs."""
    (batch, queries, _, width), keys = of_query.shape, of_key.size(2)
    rows = max(1, SLICE // max(1, queries * keys * width))
    buffer, one = of_query.new_empty(rows, queries, keys, width), of_query.new_ones(())
    for first in range(0, batch, rows):
        place = slice(first, min(first + rows, batch))
        squashed = buffer[: place.stop - first]
        yield place, torch.addcmul(one, of_query[place], of_key[place], out=squashed).reciprocal_()


def most_of(query: Tensor) -> float:
    """The largest |2 query| + |2 key| whose exponentials can be multiplied."""
    return 0.9 * math.log(torch.finfo(query.dtype).max)


def small_and_large(query: Tensor, key: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """The pairs (B, Q, K) whose every z is small, and those with a large part, each judged by itself; None: no pair."""
    if not query.numel() * key.numel():
        return None, None
    of_query = query.abs().amax(dim=-1, keepdim=True)
    lowest, highest = torch.aminmax(key)
    has_large = not bool(of_query.max() + torch.maximum(-lowest, highest) <= most_of(query) / 2)
    if not has_large and bool((of_query >= SMALL).all()):  # keys, often more, need no closer look
        return None, None
    size = of_query + key.abs().amax(dim=-1).unsqueeze(-2)
    small, large = size < SMALL, ~(size <= most_of(query) / 2)
    return small if bool(small.any()) else None, large if has_large else None


def pairs_by_tanh(pairs: Tensor | None, query: Tensor, key: Tensor) -> Iterator[tuple[tuple[Tensor, ...], Tensor]]:
    """The places of some pairs (B, Q, K), with their tanh(query + key) (n, H)."""
    if pairs is None:
        return
    for some in torch.split(pairs.nonzero(), max(1, SLICE // query.size(-1))):
        row, at_query, at_key = place = some.unbind(dim=-1)
        yield place, torch.tanh(query[row, at_query] + key[row, at_key])


def additive_scores(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """weight . tanh(query + key) with any leading axes: (..., Q, H), (..., K, H), (H,) -> (..., Q, K)."""
    lead = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])  # type: ignore[no-untyped-call]
    rows = math.prod(lead)  # 1 without a leading axis
    query, key = (part.expand(*lead, *part.shape[-2:]).reshape(rows, *part.shape[-2:]) for part in (query, key))
    query, key = (part.to(weight.dtype).contiguous() for part in (query, key))  # under autocast they are bfloat16
    scores: Tensor = AdditiveScores.apply(query, key, weight)  # type: ignore[no-untyped-call]
    return scores.view(*lead, query.size(-2), key.size(-2))


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
