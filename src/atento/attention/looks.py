"""Looks: what a layer asked of which keys, so that any of its weights can be recomputed beside the fast path."""

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from atento.attention.attention import Attention
from atento.attention.heads import MultiHead
from atento.attention.prepared import Prepared
from atento.attention.summary import BLOCK, TOP, Summary, summarise
from atento.errors import InputError

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
