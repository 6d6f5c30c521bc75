"""Sparse attention: the same score and distribution on groups of queries and keys, without the full matrix."""

import torch
from torch import Tensor

from atento.attention.distributions.distributions import Distribution
from atento.attention.distributions.hard import Hard
from atento.attention.extents.extents import Extent, GroupPair, PreparedKeys, View, area_of
from atento.attention.scores.product import Score
from atento.layers.masking import is_known

# Axes: L leading axes (batch, heads), Q queries, K keys, G groups of q queries and k keys.

WORTH_IT = 2  # how many times fewer scores make groups faster than the full matrix, for each pair of groups


def sparse_cover(score: Score, extent: Extent, query: Tensor, prepared: PreparedKeys) -> tuple[GroupPair, ...]:
    """The cover of all queries from position 0 on; empty if the full matrix is faster or needed."""
    queries, keys = query.size(-2), prepared.value.size(-2)
    if not extent.position_only or score.by_position or not is_known(queries, keys):
        return ()
    pairs = extent.cover(queries, keys, causal=False)
    if WORTH_IT * len(pairs) * area_of(pairs) > queries * keys:
        return ()
    if extent.counts_real and prepared.valid is not None and may_start_with_padding(prepared.valid):
        return ()  # padding before the first real key moves each row's blocks differently
    return pairs


def may_start_with_padding(valid: Tensor) -> bool:
    """Whether the first real key of a row may not be its first key; unknown while a call is recorded."""
    return torch.compiler.is_compiling() or bool(valid.long().argmax(dim=-1).any())


class Grouped:
    """Queries, keys and view of one pair, cut into groups."""

    def __init__(self, pair: GroupPair, query: Tensor, prepared: PreparedKeys) -> None:
        self.pair, self.axes = pair, query.dim() - 2
        self.query = pair.queries.split(query, axes=self.axes)
        key, value = (pair.keys.split(part, axes=self.axes) for part in (prepared.key, prepared.value))
        self.prepared = PreparedKeys(key, value, valid=None)
        self.view = self.view_groups(prepared)

    def view_groups(self, whole: PreparedKeys) -> View:
        """The view of the groups, with padding and positions past either end hidden."""
        query_at = self.pair.queries.split(item_numbers(self.pair.queries.length, self.query), axes=self.axes)
        key_at = self.pair.keys.split(item_numbers(whole.value.size(-2), self.query), axes=self.axes)
        at = {"query_at": query_at.squeeze(-1) - 1, "key_at": key_at.squeeze(-1) - 1}
        view: View = self.pair.extent(self.query, self.prepared.key, **at, valid=None)
        real = key_at > 0 if whole.valid is None else self.pair.keys.split(whole.valid.unsqueeze(-1), axes=self.axes)
        return view._replace(visible=view.visible & real.mT)

    def merge(self, grouped: Tensor) -> Tensor:
        """(G, L, q, D) -> (L, Q, D)."""
        return self.pair.queries.merge(grouped, axes=self.axes)

    def rows(self, grouped: Tensor) -> Tensor:
        """A value for each query and key, (G, L, q or 1, k) -> (L, Q, k)."""
        return self.merge(grouped.expand(*grouped.shape[:-2], self.pair.queries.size, self.pair.keys.size))


def sparse_context(
    score: Score, distribution: Distribution, pairs: tuple[GroupPair, ...], query: Tensor, prepared: PreparedKeys
) -> Tensor:
    """The context by a cover: one distribution over the scores of all pairs, and the sum of their contexts."""
    grouped = [Grouped(pair, query, prepared) for pair in pairs]
    scores = [group.view.add_bias(score.compare(group.query, group.prepared.key)) for group in grouped]
    if len(pairs) == 1 and not isinstance(distribution, Hard):  # Hard records its draws row by row
        weights = [distribution(scores[0], grouped[0].view.visible)]
    else:
        rows = [group.rows(part) for group, part in zip(grouped, scores, strict=True)]  # (L, Q, k) for each pair
        visible = [group.rows(group.view.visible) for group in grouped]
        joint = distribution(torch.cat(rows, dim=-1), torch.cat(visible, dim=-1))
        parts = joint.split([pair.keys.size for pair in pairs], dim=-1)
        weights = [pair.queries.split(part, axes=query.dim() - 2) for pair, part in zip(pairs, parts, strict=True)]
    contexts = [
        group.merge(group.view.scale(part).to(group.prepared.value.dtype) @ group.prepared.value)
        for group, part in zip(grouped, weights, strict=True)
    ]
    return contexts[0] if len(contexts) == 1 else torch.stack(contexts).sum(dim=0)


def item_numbers(length: int, like: Tensor) -> Tensor:
    """1, 2, ... as items (T, 1); the 0 of padding means no item."""
    return torch.arange(1, length + 1, device=like.device).unsqueeze(-1)
