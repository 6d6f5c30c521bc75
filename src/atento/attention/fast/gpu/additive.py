"""Additive scores and the template: scores of some queries at a time are computed, stored, read by the template.

Scores that fit the budget are kept for the backward pass; longer ones are computed again, so that memory grows with the
number of keys and not with the square. Where all keys fit into one tile, the template computes the scores itself."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from atento.attention.fast.gpu import backward, pairs
from atento.attention.fast.gpu.arguments import Facts
from atento.attention.fast.gpu.launch import GROWN, Launch, cdiv, items_of, start
from atento.attention.fast.gpu.scores import grow
from atento.attention.fast.gpu.summing import PairSums, added

# Axes: B batch, H heads, Q queries, K keys, D width, V value_width; rows: queries whose scores are stored.

ON_CHIP = 64  # keys of a tile whose scores the template computes itself
SCRATCH = 1 << 26  # scores stored at a time
TILE, SMALL_TILE = (16, 128), (16, 16)  # queries and keys of a tile of scores
PROGRAMS = 1500  # of the kernel of scores, which keep a large GPU busy
OWN = backward.OWN.value


class AdditiveLaunch(Launch):
    """One call of additive attention."""

    def prepare(self) -> None:
        """Exponentials of queries and keys, in blocks that the kernel of the scores reads."""
        self.rows = min(self.queries, max(OWN, SCRATCH // max(1, self.leads * self.keys) // OWN * OWN))
        self.kept: Tensor | None = None
        self.grown: tuple[Tensor, ...] = ()
        in_one_walk = self.composition.distribution.kind in ("online", "pointwise")
        if self.keys <= ON_CHIP and in_one_walk and self.rows == self.queries:
            self.source = "additive"
            self.grow()
            return
        self.even_width = self.width + -self.width % 4
        many = self.leads * cdiv(self.queries, TILE[0]) * cdiv(self.keys, TILE[1]) >= PROGRAMS
        self.tile = TILE if many else SMALL_TILE
        self.large = torch.zeros(1, dtype=torch.int32, device=self.call.query.device)
        self.prepared = [
            self.prepared_items(items, block) for items, block in zip(self.call[:2], self.tile, strict=True)
        ]
        weight: Any = self.call.weight
        self.weight = torch.nn.functional.pad(weight, (0, self.even_width - self.width)) if self.width % 4 else weight

    def grow(self) -> None:
        """Exponentials of queries and keys, as the template reads them."""
        call, device = self.call, self.call.query.device
        blocks = cdiv(self.queries, GROWN[0]) + cdiv(self.keys, GROWN[0])
        parts = cdiv(self.width, GROWN[1])
        shapes = (self.queries, self.width), (self.keys, self.width), (blocks, parts)
        self.grown = tuple(torch.empty(self.leads, *shape, dtype=torch.float32, device=device) for shape in shapes)
        start(
            grow,
            (blocks, parts, self.leads),
            (*map(items_of, (call.query, call.key)), *self.grown, self.sizes),
            GROWN,
            4,
            key=(self.key,),
        )

    def prepared_items(self, items: Tensor, block: int) -> tuple[Tensor, Tensor]:
        """2x in units of ln 2 and e^(2x), (B H, T / block, D, block)."""
        blocks = cdiv(items.size(2), block)
        raw, grown = torch.empty(
            2, self.leads, blocks, self.even_width, block, dtype=torch.float32, device=items.device
        ).unbind()
        start(
            pairs.prepare,
            (blocks, cdiv(self.even_width, 32), self.leads),
            (items, raw, grown, self.large, *items.stride()[:3], self.sizes.heads, items.size(2), self.width,
             self.even_width),
            (block, 32, True),
            4,
            key=(items.dtype, items.shape, items.stride(), items.data_ptr() % 16),
        )  # fmt: skip
        return raw, grown

    def parts(self) -> Iterator[Facts]:
        """For some queries at a time, facts with their scores."""
        device = self.call.query.device
        for first in range(0, self.queries, self.rows):
            scores = self.kept
            if scores is None:
                scores = torch.empty(self.leads, self.rows, self.keys, dtype=torch.float32, device=device)
            if self.source == "stored" and self.kept is None:
                rows, columns = self.tile
                (raw_query, grown_query), (raw_key, grown_key) = self.prepared
                start(
                    pairs.additive_scores,
                    (cdiv(self.keys, columns), cdiv(self.rows, rows), self.leads),
                    (raw_query, raw_key, grown_query, grown_key, self.weight, self.large, scores, first, self.rows,
                     self.queries, self.keys, self.even_width),
                    self.tile,
                    4,
                    key=(self.key, first),
                )  # fmt: skip
            if self.rows == self.queries:
                self.kept, self.prepared = scores, []
            yield self.facts(scores, first, self.rows, self.grown)
            self.source, self.grown = "stored", ()  # the template has written them

    def backward(self, upstream: Tensor, centre: Tensor, statistic: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of query, key, value and weight: ds of some queries, then the sums of queries and keys over it."""
        call, device, blocks = self.call, self.call.query.device, self.backward_blocks()
        deltas = torch.empty(self.leads, self.queries, dtype=torch.float32, device=device)
        sums = PairSums(call.query, call.key, call.weight, rows=self.rows, by_sign=False)
        changes = sums.new_changes()
        weights = torch.empty(*call.query.shape[:2], self.rows, self.keys, dtype=call.value.dtype, device=device)
        grid = (cdiv(sums.stored, blocks.keys), cdiv(sums.blocks * OWN, blocks.queries), self.leads)
        totals = torch.empty(grid[0] * grid[1] * grid[2], dtype=torch.float32, device=device)
        given = tuple(map(items_of, (call.query, call.key, call.value, upstream)))
        to_value = total = None
        for facts in self.parts():
            first, part = facts.first_row, facts.end_row - facts.first_row
            start(
                pairs.score_gradient,
                grid,
                (*given, items_of(centre), statistic, deltas, changes, totals, weights, facts, self.sizes,
                 self.plugs(blocks.keys)),
                (blocks.queries, blocks.keys, self.bd, self.bv),
                blocks.warps,
                blocks.stages,
                key=(self.key, upstream.stride(), first),
            )  # fmt: skip
            to_value = added(to_value, weights[:, :, :part].mT @ upstream[:, :, first : first + part])
            total = added(total, totals.sum())
            sums.add(changes, first, key=(self.key,))
        to_query, to_key = sums.gradients()
        to_weight = (total - 2 * sums.slanted).to(call.weight.dtype)  # type: ignore[operator,union-attr]
        return to_query, to_key, to_value.to(call.value.dtype), to_weight, *(None,) * 6  # type: ignore[union-attr]
