"""Windows of series: their look-back and horizon, and the sequences of training windows and forecast origins.

Windows are views of the series; nothing is copied until a batch is made. Series of a dynamical system, in which each
row nearly determines the next, are read one row at a time.
"""

from collections.abc import Sequence
from typing import NamedTuple, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from atento.baselines.dynamics import Polynomial
from atento.data.records import counted
from atento.data.series import Frequency, Past, Series, SeriesSet
from atento.data.series.series import Numbers
from atento.models.forecaster import SeriesBatch
from atento.spec import DataRecipe, TrainRecipe
from atento.tasks.task import EvaluationExample, Indices

# Axes: N windows, B windows of a batch, T time, L past, H horizon, W = L + H, C channels, K covariates.

UNEXPLAINED = 0.02  # share of the variance of the change, in the mean over channels: a dynamical system leaves less
ROWS = 4000  # examined, the first
LEAST_ROWS = 200
MOST_CHANNELS = 20
LEARNED = 0.8  # of these rows; the model is tested on the rest
SEASONS = 14  # read where there is enough: two weeks of days, a fortnight of hours of a day
LONGEST = 512  # steps read by default; more cost more than they improve
SHARE = 5  # of a short series at most a fifth is forecast
UNSEASONED = 24  # steps forecast where no season is likely, of a series twenty times as long
LEAST = 40  # steps read where no season is likely
PARTS = 8  # of the training rows at most an eighth is read, or a season


def is_dynamical_system(series: Sequence[Series]) -> bool:
    """Whether in every series a quadratic polynomial of a row predicts almost all of the change to the next; only the
    first half of each is examined, which is in the training part.
    """
    return bool(series) and all(unexplained(one.values[: len(one.values) // 2]) < UNEXPLAINED for one in series)


def unexplained(values: Numbers) -> float:
    """The share of the change's variance that is left on rows (T, C) that were not learned from."""
    values = np.asarray(values[:ROWS], dtype=np.float64)
    if len(values) < LEAST_ROWS or values.shape[1] > MOST_CHANNELS:
        return 1.0
    border = int(LEARNED * len(values))
    std = values[:border].std(axis=0)
    changes = np.diff(values[border:], axis=0)
    variance = changes.var(axis=0)
    if not (std > 0).all() or not (variance > 0).all():
        return 1.0
    model = Polynomial(degree=2, delays=1, penalty=1e-8).fit([values[:border]])
    predicted = model.rollout(values[border:-1, None], 1)[:, 0] - values[border:-1]
    return float((np.square(predicted - changes).mean(axis=0) / variance).mean())


class WindowSpec(NamedTuple):
    """The look-back, the horizon and the columns that all windows share."""

    look_back: int  # steps that are read
    horizon: int  # steps that are forecast
    channels: tuple[str, ...]  # what is read and forecast
    covariates: tuple[str, ...]  # the future covariates
    step: Frequency
    season: int  # steps; 1: none is likely
    keys: tuple[tuple[str, str], ...] = ()  # what data.* must say for another file to be read alike

    @property
    def window(self) -> int:
        """Rows of a window, what is forecast included."""
        return self.look_back + self.horizon


Pairs = Sequence[tuple[Series, WindowSpec]]  # (the training part of a series, the frame that all share)


def frame_of(found: SeriesSet, recipe: DataRecipe) -> tuple[WindowSpec, tuple[str, ...]]:
    """The frame a recipe asks for; what it leaves open follows from the season and from how long the series are."""
    rows = typical_length(found)
    flow = recipe.look_back in (0, 1) and not found.covariates and is_dynamical_system(found.series)
    season = 1 if flow else found.season_length  # what comes round in a flow comes at no fixed time
    horizon = recipe.horizon or guess_horizon(rows, season)
    look_back = recipe.look_back or (1 if flow else guess_look_back(rows, horizon, season))
    notes = []
    seasons = f"a season of {season}" if season > 1 else "no season"
    if not recipe.horizon:
        notes.append(f"horizon: {counted(horizon, 'step')} of {found.frequency} ({seasons}; data.horizon= changes it)")
    if flow and not recipe.look_back:
        notes.append("look-back: 1 step (each row almost decides the next, as in a flow; data.look_back= changes it)")
    elif not recipe.look_back:
        notes.append(
            f"look-back: {counted(look_back, 'step')} ({seasons}, {rows:,} rows per series; data.look_back= changes it)"
        )
    frame = WindowSpec(look_back, horizon, found.channels, found.covariates, found.frequency, season, found.keys)
    return frame, tuple(notes)


def typical_length(found: SeriesSet) -> int:
    """Rows of the shortest series; where that is much shorter than the others, what nine in ten series reach."""
    lengths = [len(series) for series in found.series] or [0]
    shortest = min(lengths)
    return shortest if 3 * shortest >= np.median(lengths) else int(np.quantile(lengths, 0.1))


def guess_horizon(rows: int, season: int) -> int:
    """A season, of a short series less; without a season a few steps."""
    return max(1, min(season, rows // SHARE) if season > 1 else min(UNSEASONED, rows // (4 * SHARE)))


def guess_look_back(rows: int, horizon: int, season: int) -> int:
    """Many seasons where there are rows for them, a whole one where there can be."""
    left = max(1, rows - 3 * horizon)  # the test, the validation and one window's target need a horizon each
    wanted = max(SEASONS * season if season > 1 else LEAST, 2 * horizon)
    allowed = max(min(LONGEST, left // PARTS), season if season < left else 1)
    return max(1, min(wanted, allowed, left))


class EncodedSeries(NamedTuple):
    """The training part of a series on its scale."""

    values: Tensor  # (T, C)
    known: Tensor  # (T, K)


Question = EvaluationExample[Past, Numbers]  # a past, and the values (H, C) that follow


class Origins(Sequence[Question]):
    """The forecast origins at every row of a part of each series; their pasts and targets are views of the series.

    Where nothing is forecast, the target is the past itself, to be reconstructed.
    """

    def __init__(
        self, series: Sequence[Series], frame: WindowSpec, spans: Sequence[tuple[int, int]], chosen: range | None = None
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
        past = past_of(series, self.frame, origin)
        future = series.values[origin : origin + self.frame.horizon]
        return EvaluationExample(past, (future if self.frame.horizon else past.values,))


def past_of(series: Series, frame: WindowSpec, origin: int) -> Past:
    """The past and the covariates of a forecast that begins at row `origin`."""
    rows = slice(origin - frame.look_back, origin)
    known = series.future_covariates[rows.start : origin + frame.horizon]
    return Past(series.name, series.timestamp(origin - 1), series.values[rows], known, origin=series.start + origin)


class TrainingWindows(Sequence[SeriesBatch]):
    """Every window of every series, over one flat tensor; a batch is gathered by the rows its windows begin at."""

    def __init__(self, parts: Sequence[EncodedSeries], frame: WindowSpec, *, steps: int) -> None:
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

    def rows(self, indices: Indices) -> Tensor:
        """The first rows (B,) of windows in the flat tensor."""
        numbers = np.asarray(indices, dtype=np.int64)
        if len(self.ends) > 1:
            numbers = numbers + self.shifts[np.searchsorted(self.ends, numbers, side="right")]
        return torch.from_numpy(np.ascontiguousarray(numbers))

    def gather(self, indices: Indices) -> SeriesBatch:
        """The windows of these numbers."""
        rows = self.rows(indices)
        windows = self.values.index_select(0, rows)  # (B, W, C)
        known = self.known.index_select(0, rows)
        return SeriesBatch(windows[:, : self.look_back], known, windows[:, self.look_back :])

    @overload
    def __getitem__(self, at: int) -> SeriesBatch: ...

    @overload
    def __getitem__(self, at: slice) -> list[SeriesBatch]: ...

    def __getitem__(self, at: int | slice) -> SeriesBatch | list[SeriesBatch]:
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

    def epoch(self, number: int) -> list[NDArray[np.integer]]:
        """All batches of an epoch; the last may be smaller."""
        order: NDArray[np.integer] = np.arange(self.count, dtype=np.int32 if self.count < 2**31 else np.int64)
        np.random.default_rng([self.seed, number]).shuffle(order)
        return [order[first : first + self.batch] for first in range(0, self.count, self.batch)]


def shuffled(windows: TrainingWindows, recipe: TrainRecipe) -> ShuffledWindows:
    """In a random order, as many at a time as `train.batch_tokens` rows of pasts hold."""
    size = max(1, recipe.batch_tokens // windows.look_back)
    return ShuffledWindows(len(windows), batch=size, seed=recipe.seed)
