"""Pairs that do not fit in memory: they lie in files that are gone with the process, and so does where each begins.

Several processes of one machine share the reading: each writes the pieces of the file that it parsed into a shard of
its own, and all read all shards. An epoch goes through them pool by pool, in an order that a seed and the epoch decide.
"""

import os
import tempfile
import weakref
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from atento.data.examples.batches import POOL, Pair
from atento.errors import unwritable

BETWEEN = "\x1f"  # the source and the target of a row
BUFFER = 2**20
BORDER, BORDERS = Struct("=q"), Struct("=qq")  # where a row begins, and where the next one does
SAMPLE = 100_000  # pairs that vocabularies and simple baselines are learned from
DISTINCT = 10_000  # so few different targets are labels: the sample holds each of them
BLOCK = 8192  # neighbouring rows that stay together while blocks are shuffled
BLOCKS = 32  # whose rows are shuffled together


def bytes_of_pair(pair: Pair) -> bytes:
    """A row as a shard holds it."""
    return f"{pair[0]}{BETWEEN}{pair[1]}".encode("utf-8", "surrogatepass")


class Shard:
    """A file of pairs, and a file of where each ends."""

    def __init__(self, folder: Path, number: int, *, reading: bool = False) -> None:
        try:
            self.data, self.index = (
                (folder / f"{kind}-{number}").open("rb" if reading else "w+b", buffering=BUFFER)
                for kind in ("rows", "ends")
            )
        except OSError as error:
            raise unwritable(folder, error) from None
        self.closing = [weakref.finalize(self, file.close) for file in (self.data, self.index)]
        self.numbers = self.data.fileno(), self.index.fileno()
        self.rows, self.end = 0, 0
        if not reading:
            self.index.write(BORDER.pack(0))

    def extend(self, rows: Sequence[bytes]) -> None:
        """More rows, each as `bytes_of_pair` writes it."""
        ends = self.end + np.cumsum([len(row) for row in rows], dtype=np.int64)
        try:
            self.data.write(b"".join(rows))
            self.index.write(ends.tobytes())
        except OSError as error:
            raise unwritable(tempfile.gettempdir(), error) from None
        if rows:
            self.rows, self.end = self.rows + len(rows), int(ends[-1])

    def flush(self) -> None:
        """All of it on disk, for reading."""
        try:
            self.data.flush()
            self.index.flush()
        except OSError as error:
            raise unwritable(tempfile.gettempdir(), error) from None

    def borders(self, first: int, last: int) -> NDArray[np.int64]:
        """Where rows `first` to `last` begin, and where the row before `last` ends."""
        data = os.pread(self.numbers[1], BORDER.size * (last - first + 1), BORDER.size * first)
        return np.frombuffer(data, dtype=np.int64)

    def row(self, at: int) -> Pair:
        """A pair."""
        data, index = self.numbers
        start, end = BORDERS.unpack(os.pread(index, BORDERS.size, BORDER.size * at))
        row = os.pread(data, end - start, start)  # a map would stay resident
        source, _, target = row.decode("utf-8", "surrogatepass").partition(BETWEEN)
        return source, target


class StoredPiece(NamedTuple):
    """Rows of a piece of the file, which lie together in a shard."""

    shard: int
    first: int  # row of that shard
    rows: int


class StoredPairs(Sequence[Pair]):
    """A sequence like any other, in the order of the file, whoever parsed which piece of it."""

    def __init__(self, shards: Sequence[Shard] = (), pieces: Sequence[StoredPiece] = ()) -> None:
        self.shards, self.pieces = list(shards), list(pieces)
        if not shards:
            with tempfile.TemporaryDirectory() as folder:  # files that are open live on without a name
                self.shards = [Shard(Path(folder), 0)]
        self.first_of: dict[str, int] = {}  # target -> where it is first seen
        self.count_rows()

    def count_rows(self) -> None:
        """Count the rows before each piece."""
        self.starts = [0]
        for piece in self.pieces:
            self.starts.append(self.starts[-1] + piece.rows)

    def append(self, pair: Pair) -> None:
        """One more, where there is one shard."""
        if len(self.first_of) <= DISTINCT:
            self.first_of.setdefault(pair[1], self.shards[0].rows)
        self.shards[0].extend([bytes_of_pair(pair)])

    def close_writing(self) -> "StoredPairs":
        """All of it on disk, for reading."""
        self.shards[0].flush()
        self.pieces = [StoredPiece(0, 0, self.shards[0].rows)]
        self.count_rows()
        return self

    def __len__(self) -> int:
        return self.starts[-1]

    @overload
    def __getitem__(self, at: int) -> Pair: ...

    @overload
    def __getitem__(self, at: slice) -> list[Pair]: ...

    def __getitem__(self, at: int | slice) -> Pair | list[Pair]:
        if isinstance(at, slice):
            return [self[index] for index in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        number = bisect_right(self.starts, at % len(self)) - 1
        piece = self.pieces[number]
        return self.shards[piece.shard].row(piece.first + at % len(self) - self.starts[number])

    def bytes_of(self, first: int, last: int) -> NDArray[np.int64]:
        """How long the rows from `first` to before `last` are on disk."""
        found: list[NDArray[np.int64]] = []
        number = bisect_right(self.starts, first) - 1
        while first < last:
            piece, inside = self.pieces[number], first - self.starts[number]
            until = min(last, self.starts[number + 1])
            borders = self.shards[piece.shard].borders(piece.first + inside, piece.first + inside + until - first)
            found.append(np.diff(borders))
            first, number = until, number + 1
        return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)

    def sample(self, count: int = SAMPLE) -> list[Pair]:
        """So many pairs, spread evenly; where targets are labels, each of them."""
        chosen = set(range(0, len(self), max(1, -(-len(self) // count))))
        if len(self.first_of) <= DISTINCT:
            chosen.update(self.first_of.values())
        return [self[at] for at in sorted(chosen)]


@dataclass(frozen=True)
class SharedReading:
    """This process among those of one machine that read a large file together."""

    index: int
    count: int
    folder: Path  # of their shards, for all of them
    gather: Callable[[bytes], list[bytes]]  # what each of them gives, in order


SHARED: ContextVar[SharedReading | None] = ContextVar("SHARED", default=None)


@contextmanager
def shared_reading(shared: SharedReading | None) -> Iterator[None]:
    """Within it large files are read together; alone where there is nobody else."""
    token = SHARED.set(shared)
    try:
        yield
    finally:
        SHARED.reset(token)


class PooledSampler:
    """Batches of similar length over rows on disk; its state is (epoch, position), and its memory that of one pool.

    Blocks of neighbouring rows are shuffled, then the rows of a few blocks at a time; each row comes once an epoch.
    lengths: first row, row after the last -> about how many tokens each has.
    """

    def __init__(
        self, lengths: Callable[[int, int], NDArray[np.int32]], rows: int, *, batch_tokens: int, seed: int
    ) -> None:
        self.lengths, self.rows, self.batch_tokens, self.seed = lengths, rows, batch_tokens, seed

    def __len__(self) -> int:
        return self.rows

    def epoch(self, number: int) -> "PooledEpoch":
        """All batches of an epoch, in order."""
        return PooledEpoch(self, number)


class PooledEpoch(Sequence[Any]):
    """The batches of an epoch, made as they are asked for: arrays of row numbers."""

    def __init__(self, sampler: PooledSampler, number: int) -> None:
        self.sampler, self.number = sampler, number
        blocks = np.random.default_rng([sampler.seed, number]).permutation(-(-sampler.rows // BLOCK))
        self.pools = [np.sort(blocks[first : first + BLOCKS]) for first in range(0, len(blocks), BLOCKS)]
        counts = [len(self.pool(pool, counted=True)) for pool in range(len(self.pools))]
        self.ends = np.cumsum(counts).tolist() if counts else [0]

    def pool(self, pool: int, *, counted: bool = False) -> list[NDArray[np.int64]]:
        """The batches of a pool in their order; where they are only `counted`, in any order."""
        sampler, chance = self.sampler, np.random.default_rng([self.sampler.seed, self.number, pool])
        spans = [(block * BLOCK, min(sampler.rows, (block + 1) * BLOCK)) for block in self.pools[pool].tolist()]
        rows = np.concatenate([np.arange(first, last) for first, last in spans])
        lengths = np.concatenate([sampler.lengths(first, last) for first, last in spans])
        order = chance.permutation(len(rows))
        near = max(1, int(POOL * sampler.batch_tokens / max(1.0, float(lengths.mean()))))
        batches: list[NDArray[np.int64]] = []
        for first in range(0, len(order), near):
            some = order[first : first + near]
            some = some[np.argsort(lengths[some], kind="stable")]
            start, longest = 0, lengths[some].astype(np.int64)
            while start < len(some):
                padded = longest[start:] * np.arange(1, len(some) - start + 1)  # tokens of ever more of them, rising
                fits = max(1, int(np.searchsorted(padded, sampler.batch_tokens, side="right")))
                batches.append(rows[some[start : start + fits]])
                start += fits
        return batches if counted else [batches[place] for place in chance.permutation(len(batches))]

    def __len__(self) -> int:
        return int(self.ends[-1])

    def __getitem__(self, at: Any) -> Any:
        """A batch; of a slice to the end, its batches one by one."""
        if isinstance(at, slice):
            return self.since(at.start or 0)
        pool = bisect_right(self.ends, at)
        return self.pool(pool)[at - (self.ends[pool - 1] if pool else 0)]

    def since(self, position: int) -> Iterator[NDArray[np.int64]]:
        """The batches from a position on; pools before it are not made."""
        for pool in range(bisect_right(self.ends, position), len(self.pools)):
            before = self.ends[pool - 1] if pool else 0
            yield from self.pool(pool)[max(0, position - before) :]
