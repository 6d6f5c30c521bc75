"""A sparse extent by its pieces: the same score and distribution on groups of queries and keys, no full matrix."""

import torch
from torch import Tensor

from atento.attention.distributions.distributions import Distribution
from atento.attention.distributions.hard import Hard
from atento.attention.extents.extents import Extent, Piece, Prepared, View
from atento.attention.scores.product import Score

# Axes: L leading axes (batch, heads), Q queries, K keys, G groups of q queries and k keys.

WORTH_IT = 2  # how many times fewer scores make groups faster than the whole matrix, for each piece there is


def pieces_of(score: Score, extent: Extent, query: Tensor, prepared: Prepared) -> tuple[Piece, ...]:
    """The covering to use for all queries from position 0 on; empty where the whole matrix is better or needed."""
    queries, keys = query.size(-2), prepared.value.size(-2)
    if not extent.by_place or score.by_position:
        return ()
    pieces = extent.cover(queries, keys, causal=False)
    if WORTH_IT * len(pieces) * sum(piece.area for piece in pieces) > queries * keys:
        return ()
    if extent.counted and prepared.valid is not None and bool(prepared.valid.long().argmax(dim=-1).any()):
        return ()  # padding before the first real key moves each row's blocks differently
    return pieces


class Grouped:
    """The groups of one piece, and what they see."""

    def __init__(self, piece: Piece, query: Tensor, prepared: Prepared) -> None:
        self.piece, self.axes = piece, query.dim() - 2
        self.query = piece.queries.split(query, axes=self.axes)
        key, value = (piece.keys.split(part, axes=self.axes) for part in (prepared.key, prepared.value))
        self.prepared = Prepared(key, value, valid=None)
        self.view = self.look(prepared)

    def look(self, whole: Prepared) -> View:
        """What the groups see, less the padding and the places past either end."""
        query_at = self.piece.queries.split(numbers(self.piece.queries.length, self.query), axes=self.axes)
        key_at = self.piece.keys.split(numbers(whole.value.size(-2), self.query), axes=self.axes)
        at = {"query_at": query_at.squeeze(-1) - 1, "key_at": key_at.squeeze(-1) - 1}
        view: View = self.piece.extent(self.query, self.prepared.key, **at, valid=None)
        real = key_at > 0 if whole.valid is None else self.piece.keys.split(whole.valid.unsqueeze(-1), axes=self.axes)
        return view._replace(visible=view.visible & real.mT)

    def merge(self, grouped: Tensor) -> Tensor:
        """(G, L, q, D) -> (L, Q, D)."""
        return self.piece.queries.merge(grouped, axes=self.axes)

    def rows(self, grouped: Tensor) -> Tensor:
        """Something of each query and key, (G, L, q or 1, k) -> (L, Q, k)."""
        return self.merge(grouped.expand(*grouped.shape[:-2], self.piece.queries.size, self.piece.keys.size))


def sparse_context(
    score: Score, distribution: Distribution, pieces: tuple[Piece, ...], query: Tensor, prepared: Prepared
) -> Tensor:
    """Scores of all pieces side by side, one distribution over them, the contexts of all pieces added."""
    grouped = [Grouped(piece, query, prepared) for piece in pieces]
    scores = [group.view.tilt(score.compare(group.query, group.prepared.key)) for group in grouped]
    if len(pieces) == 1 and not isinstance(distribution, Hard):  # which records what it draws, row by row
        shares = [distribution(scores[0], grouped[0].view.visible)]
    else:
        rows = [group.rows(part) for group, part in zip(grouped, scores, strict=True)]  # (L, Q, k) for each piece
        visible = [group.rows(group.view.visible) for group in grouped]
        shared = distribution(torch.cat(rows, dim=-1), torch.cat(visible, dim=-1))
        parts = shared.split([piece.keys.size for piece in pieces], dim=-1)
        shares = [piece.queries.split(part, axes=query.dim() - 2) for piece, part in zip(pieces, parts, strict=True)]
    contexts = [
        group.merge(group.view.shade(share) @ group.prepared.value)
        for group, share in zip(grouped, shares, strict=True)
    ]
    return contexts[0] if len(contexts) == 1 else torch.stack(contexts).sum(dim=0)


def numbers(length: int, like: Tensor) -> Tensor:
    """1, 2, ... as items (T, 1), so that 0 means no item."""
    return torch.arange(1, length + 1, device=like.device).unsqueeze(-1)
