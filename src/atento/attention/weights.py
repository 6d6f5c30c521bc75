"""Attention weights after the fact: recorded calls, from which any weights can be recomputed beside the fast path.

For long inputs a summary gives a few numbers per query (entropy, distance, sparsity) without the whole matrix."""

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from atento.attention.attention import Attention
from atento.attention.extents.extents import PreparedKeys
from atento.attention.heads import MultiHead
from atento.attention.requirements import require_positive
from atento.errors import InputError

# Axes: B batch, L layers, H heads, Q queries, K keys, D size. An attention without heads counts as one head.

BLOCK = 128  # rows of weights computed at a time
TOP = 8

Item = TypeVar("Item")


class WeightSummary(NamedTuple):
    """Statistics (B, H, Q) of each row of weights, with p_i = |w_i| / Σ |w_j|; zeros for a row of zeros."""

    entropy: Tensor  # −Σ p log p in nats: 0 for one key, log n for n equal weights
    distance: Tensor  # Σ p |key − query|, in positions
    zeros: Tensor  # the fraction of real keys with weight exactly 0, by the extent or by the distribution
    outside: Tensor  # the probability outside the `top` largest weights


class AttentionCall(NamedTuple):
    """One call of an attention in a forward pass: its queries from position 0 on, and its prepared keys."""

    attention: Attention | MultiHead
    query: Tensor  # (B, Q, D)
    prepared: PreparedKeys

    def weights(self, *, heads: slice = slice(None), rows: slice = slice(None)) -> Tensor:
        """The weights (B, H, Q, K) of the chosen heads and rows only."""
        return self.weights_at(torch.arange(self.query.size(-2), device=self.query.device)[rows], heads)

    def weights_at(self, at: Tensor, heads: slice) -> Tensor:
        """The weights (B, H, Q, K) of the queries at these positions (Q,)."""
        query = self.query[..., at, :]
        if isinstance(self.attention, MultiHead):
            return self.attention.weights_from(query, self.prepared, query_at=at, heads=heads)
        return self.attention.weights_from(query, self.prepared, query_at=at).unsqueeze(1)[:, heads]

    def summary(
        self, *, heads: slice = slice(None), rows: slice = slice(None), block: int = BLOCK, top: int = TOP
    ) -> WeightSummary:
        """The summary (B, H, Q) of the chosen heads and rows, `block` rows at a time, without a gradient."""
        require_positive("summary", block=block, top=top)
        valid = self.prepared.valid
        if valid is not None and not isinstance(self.attention, MultiHead):
            valid = valid.unsqueeze(1)  # (B, H, K)
        at = torch.arange(self.query.size(-2), device=self.query.device)[rows]
        with torch.no_grad():  # a graph would keep the blocks
            parts = [
                summarize_weights(self.weights_at(some, heads), valid, query_at=some, top=top)
                for some in (at[first : first + block] for first in range(0, max(len(at), 1), block))
            ]
        return WeightSummary(*(torch.cat(column, dim=-1) for column in zip(*parts, strict=True)))


def weights_of(calls: Iterable[AttentionCall], *, heads: slice = slice(None), rows: slice = slice(None)) -> Tensor:
    """The weights of several layers: (B, L, H, Q, K)."""
    return torch.stack(require_layers([call.weights(heads=heads, rows=rows) for call in calls]), dim=1)


def summary_of(
    calls: Iterable[AttentionCall],
    *,
    heads: slice = slice(None),
    rows: slice = slice(None),
    block: int = BLOCK,
    top: int = TOP,
) -> WeightSummary:
    """The summary of several layers: (B, L, H, Q). Neither a matrix of weights nor a gradient graph is kept."""
    found = require_layers([call.summary(heads=heads, rows=rows, block=block, top=top) for call in calls])
    return WeightSummary(*(torch.stack(column, dim=1) for column in zip(*found, strict=True)))


def summarize_weights(weights: Tensor, valid: Tensor | None, *, query_at: Tensor, top: int = TOP) -> WeightSummary:
    """The summary of weights (..., Q, K) of queries at positions (Q,); valid (..., K)."""
    sizes = weights.to(torch.promote_types(weights.dtype, torch.float32)).abs()
    total = sizes.sum(dim=-1, keepdim=True)
    probs = sizes / total.masked_fill(total == 0, 1.0)
    key_at = torch.arange(weights.size(-1), device=weights.device)
    distance = (key_at - query_at.unsqueeze(-1)).abs().to(probs.dtype)  # (Q, K)
    real = torch.ones_like(key_at, dtype=torch.bool) if valid is None else valid.unsqueeze(-2)
    largest = probs.topk(min(top, probs.size(-1)), dim=-1).values
    return WeightSummary(
        entropy=-torch.xlogy(probs, probs).sum(dim=-1),
        distance=(probs * distance).sum(dim=-1),
        zeros=((sizes == 0) & real).sum(dim=-1) / real.sum(dim=-1).clamp(min=1),
        outside=(probs.sum(dim=-1) - largest.sum(dim=-1)).clamp(min=0.0),
    )


def require_layers(found: list[Item]) -> list[Item]:
    """At least one layer must have been chosen."""
    if not found:
        raise InputError("layers names no layer.", found="no layers", fix="e.g. layers=slice(0, 1) for the first")
    return found
