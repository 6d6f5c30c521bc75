"""Batches: examples of like length together, in an order that a seed and an epoch decide alone."""

import random
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

POOL = 32  # batches whose examples are sorted by length together: little padding, yet a random mixture


def pad(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Token lists -> tokens (B, T), zero-padded on the right, and valid (B, T)."""
    longest = max(map(len, rows))
    tokens = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], dtype=torch.long)
    lengths = torch.tensor([len(row) for row in rows])
    return tokens, torch.arange(longest) < lengths.unsqueeze(1)


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


class Sampler:
    """The batches of each epoch. Its whole state is (epoch, position), so a resumed run sees the same order."""

    def __init__(self, lengths: Sequence[int], *, batch_tokens: int, seed: int) -> None:
        self.lengths, self.batch_tokens, self.seed = lengths, batch_tokens, seed

    def epoch(self, number: int) -> list[list[int]]:
        """All batches of an epoch, in order."""
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
