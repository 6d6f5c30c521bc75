"""Gradients that are sums over all pairs of query and key, from stored gradients of scores, by `pair_gradient`."""

from typing import Any

import torch
from torch import Tensor

from atento.attention.fast.gpu import pairs
from atento.attention.fast.gpu.arguments import CallSizes
from atento.attention.fast.gpu.backward import AT_ONCE, OWN
from atento.attention.fast.gpu.launch import cdiv, items_of, power_of_two, start

# Axes: B batch, H heads, Q queries, K keys, D width.

PARTIAL = 1 << 26  # numbers stored at a time of gradients of keys, a sum for each block of queries
PROGRAMS = 250  # which keep a large GPU busy
FEATURES = 128  # of a block
REGISTERS: int | None = None  # of a thread at most


class PairSums:
    """Sums over pairs for queries (B, H, Q, D) and keys (B, H, K, D); gradients of scores come part by part."""

    def __init__(self, query: Tensor, key: Tensor, weight: Any, *, rows: int, by_sign: bool) -> None:
        self.query, self.key, self.weight, self.by_sign = query, key, weight, by_sign
        batch, heads, self.queries, self.width = query.shape
        self.keys, self.leads, self.rows = key.size(2), batch * heads, rows
        self.sizes = CallSizes(heads, self.queries, self.keys, self.width, self.width)
        self.blocks, self.stored = cdiv(rows, OWN.value), cdiv(self.keys, AT_ONCE.value) * AT_ONCE.value
        self.splits = self.count_splits()
        whole = rows == self.queries and self.splits == 1  # nothing is added up: it is stored as it is returned
        kind = query.dtype if whole else torch.float32
        self.to_query = torch.empty(self.splits, *query.shape, dtype=kind, device=query.device)
        self.to_key: Tensor | None = None
        self.slanted: Tensor | None = None

    def new_changes(self, *, zero: bool = False) -> Tensor:
        """Where gradients of the scores of `rows` queries are stored: (B H, Q / OWN, K, OWN)."""
        make = torch.zeros if zero else torch.empty
        return make(self.leads, self.blocks, self.stored, OWN.value, dtype=torch.float32, device=self.query.device)

    def count_splits(self) -> int:
        """Into how many parts the keys are cut, so that there are enough programs."""
        programs = self.blocks * cdiv(self.width, FEATURES) * self.leads
        return next(size for size in (1, 2, 4, 8) if size == 8 or programs * size >= PROGRAMS or self.keys < 64 * size)

    def add(self, changes: Tensor, first: int, *, key: tuple[Any, ...]) -> None:
        """The sums of the queries from `first` on, from gradients of their scores; calls of one `key` are alike."""
        blocks = cdiv(min(self.rows, self.queries - first), OWN.value)
        some = max(1, PARTIAL // self.key.numel())  # blocks of queries at a time
        features = min(FEATURES, max(32, power_of_two(self.width)))
        short = torch.bfloat16 if self.query.element_size() == 2 else torch.float32  # no sum is too large for it
        for begin in range(0, blocks, some):
            number = min(some, blocks - begin)
            of_keys = torch.empty(number, *self.key.shape, dtype=short, device=self.key.device)
            slanted = of_keys.new_empty(self.splits * self.leads * number, self.width, dtype=torch.float32)
            start(
                pairs.pair_gradient,
                (number, cdiv(self.width, features), self.leads * self.splits),
                (items_of(self.query), items_of(self.key), self.weight, changes, self.to_query, of_keys, slanted, first,
                 begin, self.blocks, self.stored, self.sizes, 0),
                (features, self.splits, self.by_sign),
                features // 32,
                key=(key, first, begin),
                registers=REGISTERS,
            )  # fmt: skip
            self.to_key = added(self.to_key, of_keys[0] if number == 1 else of_keys.sum(dim=0, dtype=torch.float32))
            if not self.by_sign:
                self.slanted = added(self.slanted, slanted.sum(dim=0))

    def gradients(self) -> tuple[Tensor, Tensor]:
        """Gradients of queries and keys."""
        to_query = self.to_query[0] if self.splits == 1 else self.to_query.sum(dim=0)
        return to_query.to(self.query.dtype), self.to_key.to(self.key.dtype)  # type: ignore[union-attr]


def added(total: Tensor | None, part: Tensor) -> Tensor:
    """A sum whose first term is the part itself."""
    return part if total is None else total + part
