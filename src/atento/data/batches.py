"""Batches: examples of like length together, in an order that a seed and an epoch decide alone."""

import random
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from atento.data.vocabulary import MARKS, UNKNOWN

POOL = 32  # batches whose examples are sorted by length together: little padding, yet a random mixture


def pad(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Token lists -> tokens (B, T), zero-padded on the right, and valid (B, T)."""
    longest = max(map(len, rows))
    tokens = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], dtype=torch.long)
    lengths = torch.tensor([len(row) for row in rows])
    return tokens, torch.arange(longest) < lengths.unsqueeze(1)


def read_as_unknown(tokens: Tensor, share: float) -> Tensor:
    """Each token (B, T) that is no mark becomes unknown with that probability (Iyyer et al., 2015, sec. 3.1)."""
    dropped = (torch.rand(tokens.shape, device=tokens.device) < share) & (tokens >= len(MARKS))
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

    def __init__(self, lengths: Sequence[int] | NDArray[np.int32], *, batch_tokens: int, seed: int) -> None:
        self.lengths, self.batch_tokens, self.seed = lengths, batch_tokens, seed

    def __len__(self) -> int:
        return len(self.lengths)

    def epoch(self, number: int) -> Sequence[Any]:
        """All batches of an epoch, in order: lists of example numbers, or arrays of them."""
        if isinstance(self.lengths, np.ndarray):
            return self.large_epoch(number, self.lengths)
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

    def large_epoch(self, number: int, lengths: NDArray[np.int32]) -> list[NDArray[np.int32]]:
        """The same of millions: their numbers stay in arrays, an eighth of the memory of lists."""
        chance = np.random.default_rng([self.seed, number])
        order = chance.permutation(len(lengths)).astype(np.int32)
        pool = max(1, int(POOL * self.batch_tokens / max(1.0, float(lengths.mean()))))
        batches: list[NDArray[np.int32]] = []
        for first in range(0, len(order), pool):
            near = order[first : first + pool]
            near = near[np.argsort(lengths[near], kind="stable")]
            start, longest = 0, lengths[near]
            while start < len(near):
                padded = longest[start:] * np.arange(1, len(near) - start + 1)  # tokens of ever more of them, rising
                fits = max(1, int(np.searchsorted(padded, self.batch_tokens, side="right")))
                batches.append(near[start : start + fits])
                start += fits
        return [batches[place] for place in chance.permutation(len(batches))]
