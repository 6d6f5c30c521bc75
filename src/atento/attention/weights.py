"""Looks: what a layer asked of which keys, so that any of its weights can be recomputed beside the fast path.

Attention of long inputs in a few numbers a row: how wide, how far, how sparse. The whole matrix is never kept.
"""

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from atento.attention.attention import Attention
from atento.attention.extents.extents import Prepared
from atento.attention.heads import MultiHead
from atento.attention.requirements import require_positive
from atento.errors import InputError

# Axes: B batch, H heads (where there are heads), Q queries, K keys.

BLOCK = 128  # rows at once
TOP = 8


class Summary(NamedTuple):
    """One number for each row of weights (B, H, Q). Shares are |w_i| / Σ |w_j|; a row without weight gives zeros."""

    entropy: Tensor  # −Σ s log s in nats: 0 for one key, log n for n keys alike
    distance: Tensor  # Σ s |key − query|, in positions
    zeros: Tensor  # which part of the real keys gets exactly nothing, because of the extent or of the distribution
    outside: Tensor  # the share of all keys but the `top` heaviest


def summarise(
    attention: Attention | MultiHead,
    query: Tensor,
    prepared: Prepared,
    *,
    rows: slice = slice(None),
    heads: slice | None = None,
    block: int = BLOCK,
    top: int = TOP,
) -> Summary:
    """The asked rows and heads of queries from position 0 on, `block` rows at a time; heads None: all there are."""
    require_positive("summarise", block=block, top=top)
    share = attention.share
    if heads is not None and isinstance(attention, MultiHead):
        share = partial(attention.share, heads=heads)
    at = torch.arange(query.size(-2), device=query.device)[rows]
    with torch.no_grad():  # a graph would keep what the blocks let go
        parts = [
            measure(share(query[..., some, :], prepared, query_at=some), prepared.valid, query_at=some, top=top)
            for some in (at[first : first + block] for first in range(0, max(len(at), 1), block))
        ]
    return Summary(*(torch.cat(column, dim=-1) for column in zip(*parts, strict=True)))


def measure(weights: Tensor, valid: Tensor | None, *, query_at: Tensor, top: int = TOP) -> Summary:
    """The summary of a block of weights (..., Q, K) whose rows stand at positions (Q,)."""
    sizes = weights.to(torch.promote_types(weights.dtype, torch.float32)).abs()
    total = sizes.sum(dim=-1, keepdim=True)
    shares = sizes / total.masked_fill(total == 0, 1.0)
    key_at = torch.arange(weights.size(-1), device=weights.device)
    far = (key_at - query_at.unsqueeze(-1)).abs().to(shares.dtype)  # (Q, K)
    real = torch.ones_like(key_at, dtype=torch.bool) if valid is None else valid.unsqueeze(-2)
    heaviest = shares.topk(min(top, shares.size(-1)), dim=-1).values
    return Summary(
        -torch.xlogy(shares, shares).sum(dim=-1),
        (shares * far).sum(dim=-1),
        ((sizes == 0) & real).sum(dim=-1) / real.sum(dim=-1).clamp(min=1),
        (shares.sum(dim=-1) - heaviest.sum(dim=-1)).clamp(min=0.0),
    )


Found = TypeVar("Found")

# Axes: B batch, L layers, H heads, Q queries, K keys, D size. An attention without heads counts as one head.


class Look(NamedTuple):
    """One attention of a pass: its queries from position 0 on, and the keys they were put to."""

    attention: Attention | MultiHead
    query: Tensor  # (B, Q, D)
    prepared: Prepared

    def weights(self, *, heads: slice = slice(None), rows: slice = slice(None)) -> Tensor:
        """The asked heads and rows, and no others: (B, H, Q, K)."""
        at = torch.arange(self.query.size(-2), device=self.query.device)[rows]
        query = self.query[..., rows, :]
        if isinstance(self.attention, MultiHead):
            return self.attention.share(query, self.prepared, query_at=at, heads=heads)
        return self.attention.share(query, self.prepared, query_at=at).unsqueeze(1)[:, heads]

    def summary(
        self, *, heads: slice = slice(None), rows: slice = slice(None), block: int = BLOCK, top: int = TOP
    ) -> Summary:
        """The asked heads and rows in a few numbers each: (B, H, Q)."""
        found = summarise(self.attention, self.query, self.prepared, rows=rows, heads=heads, block=block, top=top)
        if isinstance(self.attention, MultiHead):
            return found
        return Summary(*(part.unsqueeze(1)[:, heads] for part in found))


def weights_of(looks: Iterable[Look], *, heads: slice = slice(None), rows: slice = slice(None)) -> Tensor:
    """The weights of several layers: (B, L, H, Q, K)."""
    return torch.stack(require_some([look.weights(heads=heads, rows=rows) for look in looks]), dim=1)


def summary_of(
    looks: Iterable[Look],
    *,
    heads: slice = slice(None),
    rows: slice = slice(None),
    block: int = BLOCK,
    top: int = TOP,
) -> Summary:
    """The summary of several layers: (B, L, H, Q). Neither a matrix of weights nor a graph is kept."""
    with torch.no_grad():
        found = require_some([look.summary(heads=heads, rows=rows, block=block, top=top) for look in looks])
    return Summary(*(torch.stack(column, dim=1) for column in zip(*found, strict=True)))


def require_some(found: list[Found]) -> list[Found]:
    """At least one layer must have been asked for."""
    if not found:
        raise InputError("layers names no layer.", found="no layers", fix="e.g. layers=slice(0, 1) for the first")
    return found
