"""Additive scores and the template: scores of some queries at a time are computed, stored, read by the template.

Scores that fit the budget are kept for the backward pass; longer ones are computed again, so that memory grows with the
number of keys and not with the square."""

from collections.abc import Iterator
from typing import Any

import torch
import triton
from torch import Tensor

from atento.attention.fast.gpu import pairs
from atento.attention.fast.gpu.arguments import Facts
from atento.attention.fast.gpu.launch import Launch, items_of, power_of_two, start
from atento.attention.fast.gpu.scores import TWICE_LOG2_E

# Axes: B batch, H heads, Q queries, K keys, D width, V value_width; rows: queries whose scores are stored.

SCRATCH = 1 << 26  # scores stored at a time
TILE, SMALL_TILE = (16, 128), (16, 16)  # queries and keys of a tile of scores
PROGRAMS = 1500  # of a kernel, which keep a large GPU busy
OWN = pairs.OWN.value


class AdditiveLaunch(Launch):
    """One call of additive attention."""

    def prepare(self) -> None:
        """Exponentials of queries and keys, in blocks that the kernel of the scores reads."""
        self.even_width = self.width + -self.width % 4
        many = self.leads * triton.cdiv(self.queries, TILE[0]) * triton.cdiv(self.keys, TILE[1]) >= PROGRAMS
        self.tile = TILE if many else SMALL_TILE
        self.large = torch.zeros(1, dtype=torch.int32, device=self.call.query.device)
        self.prepared = [
            self.prepared_items(items, block) for items, block in zip(self.call[:2], self.tile, strict=True)
        ]
        weight: Any = self.call.weight
        self.weight = torch.nn.functional.pad(weight, (0, self.even_width - self.width)) if self.width % 4 else weight
        most = max(OWN, SCRATCH // max(1, self.leads * self.keys) // OWN * OWN)
        self.rows = min(self.queries, most)
        self.kept: Tensor | None = None

    def prepared_items(self, items: Tensor, block: int) -> tuple[Tensor, Tensor]:
        """2x in units of ln 2 and e^(2x), (B H, T / block, D, block)."""
        blocks = triton.cdiv(items.size(2), block)
        raw, grown = torch.empty(
            2, self.leads, blocks, self.even_width, block, dtype=torch.float32, device=items.device
        ).unbind()
        start(
            pairs.prepare,
            (blocks, triton.cdiv(self.even_width, 32), self.leads),
            (items, raw, grown, self.large, *items.stride()[:3], self.sizes.heads, items.size(2), self.width,
             self.even_width),
            (block, 32),
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
                rows, columns = self.tile
                (raw_query, grown_query), (raw_key, grown_key) = self.prepared
                start(
                    pairs.additive_scores,
                    (triton.cdiv(self.keys, columns), triton.cdiv(self.rows, rows), self.leads),
                    (raw_query, raw_key, grown_query, grown_key, self.weight, self.large, scores, first, self.rows,
                     self.queries, self.keys, self.even_width),
                    self.tile,
                    4,
                    key=(self.key, first),
                )  # fmt: skip
            if self.rows == self.queries:
                self.kept = scores
            yield self.facts(scores, first, self.rows)

    def backward(self, upstream: Tensor, centre: Tensor, statistic: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of query, key, value and weight: ds of some queries, then the sums of queries and keys over it."""
        call, device, blocks = self.call, self.call.query.device, self.backward_blocks()
        items = [(part.float() * TWICE_LOG2_E.value).contiguous() for part in call[:2]]
        deltas = torch.empty(self.leads, self.queries, dtype=torch.float32, device=device)
        of_queries, of_keys = triton.cdiv(self.rows, OWN), triton.cdiv(self.keys, OWN)
        by_query = torch.empty(
            self.leads, of_queries, self.keys + self.keys % 2, OWN, dtype=torch.float32, device=device
        )
        by_key = torch.empty(self.leads, of_keys, self.rows + self.rows % 2, OWN, dtype=torch.float32, device=device)
        weights = torch.empty(*call.query.shape[:2], self.rows, self.keys, dtype=call.value.dtype, device=device)
        to_query, to_key = torch.empty_like(items[0]), torch.zeros_like(items[1])
        to_value, to_weight = torch.zeros_like(call.value, dtype=torch.float32), torch.zeros_like(items[0][0, 0, 0])
        given = tuple(map(items_of, (call.query, call.key, call.value, upstream)))
        for facts in self.parts():
            first, part = facts.first_row, facts.end_row - facts.first_row
            start(
                pairs.score_gradient,
                (triton.cdiv(of_keys * OWN, blocks.keys), triton.cdiv(of_queries * OWN, blocks.queries), self.leads),
                (*given, items_of(centre), statistic, deltas, by_query, by_key, weights, facts, self.sizes,
                 self.plugs(blocks.keys)),
                (blocks.queries, blocks.keys, self.bd, self.bv),
                blocks.warps,
                blocks.stages,
                key=(self.key, upstream.stride(), first),
            )  # fmt: skip
            of_part, slanted = self.sum_pairs(
                items, by_query, triton.cdiv(part, OWN), first, 0, self.keys, self.keys, with_weight=True
            )
            to_query[:, :, first : first + part] = of_part[:, :, first : first + part]
            to_weight += by_query.sum() - 2 * slanted.sum(dim=(0, 1))
            to_key += self.sum_pairs(items[::-1], by_key, of_keys, 0, first, part, self.rows)[0]
            to_value += weights[:, :, :part].mT @ upstream[:, :, first : first + part]
        factor = 4 * call.weight.float()  # type: ignore[union-attr]
        gradients = to_query.mul_(factor), to_key.mul_(factor), to_value, to_weight
        return *(part.to(like.dtype) for part, like in zip(gradients, call, strict=False)), None, None, None  # type: ignore[union-attr]

    def sum_pairs(
        self, items: list[Tensor], changes: Tensor, blocks: int, first_own: int, first_other: int,
        number: int, stored: int, *, with_weight: bool = False,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """Σ ds r (1 − r) of the first items over the second, (B, H, T, D), and Σ ds r in parts (B H, blocks, D)."""
        own, other = items
        features = min(64, power_of_two(self.width))
        programs = blocks * triton.cdiv(self.width, features) * self.leads
        splits = next(size for size in (1, 2, 4, 8) if size == 8 or programs * size >= PROGRAMS or number < 64 * size)
        slanted = torch.empty(self.leads * splits, blocks, self.width, dtype=torch.float32, device=own.device)
        to_own = torch.empty(splits, *own.shape, dtype=torch.float32, device=own.device)
        start(
            pairs.pair_gradient,
            (blocks, triton.cdiv(self.width, features), self.leads * splits),
            (own, other, other.exp2(), changes, to_own, slanted, self.large, own.size(2), first_own, other.size(2),
             first_other, number, stored, self.width),
            (with_weight, features, splits),
            4,
            key=(self.key, first_own, first_other, number, stored),
        )  # fmt: skip
        return to_own[0] if splits == 1 else to_own.sum(dim=0), slanted
