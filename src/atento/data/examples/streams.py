"""One long row of tokens, learned window by window: windows are views, nothing is copied."""

import os
import random
import tempfile
import weakref
from collections.abc import Iterable, Sequence
from typing import overload

import torch
from torch import Tensor

BYTES = 4  # of a stored token


class StoredTokens:
    """Tokens that do not fit in memory, in a file that is gone when the process is."""

    def __init__(self, rows: Iterable[Tensor]) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as the tokens
        self.closing = weakref.finalize(self, self.file.close)
        self.count = 0
        for row in rows:
            self.file.write(row.to(torch.int32).numpy().tobytes())
            self.count += len(row)
        self.file.flush()

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, part: slice) -> Tensor:
        start, stop, _ = part.indices(self.count)
        data = os.pread(self.file.fileno(), BYTES * (stop - start), BYTES * start)  # a map would stay resident
        return torch.frombuffer(bytearray(data), dtype=torch.int32).long()


class Stream(Sequence[Tensor]):
    """`stream[start]` is a view of the window that begins there, and of the token after it."""

    def __init__(self, tokens: Tensor | Sequence[int] | StoredTokens, window: int) -> None:
        self.tokens = tokens if isinstance(tokens, StoredTokens) else torch.as_tensor(tokens, dtype=torch.long)
        self.window = min(window, len(self.tokens) - 1)

    def __len__(self) -> int:
        return len(self.tokens) - self.window

    @overload
    def __getitem__(self, start: int) -> Tensor: ...

    @overload
    def __getitem__(self, start: slice) -> list[Tensor]: ...

    def __getitem__(self, start: int | slice) -> Tensor | list[Tensor]:
        """(window + 1,); a slice gives as many windows side by side."""
        if isinstance(start, slice):
            return [self[place] for place in range(0, len(self), self.window)[start]]
        return self.tokens[start : start + self.window + 1]


class StreamSampler:
    """Where the windows of each batch begin. Its whole state is (epoch, position), as the `Sampler`'s.

    An epoch covers the stream once, from another beginning each time. Lanes: rows that follow each other through the
    epoch, so that a state can go on from batch to batch; else windows come in any order.
    """

    def __init__(self, stream: Stream, *, batch_tokens: int, seed: int, lanes: bool) -> None:
        self.length, self.window, self.seed, self.lanes = len(stream), stream.window, seed, lanes
        self.rows = max(1, min(batch_tokens, len(stream.tokens)) // stream.window)

    def __len__(self) -> int:
        return max(1, self.length // self.window)

    def epoch(self, number: int) -> list[list[int]]:
        """All batches of an epoch, in order."""
        chance = random.Random(f"{self.seed} {number}")
        first = chance.randrange(min(self.window, self.length))
        starts = list(range(first, self.length, self.window))
        if not self.lanes:
            chance.shuffle(starts)
            return [starts[place : place + self.rows] for place in range(0, len(starts), self.rows)]
        rows = min(self.rows, len(starts))
        steps = len(starts) // rows
        return [[starts[row * steps + step] for row in range(rows)] for step in range(steps)]
