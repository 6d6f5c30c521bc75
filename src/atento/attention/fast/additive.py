"""Additive scores on a CPU, in slices that fit the cache.

tanh(q + k) = 2σ(2q + 2k) − 1 with σ(2q + 2k) = 1 / (1 + e^(−2q) e^(−2k)). The exponentials are taken of each query and
each key, not of each pair. The difference loses digits where all z of a pair are small, and where they are large the
product is no number: those pairs are computed by a tanh. No (Q, K, H) tensor of the whole batch is held: slices share
one buffer, and are computed again in the backward pass.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from atento.layers.second_derivatives import by_formula
from atento.native.library import Library, library_for

# Axes: B batch, Q queries, K keys, H hidden.

SLICE = 1 << 18  # numbers of a slice: 1 MB in float32, within the second-level cache
SMALL = 0.1  # of |query| + |key|, the largest of a pair: below it 2σ(2z) − 1 may lose more than two digits of seven


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
    def backward(context: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        """d tanh(z) = 4 σ(2z) (1 − σ(2z)) dz."""
        query, key, weight = context.saved_tensors
        if torch.is_grad_enabled():
            return by_formula(additive_formula, (query, key, weight), upstream)
        gradient = upstream[0].contiguous()  # (B, Q, K)
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
            of_pair = gradient[row, at_query, at_key]
            to_weight.addmv_(squashed.mT, of_pair)
            slope = (1 - squashed.square()).mul_(of_pair.unsqueeze(-1) / 4)
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


class CompiledAdditiveScores(torch.autograd.Function):
    """The same by the compiled library, in float32; H is a multiple of its lanes."""

    @staticmethod
    def forward(context: Any, library: Library, query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
        """Small and large pairs are told apart likewise; exponentials and largest sizes of rows are kept."""
        (batch, queries, hidden), keys = query.shape, key.size(1)
        limits = query.new_tensor([SMALL, most_of(query) / 4])  # four exponentials are multiplied
        sizes = query.new_empty(batch, queries), query.new_empty(batch, keys)
        given = (
            queries,
            keys,
            hidden,
            limits,
            query,
            key,
            weight,
            torch.empty_like(query),
            torch.empty_like(key),
            *sizes,
        )
        scores = query.new_empty(batch, queries, keys)
        library.run("additive_forward", batch, *given, scores)
        context.library, context.given = library, given
        context.save_for_backward(query, key, weight)
        return scores

    @staticmethod
    def backward(context: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        """tanh is computed again; each thread adds up a gradient of the weight."""
        query, key, weight = context.saved_tensors
        if torch.is_grad_enabled():
            return None, *by_formula(additive_formula, (query, key, weight), upstream)
        batch, library = len(query), context.library
        to_query, to_key = torch.empty_like(query), torch.zeros_like(key)
        to_weight = weight.new_zeros(library.threads(batch), len(weight))
        given = *context.given, upstream[0].contiguous(), to_query, to_key
        library.run("additive_backward", batch, *given, own=to_weight)
        return None, to_query, to_key, to_weight.sum(dim=0)


def additive_formula(query: Tensor, key: Tensor, weight: Tensor) -> tuple[Tensor]:
    """The same by plain operations."""
    return (torch.tanh(query.unsqueeze(-2) + key.unsqueeze(-3)) @ weight,)


def additive_scores(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """weight . tanh(query + key) with any leading axes: (..., Q, H), (..., K, H), (H,) -> (..., Q, K)."""
    lead = np.broadcast_shapes(query.shape[:-2], key.shape[:-2])  # that of torch loads a package of symbols
    rows = math.prod(lead)  # 1 without a leading axis
    query, key = (part.expand(*lead, *part.shape[-2:]).reshape(rows, *part.shape[-2:]) for part in (query, key))
    query, key = (part.to(weight.dtype).contiguous() for part in (query, key))  # under autocast they are bfloat16
    library = library_for(query, key, weight)
    if library is None:
        scores: Tensor = AdditiveScores.apply(query, key, weight)  # type: ignore[no-untyped-call]
    else:
        more = -query.size(-1) % library.lanes
        parts = (functional.pad(part, (0, more)) if more else part.contiguous() for part in (query, key, weight))
        scores = CompiledAdditiveScores.apply(library, *parts)  # type: ignore[no-untyped-call]
    return scores.view(*lead, query.size(-2), key.size(-2))
