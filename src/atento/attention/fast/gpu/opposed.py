"""De-attention and the template: minus a Manhattan distance of every pair is stored, and read beside the products."""

import torch
from torch import Tensor

from atento.attention.fast.gpu import pairs
from atento.attention.fast.gpu.launch import Launch, cdiv, start
from atento.attention.fast.gpu.scores import TWICE_LOG2_E
from atento.attention.fast.gpu.summing import PairSums

# Axes: B batch, H heads, Q queries, K keys, D width of what is measured.

TILE = (16, 128)  # queries and keys of a tile of distances


class OpposedLaunch(Launch):
    """One call of de-attention, of so many queries that the distances of all pairs may be stored."""

    def prepare(self) -> None:
        """−β Σ |q − k| of every pair, (B, H, Q, K); blocks hold items in units of ½ ln 2."""
        query, key = self.call.far_query, self.call.far_key
        width = query.size(3) + -query.size(3) % 4  # type: ignore[union-attr]
        blocks = [self.in_blocks(items, block, width) for items, block in zip((query, key), TILE, strict=True)]  # type: ignore[arg-type]
        self.distances = torch.empty(self.leads, self.queries, self.keys, dtype=torch.float32, device=blocks[0].device)
        start(
            pairs.distances,
            (cdiv(self.keys, TILE[1]), cdiv(self.queries, TILE[0]), self.leads),
            (*blocks, -self.call.sharpness / TWICE_LOG2_E.value, self.distances, self.queries, self.keys, width),
            TILE,
            4,
            key=(self.key,),
        )

    def in_blocks(self, items: Tensor, block: int, width: int) -> Tensor:
        """Items (B, H, T, D) in blocks whose features stand one after the other, (B H, T / block, D, block)."""
        blocks = cdiv(items.size(2), block)
        raw = torch.empty(self.leads, blocks, width, block, dtype=torch.float32, device=items.device)
        start(
            pairs.prepare,
            (blocks, cdiv(width, 32), self.leads),
            (items, raw, raw, raw, *items.stride()[:3], self.sizes.heads, items.size(2), items.size(3), width),
            (block, 32, False),
            4,
            key=(items.dtype, items.shape, items.stride(), items.data_ptr() % 16),
        )
        return raw

    def backward(self, upstream: Tensor, centre: Tensor, statistic: Tensor) -> tuple[Tensor | None, ...]:
        """As the template's, with the gradients of what is measured last."""
        if self.distances is None:
            self.prepare()
        query, key = self.call.far_query, self.call.far_key
        sums = PairSums(query, key, self.call.sharpness, rows=self.queries, by_sign=True)  # type: ignore[arg-type]
        self.changes = sums.new_changes(zero=True)  # hidden pairs are not visited
        gradients = super().backward(upstream, centre, statistic)
        sums.add(self.changes, 0, key=(self.key,))
        self.changes = self.distances = None
        return *gradients[:-2], *sums.gradients()
