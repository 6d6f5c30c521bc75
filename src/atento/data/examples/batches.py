"""Batches of examples of similar length, in an order that depends on a seed and an epoch alone.

Pairs that do not fit in memory are kept in a temporary file, which is gone when the process ends.
"""

import os
import random
import tempfile
import weakref
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from atento.data.text.vocabulary import SPECIAL_TOKENS, UNKNOWN
from atento.errors import MachineError

POOL = 32  # batches whose examples are sorted by length together: little padding, yet a random mixture


def pad(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Token lists -> tokens (B, T), zero-padded on the right, and valid (B, T)."""
    longest = max(map(len, rows))
    tokens = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], dtype=torch.long)
    lengths = torch.tensor([len(row) for row in rows])
    return tokens, torch.arange(longest) < lengths.unsqueeze(1)


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


Pair = tuple[str, str]
BETWEEN = b"\x1f"
BUFFER = 2**20
SAMPLE = 100_000  # pairs that vocabularies and simple baselines are learned from
DISTINCT = 10_000  # so few different targets are labels: the sample holds each of them


class StoredPairs(Sequence[Pair]):
    """A sequence like any other; only where each pair begins is in memory."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile(buffering=BUFFER)  # noqa: SIM115  it lives as long as the sequence
        self.closing = weakref.finalize(self, self.file.close)
        self.ends = array("q", [0])
        self.first_of: dict[str, int] = {}  # target -> where it is first seen

    def append(self, pair: Pair) -> None:
        """One more."""
        if len(self.first_of) <= DISTINCT:
            self.first_of.setdefault(pair[1], len(self))
        data = BETWEEN.join(part.encode("utf-8", "surrogatepass") for part in pair)
        try:
            self.file.write(data)
        except OSError as error:
            raise MachineError(
                "the data could not be kept on disk.",
                found=str(error),
                fix=f"free some space in {tempfile.gettempdir()}, or set TMPDIR to another folder",
            ) from None
        self.ends.append(self.ends[-1] + len(data))

    def close_writing(self) -> "StoredPairs":
        """All of it on disk, for reading."""
        self.file.flush()
        return self

    def __len__(self) -> int:
        return len(self.ends) - 1

    @overload
    def __getitem__(self, at: int) -> Pair: ...

    @overload
    def __getitem__(self, at: slice) -> list[Pair]: ...

    def __getitem__(self, at: int | slice) -> Pair | list[Pair]:
        if isinstance(at, slice):
            return [self[index] for index in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        at %= len(self)
        data = os.pread(self.file.fileno(), self.bytes_of(at), self.ends[at])  # a map would stay resident
        source, _, target = data.decode("utf-8", "surrogatepass").partition("\x1f")
        return source, target

    def bytes_of(self, at: int) -> int:
        """How long a pair is on disk."""
        return self.ends[at + 1] - self.ends[at]

    def sample(self, count: int = SAMPLE) -> list[Pair]:
        """So many pairs, spread evenly; where targets are labels, each of them."""
        chosen = set(range(0, len(self), max(1, -(-len(self) // count))))
        if len(self.first_of) <= DISTINCT:
            chosen.update(self.first_of.values())
        return [self[at] for at in sorted(chosen)]


def sample_of(pairs: Sequence[Pair]) -> Sequence[Pair]:
    """All pairs, or a sample of those on disk."""
    return pairs.sample() if isinstance(pairs, StoredPairs) else pairs
