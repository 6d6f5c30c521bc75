"""Pairs that do not fit in memory: on disk, in a file that is gone when the process is."""

import os
import tempfile
import weakref
from array import array
from collections.abc import Sequence
from typing import overload

from atento.errors import MachineError

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
        data = os.pread(
            self.file.fileno(), self.ends[at + 1] - self.ends[at], self.ends[at]
        )  # a map would stay resident
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
