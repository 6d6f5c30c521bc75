"""Forecasts that need little or no learning: the last value, the last season, the drift, a linear autoregression.

A source is a window (T,) or (T, F) of the past, a target what came next, (H,) or (H, F): arrays or lists of numbers.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

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
