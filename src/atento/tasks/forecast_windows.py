"""Windows of series: views of their numbers, found by arithmetic, never copied until a batch is made."""

from collections.abc import Sequence
from typing import Any, NamedTuple, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from atento.data.series import Past, Series
from atento.models.forecaster import SeriesBatch
from atento.spec import TrainRecipe
from atento.tasks.forecast_frame import Frame
from atento.tasks.task import Question

# Axes: N windows, B windows of a batch, T time, L past, H horizon, W = L + H, C channels, K covariates.

Indices = NDArray[np.int64]


class EncodedSeries(NamedTuple):
    """The training part of a series on its scale."""

    values: Tensor  # (T, C)
    known: Tensor  # (T, K)


def rows_of(example: EncodedSeries) -> int:
    """How many rows it has."""
    return len(example.values)


class Origins(Sequence[Question]):
    """A forecast to make at every row of a part of each series: its past and what came are views of the series."""

    def __init__(
        self, series: Sequence[Series], frame: Frame, spans: Sequence[tuple[int, int]], chosen: range | None = None
    ) -> None:
        self.series, self.frame, self.spans = series, frame, spans  # spans: the first row forecast, and the last + 1
        self.ends = np.cumsum([max(0, last - first) for first, last in spans], dtype=np.int64)
        self.chosen = range(int(self.ends[-1]) if len(self.ends) else 0) if chosen is None else chosen

    def __len__(self) -> int:
        return len(self.chosen)

    @overload
    def __getitem__(self, at: int) -> Question: ...

    @overload
    def __getitem__(self, at: slice) -> "Origins": ...

    def __getitem__(self, at: int | slice) -> "Question | Origins":
        """One question, or a part of them."""
        if isinstance(at, slice):
            return Origins(self.series, self.frame, self.spans, self.chosen[at])
        number = self.chosen[at]
        place = int(np.searchsorted(self.ends, number, side="right"))
        series, origin = self.series[place], self.spans[place][1] - int(self.ends[place]) + number
        future = series.values[origin : origin + self.frame.horizon]
        return Question(past_of(series, self.frame, origin), (future,))


def past_of(series: Series, frame: Frame, origin: int) -> Past:
    """What is known where the forecast of row `origin` begins."""
    first = origin - frame.look_back
    known = series.known[first : origin + frame.horizon]
    return Past(series.name, series.when(origin - 1), series.values[first:origin], known, origin=series.start + origin)


class TrainingWindows(Sequence[SeriesBatch]):
    """Every window of every series, over one flat tensor; a batch is gathered by the rows its windows begin at."""

    def __init__(self, parts: Sequence[EncodedSeries], frame: Frame, *, steps: int) -> None:
        self.look_back, self.steps = frame.look_back, steps
        rows = self.look_back + steps
        counts = np.array([max(0, len(part.values) - rows + 1) for part in parts], dtype=np.int64)
        starts = np.cumsum([0, *(len(part.values) for part in parts)], dtype=np.int64)[:-1]
        self.ends = np.cumsum(counts)
        self.shifts = starts - (self.ends - counts)  # from the number of a window to its first row
        self.values = views([part.values for part in parts], rows)  # (N, W, C)
        self.known = views([part.known for part in parts], rows)  # (N, W, K)

    def __len__(self) -> int:
        return int(self.ends[-1])

    def rows(self, indices: Any) -> Tensor:
        """The first rows (B,) of windows in the flat tensor."""
        numbers = np.asarray(indices, dtype=np.int64)
        if len(self.ends) > 1:
            numbers = numbers + self.shifts[np.searchsorted(self.ends, numbers, side="right")]
        return torch.from_numpy(np.ascontiguousarray(numbers))

    def gather(self, indices: Any) -> SeriesBatch:
        """The windows of these numbers."""
        rows = self.rows(indices)
        windows = self.values.index_select(0, rows)  # (B, W, C)
        known = self.known.index_select(0, rows)
        return SeriesBatch(windows[:, : self.look_back], known, windows[:, self.look_back :])

    def __getitem__(self, at: Any) -> Any:
        """One window as it lies in the series, or a list of several."""
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        (row,) = self.rows([at]).tolist()
        values = self.values[row]
        return SeriesBatch(values[: self.look_back], self.known[row], values[self.look_back :])


def views(parts: Sequence[Tensor], rows: int) -> Tensor:
    """All windows of so many rows over flat parts (T, F): (N, W, F), a view that shares its memory."""
    flat = parts[0].contiguous() if len(parts) == 1 else torch.cat(list(parts))
    count, width = max(0, len(flat) - rows + 1), flat.size(1)
    return flat.as_strided((count, rows, width), (width, width, 1))


def stack_windows(windows: Sequence[SeriesBatch]) -> SeriesBatch:
    """Windows one by one -> a batch."""
    return SeriesBatch(*(torch.stack(part) for part in zip(*windows, strict=True)))


class ShuffledWindows:
    """The windows of an epoch in an order that a seed and its number decide; numbers stay in arrays."""

    def __init__(self, count: int, *, batch: int, seed: int) -> None:
        self.count, self.batch, self.seed = count, batch, seed

    def __len__(self) -> int:
        return self.count

    def epoch(self, number: int) -> "Slices":
        """All batches of an epoch."""
        order = np.arange(self.count, dtype=np.int32 if self.count < 2**31 else np.int64)
        np.random.default_rng([self.seed, number]).shuffle(order)
        return Slices(order, self.batch)


def shuffled(windows: TrainingWindows, recipe: TrainRecipe) -> ShuffledWindows:
    """In a random order, as many at a time as `train.batch_tokens` rows of pasts hold."""
    size = max(1, recipe.batch_tokens // windows.look_back)
    return ShuffledWindows(len(windows), batch=size, seed=recipe.seed)


class Slices(Sequence[NDArray[Any]]):
    """An array cut into pieces of one size; the last may be shorter."""

    def __init__(self, order: NDArray[Any], size: int) -> None:
        self.order, self.size = order, size

    def __len__(self) -> int:
        return -(-len(self.order) // self.size)

    def __getitem__(self, at: Any) -> Any:
        """One piece, or those of a slice without steps."""
        if isinstance(at, slice):
            first, last, _ = at.indices(len(self))
            return Slices(self.order[first * self.size : last * self.size], self.size)
        at = range(len(self))[at]
        return self.order[at * self.size : (at + 1) * self.size]
