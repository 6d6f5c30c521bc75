"""Linear autoregression: each next value as a weighted sum of the last ones, in closed form."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from atento.baselines.series import Forecaster, Numbers
from atento.errors import InputError

# Axes: N windows, T past, P order, H horizon, F features.

ROWS = 1024  # windows multiplied at a time
RIDGE = 1e-10  # enough for columns that depend on each other, too little to blur a smooth series

Rows = Callable[[], Iterator[tuple[Numbers, Numbers]]]  # pasts (N, P) and futures (N, H), some at a time, from the start


class Moments(NamedTuple):
    """What a regression needs to know of rows, however many there are."""

    past: Numbers  # (P,) the mean; zeros where nothing is centred
    future: Numbers  # (H,)
    gram: Numbers  # (P, P) X̃ᵀX̃
    crossed: Numbers  # (P, H) X̃ᵀỹ

    def solve(self, ridge: float) -> tuple[Numbers, Numbers]:
        """Weights (P, H) and bias (H,): (X̃ᵀX̃ + α I) w = X̃ᵀỹ, α a share of the mean variance."""
        gram = self.gram + ridge * self.gram.trace() / len(self.gram) * np.eye(len(self.gram))
        weights = np.asarray(np.linalg.lstsq(gram, self.crossed, rcond=None)[0], dtype=np.float64)
        return weights, self.future - self.past @ weights


def moments_of(rows: Rows, *, centred: bool) -> Moments:
    """In two passes over the rows: their means, then their products."""
    past, future = (np.zeros(part.shape[1]) for part in next(rows()))
    if centred:
        count = 0
        for some, ends in rows():
            past, future, count = past + some.sum(axis=0), future + ends.sum(axis=0), count + len(some)
        past, future = past / count, future / count
    gram, crossed = np.zeros((len(past), len(past))), np.zeros((len(past), len(future)))
    for some, ends in rows():
        moved = some - past
        gram += moved.T @ moved
        crossed += moved.T @ (ends - future)
    return Moments(past, future, gram, crossed)


class Autoregression(Forecaster):
    """ŷ_{t+h} = b_h + Σ_i w_{h,i} y_{t−i}, i < order, by ridge regression; all features share the weights.

    Anchored, a window is read from its last value, without b: what is added to a series is added to its forecast, and
    weights of zero repeat the last value. `ridge` is a share of the windows' mean variance.
    """

    def __init__(self, *, order: int = 0, ridge: float = RIDGE, anchored: bool = False) -> None:
        super().__init__()
        if order < 0 or not ridge >= 0:
            raise InputError(
                "order and ridge cannot be negative.",
                found=f"order={order}, ridge={ridge}",
                fix=f"order=0 reads the whole window; ridge={RIDGE}",
            )
        self.order, self.ridge, self.anchored = order, ridge, anchored  # order 0: the shortest window's length
        self.name = "autoregression-anchored" if anchored else "autoregression"
        self.summary = "a weighted sum of the past" + (", from the last value on" if anchored else "")
        self.steps_read = order
        self.weights: Numbers = np.zeros((0, 0))  # (P, H)
        self.bias: Numbers = np.zeros(0)  # (H,)

    def learn(self, windows: Sequence[Numbers], ends: Numbers) -> None:
        """In closed form."""
        self.steps_read = self.order or min(map(len, windows))
        found = moments_of(partial(self.rows, windows, ends), centred=not self.anchored)
        self.weights, self.bias = found.solve(self.ridge)

    def rows(self, windows: Sequence[Numbers], ends: Numbers) -> Iterator[tuple[Numbers, Numbers]]:
        """Some pasts (N·F, P) and futures (N·F, H) at a time; every feature of a window is a row."""
        for first in range(0, len(windows), ROWS):
            past = np.stack([self.recent(window) for window in windows[first : first + ROWS]])  # (N, P, F)
            future = ends[first : first + ROWS]
            level = past[:, -1:] if self.anchored else 0.0
            yield by_feature(past - level), by_feature(future - level)

    def extend(self, window: Numbers, steps: int) -> Numbers:
        """All steps at once from the last values."""
        past = self.recent(window)
        level = past[-1:] if self.anchored else 0.0
        return (past - level).T.dot(self.weights).T + self.bias[:, None] + level

    def recent(self, window: Numbers) -> Numbers:
        """The last values (P, F) of a window."""
        if len(window) < self.steps_read:
            raise InputError(
                f"{self.name} reads {self.steps_read} values.",
                found=f"a window of {len(window)}",
                fix=f"give windows of {self.steps_read} at least, or a lower order",
            )
        return window[-self.steps_read :]


def by_feature(values: Numbers) -> Numbers:
    """(N, T, F) -> (N·F, T)."""
    return values.swapaxes(1, 2).reshape(-1, values.shape[1])
