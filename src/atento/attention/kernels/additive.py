"""Additive scores on a processor, without ever holding a (Q, K, H) tensor of the whole batch.

tanh(z) = 2σ(2z) − 1, and a sigmoid costs a third of a tanh; a slice of the batch that fits the cache is worked on
at a time, in the same memory, and computed again on the way back instead of being kept.
"""

import math
from typing import Any

import torch
from torch import Tensor

# Axes: B batch, Q queries, K keys, H hidden.

SLICE = 1 << 18  # numbers of a slice: 1 MB in float32, within the second-level cache


class AdditiveScores(torch.autograd.Function):
    """query (B, Q, H), key (B, K, H), weight (H,) -> weight . tanh(query + key), (B, Q, K)."""

    @staticmethod
    def forward(context: Any, query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
        """Σ_h v_h tanh(z_h) = 2 Σ_h v_h σ(2 z_h) − Σ_h v_h."""
        context.save_for_backward(query, key, weight)
        scores = query.new_empty(len(query), query.size(1), key.size(1))
        for rows, squashed in slices(query, key):
            torch.matmul(squashed.view(-1, len(weight)), weight, out=scores[rows].view(-1))
        return scores.mul_(2).sub_(weight.sum())

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """d tanh(z) = 4 σ(2z) (1 − σ(2z)) dz."""
        query, key, weight = context.saved_tensors
        gradient = gradients[0].contiguous()  # (B, Q, K)
        to_query, to_key = torch.empty_like(query), torch.empty_like(key)
        to_weight = -gradient.sum().expand(len(weight)).clone()
        for rows, squashed in slices(query, key):
            part = gradient[rows]
            to_weight.addmv_(squashed.view(-1, len(weight)).mT, part.reshape(-1), alpha=2)
            slope = squashed.addcmul_(squashed, squashed, value=-1).mul_(part.unsqueeze(-1))  # σ(1 − σ) · gradient
            torch.sum(slope, dim=2, out=to_query[rows])
            torch.sum(slope, dim=1, out=to_key[rows])
        scale = 4 * weight
        return to_query.mul_(scale), to_key.mul_(scale), to_weight


def slices(query: Tensor, key: Tensor) -> Any:
    """Batch rows at a time: their place and σ(2 (query + key)) (b, Q, K, H), in memory used over and over."""
    size = query.size(1) * key.size(1) * query.size(2)
    rows = max(1, SLICE // max(1, size))
    twice_query, twice_key = (2 * query).unsqueeze(2), (2 * key).unsqueeze(1)
    memory = query.new_empty(rows, query.size(1), key.size(1), query.size(2))
    for first in range(0, len(query), rows):
        place = slice(first, min(first + rows, len(query)))
        squashed = memory[: place.stop - first]
        torch.add(twice_query[place], twice_key[place], out=squashed)
        yield place, squashed.sigmoid_()


def additive_scores(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """The same with any leading axes."""
    lead = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2])  # type: ignore[no-untyped-call]
    rows = math.prod(lead)  # 1 where there is no leading axis
    query, key = (part.expand(*lead, *part.shape[-2:]).reshape(rows, *part.shape[-2:]) for part in (query, key))
    query, key = (part.to(weight.dtype).contiguous() for part in (query, key))  # bfloat16 products may come in
    scores: Tensor = AdditiveScores.apply(query, key, weight)  # type: ignore[no-untyped-call]
    return scores.view(*lead, query.size(-2), key.size(-2))
