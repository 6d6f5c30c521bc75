"""Forecasts that need little or no learning: the last value, the last season, the drift, a linear autoregression.

A source is a window (T,) or (T, F) of the past, a target what came next, (H,) or (H, F): arrays or lists of numbers.

Linear autoregression: each next value as a weighted sum of the last ones, in closed form.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.baselines.fitted import require_fitted, require_pairs
from atento.errors import InputError

# Axes: N windows, T past, H horizon, F features.

Numbers = NDArray[np.float64]


class Forecaster(ABC):
    """Learns how far to look ahead; leaves say how a window goes on."""

    name: str
    summary: str

    def __init__(self) -> None:
        self.shape: tuple[int, ...] | None = None  # of one target: (H,) or (H, F)

    def fit(self, sources: Sequence[Any], targets: Sequence[Any]) -> Any:
        """Learn from windows and what came after each."""
        require_pairs(self.name, sources, targets)
        ends = [as_numbers(target, "a target") for target in targets]
        if len({end.shape for end in ends}) > 1 or not 1 <= ends[0].ndim <= 2 or not ends[0].size:
            raise InputError(
                f"{self.name} learns targets of one shape, (steps,) or (steps, features).",
                found=", ".join(sorted({str(end.shape) for end in ends})),
                fix="cut all targets to the same number of steps",
            )
        self.learn([self.window(source, ends[0].shape) for source in sources], np.stack([in_columns(e) for e in ends]))
        self.shape = ends[0].shape
        return self

    def predict(self, sources: Sequence[Any]) -> list[Numbers]:
        """The next steps after each window, shaped as the targets were."""
        require_fitted(self.name, self.shape)
        shape = self.shape or (0,)
        return [self.extend(self.window(source, shape), shape[0]).reshape(shape) for source in sources]

    def window(self, source: Any, shape: tuple[int, ...]) -> Numbers:
        """A source as (T, F), with as many features as the target."""
        window = in_columns(as_numbers(source, "a window"))
        features = 1 if len(shape) == 1 else shape[1]
        if window.ndim != 2 or window.shape[1] != features or not len(window):
            raise InputError(
                f"{self.name} reads windows of {features} feature{'s' * (features > 1)}, one step at least.",
                found=f"a window of shape {np.shape(source)}",
                fix="give it the features it forecasts, steps first",
            )
        return window

    def learn(self, windows: list[Numbers], ends: Numbers) -> None:  # noqa: B027 - most have nothing to learn
        """Learn from windows (T, F) and ends (N, H, F)."""

    @abstractmethod
    def extend(self, window: Numbers, steps: int) -> Numbers:
        """The next steps (H, F) of a window (T, F)."""


class LastValue(Forecaster):
    """ŷ_{t+h} = y_t."""

    name = "last-value"
    summary = "repeats the last value"

    def extend(self, window: Numbers, steps: int) -> Numbers:
        """The last row again and again."""
        return np.repeat(window[-1:], steps, axis=0)


class Seasonal(Forecaster):
    """ŷ_{t+h} = the value one season before, again and again: y_{t+h−period} where that is known."""

    name = "seasonal"

    def __init__(self, period: int) -> None:
        super().__init__()
        if period < 1:
            raise InputError(
                "a season has one step at least.", found=f"period={period}", fix="period=24 for hours of a day"
            )
        self.period = period
        self.summary = f"repeats the last {period} steps"

    def extend(self, window: Numbers, steps: int) -> Numbers:
        """The last season, as often as needed."""
        if len(window) < self.period:
            raise InputError(
                f"{self.name} needs a whole season in each window.",
                found=f"a window of {len(window)} steps, period={self.period}",
                fix=f"a period of at most {len(window)}, or longer windows",
            )
        return window[-self.period :][np.arange(steps) % self.period]


class Drift(Forecaster):
    """ŷ_{t+h} = y_t + h (y_t − y_1) / (t − 1): the line through the first and the last value, drawn on."""

    name = "drift"
    summary = "goes on along the line from the first to the last value"

    def extend(self, window: Numbers, steps: int) -> Numbers:
        """The line; one value alone has no slope."""
        slope = (window[-1] - window[0]) / max(len(window) - 1, 1)
        return window[-1] + slope * np.arange(1, steps + 1)[:, None]


class LastStep(Forecaster):
    """ŷ_{t+h} = y_t + h (y_t − y_{t−1}): on at the speed of the last step."""

    name = "last-step"
    summary = "goes on as the last step did"

    def extend(self, window: Numbers, steps: int) -> Numbers:
        """The last step again and again; one value alone made none."""
        return window[-1] + (window[-1] - window[-2:][0]) * np.arange(1, steps + 1)[:, None]


def as_numbers(given: Any, what: str) -> Numbers:
    """An array of finite numbers."""
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} is made of numbers.", found=repr(given)[:80], fix="fill gaps first") from None
    if not np.isfinite(numbers).all():
        raise InputError(f"{what} has a gap or an infinite number.", found=repr(given)[:80], fix="fill gaps first")
    return numbers


def in_columns(numbers: Numbers) -> Numbers:
    """(T,) -> (T, 1); anything else as it is."""
    return numbers[:, None] if numbers.ndim == 1 else numbers


# Axes: N windows, T past, P order, H horizon, F features.

ROWS = 1024  # windows multiplied at a time
RIDGE = 1e-10  # enough for columns that depend on each other, too little to blur a smooth series


class Moments(NamedTuple):
    """What a regression needs to know of rows, however many there are; sums, so that parts add up."""

    rows: int
    past: Numbers  # (P,) Σ x
    future: Numbers  # (H,) Σ y
    gram: Numbers  # (P, P) Σ x xᵀ
    crossed: Numbers  # (P, H) Σ x yᵀ
    squares: float  # Σ y²

    def joined(self, other: "Moments") -> "Moments":
        """Of both together."""
        return Moments(
            self.rows + other.rows,
            self.past + other.past,
            self.future + other.future,
            self.gram + other.gram,
            self.crossed + other.crossed,
            self.squares + other.squares,
        )

    def solve(self, *ridges: float, centred: bool) -> list[tuple[Numbers, Numbers]]:
        """Weights (P, H) and bias (H,) for each ridge: (X̃ᵀX̃ + α I) w = X̃ᵀỹ, α a share of the mean variance.

        X̃ᵀX̃ is taken apart once, V D Vᵀ; then w = V (D + α)⁻¹ Vᵀ X̃ᵀỹ, directions without variance left out.
        """
        count = max(1, self.rows)
        past, future = (self.past / count, self.future / count) if centred else (0 * self.past, 0 * self.future)
        gram, crossed = self.gram - count * np.outer(past, past), self.crossed - count * np.outer(past, future)
        sizes, directions = np.linalg.eigh(gram)  # (P,), (P, P)
        turned = directions.T @ crossed
        found = []
        for ridge in ridges:
            raised = sizes + ridge * gram.trace() / len(gram)
            kept = raised > np.finfo(np.float64).eps * len(gram) * max(raised[-1], 0.0)
            weights = directions @ (turned * np.where(kept, 1 / np.where(kept, raised, 1.0), 0.0)[:, None])
            found.append((weights, future - past @ weights))
        return found

    def error(self, weights: Numbers, bias: Numbers) -> float:
        """The mean of (y − wᵀx − b)² over these rows."""
        said = np.einsum("ph,pq,qh->", weights, self.gram, weights, optimize=True)
        said += 2 * float(self.past @ weights @ bias) + self.rows * float(bias @ bias)
        both = float((weights * self.crossed).sum() + self.future @ bias)
        return max(0.0, (self.squares - 2 * both + float(said)) / max(1, self.rows * len(bias)))


def moments_of(
    rows: Iterable[tuple[Numbers, Numbers]], *, past: Numbers | float = 0, future: Numbers | float = 0
) -> Moments:
    """In one pass over the rows, from a middle on; far from their middle, numbers lose digits."""
    found: Moments | None = None
    for x, y in rows:
        x, y = x - past, y - future
        more = Moments(len(x), x.sum(axis=0), y.sum(axis=0), x.T @ x, x.T @ y, float(np.square(y).sum()))
        found = more if found is None else found.joined(more)
    return found if found is not None else Moments(0, *(np.zeros(0),) * 2, *(np.zeros((0, 0)),) * 2, 0.0)


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
        past, future = np.zeros(self.steps_read), np.zeros(ends.shape[1])
        if not self.anchored:
            means = [(x.sum(axis=0), y.sum(axis=0)) for x, y in self.rows(windows, ends)]
            past, future = (np.sum(part, axis=0) / (len(windows) * ends.shape[2]) for part in zip(*means, strict=True))
        found = moments_of(self.rows(windows, ends), past=past, future=future)
        ((self.weights, _),) = found.solve(self.ridge, centred=False)
        self.bias = future - past @ self.weights

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
