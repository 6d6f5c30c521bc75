"""Batches of examples of similar length, in an order that depends on a seed and an epoch alone."""

import random
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from atento.data.text.vocabulary import SPECIAL_TOKENS, UNKNOWN

POOL = 32  # batches whose examples are sorted by length together: little padding, yet a random mixture


def pad(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Token lists -> tokens (B, T), zero-padded on the right, and valid (B, T)."""
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    valid = np.arange(lengths.max()) < lengths[:, np.newaxis]
    tokens = np.zeros(valid.shape, np.int64)
    tokens[valid] = np.fromiter(chain.from_iterable(rows), np.int64, lengths.sum())
    return torch.from_numpy(tokens), torch.from_numpy(valid)


def read_as_unknown(tokens: Tensor, share: float) -> Tensor:
    """Each token (B, T) that is no mark becomes unknown with that probability (Iyyer et al., 2015, sec. 3.1)."""
    dropped = (torch.rand(tokens.shape, device=tokens.device) < share) & (tokens >= len(SPECIAL_TOKENS))
    return tokens.masked_fill(dropped, UNKNOWN)


def batches_by_length(lengths: Sequence[int], indices: Sequence[int], *, batch_tokens: int) -> Iterator[list[int]]:
    """Cut indices, in their order, into batches of at most `batch_tokens` tokens with padding; a long one is alone."""
    batch: list[int] = []
    longest = 0
    for index in indices:
        longest = max(longest, lengths[index])
        if batch and longest * (len(batch) + 1) > batch_tokens:
            yield batch
            batch, longest = [], lengths[index]
        batch.append(index)
    if batch:
        yield batch


def like_lengths(lengths: Sequence[int], *, batch_tokens: int) -> Iterator[list[int]]:
    """All indices in such batches, the shortest first: those of like length are read together."""
    return batches_by_length(lengths, sorted(range(len(lengths)), key=lengths.__getitem__), batch_tokens=batch_tokens)


class Order(Protocol):
    """Which examples come together, epoch by epoch."""

    def __len__(self) -> int: ...

    def epoch(self, number: int) -> Sequence[Any]:
        """All batches of an epoch, in order; the same number gives the same batches."""


class Sampler:
    """The batches of each epoch. Its whole state is (epoch, position), so a resumed run sees the same order."""

    def __init__(self, lengths: Sequence[int], *, batch_tokens: int, seed: int) -> None:
        self.lengths, self.batch_tokens, self.seed = lengths, batch_tokens, seed

    def __len__(self) -> int:
        return len(self.lengths)

    def epoch(self, number: int) -> Sequence[list[int]]:
        """All batches of an epoch, in order: lists of example numbers."""
        chance = random.Random(f"{self.seed} {number}")
        indices = list(range(len(self.lengths)))
        chance.shuffle(indices)
        mean = max(1, sum(self.lengths) // max(1, len(self.lengths)))
        pool = max(1, POOL * self.batch_tokens // mean)
        batches: list[list[int]] = []
        for first in range(0, len(indices), pool):
            near = sorted(indices[first : first + pool], key=lambda index: self.lengths[index])
            batches.extend(batches_by_length(self.lengths, near, batch_tokens=self.batch_tokens))
        chance.shuffle(batches)
        return batches


Pair = tuple[str, str]


@runtime_checkable
class OnDisk(Protocol):
    """Pairs that are not in memory."""

    def sample(self) -> Sequence[Pair]:
        """So many of them that vocabularies and simple baselines can be learned."""


def sample_of(pairs: Sequence[Pair]) -> Sequence[Pair]:
    """All pairs, or a sample of those on disk."""
    return pairs.sample() if isinstance(pairs, OnDisk) else pairs
