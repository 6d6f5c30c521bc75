"""Naive forecasts of a window: the last value, the last season, the drift and the last step, continued.

A source is a window (T,) or (T, F) of the past, a target the values after it, (H,) or (H, F): arrays or lists.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.baselines.validation import require_at_least_one, require_fitted, require_pairs
from atento.errors import InputError

# Axes: T past, H horizon, F features.

Numbers = NDArray[np.float64]


class WindowBaseline(ABC):
    """A forecast from one window alone; `fit` only takes the horizon from the targets."""

    name: str
    summary: str

    def __init__(self) -> None:
        self.shape: tuple[int, ...] | None = None  # of one target: (H,) or (H, F)

    def fit(self, sources: Sequence[Any], targets: Sequence[Any]) -> Any:
        """Take the shape of the targets; windows are only validated."""
        require_pairs(self.name, sources, targets)
        ends = [as_numbers(target, "a target") for target in targets]
        if len({end.shape for end in ends}) > 1 or not 1 <= ends[0].ndim <= 2 or not ends[0].size:
            raise InputError(
                f"{self.name} learns targets of one shape, (steps,) or (steps, features).",
                found=", ".join(sorted({str(end.shape) for end in ends})),
                fix="cut all targets to the same number of steps",
            )
        for source in sources:
            self.window(source, ends[0].shape)
        self.shape = ends[0].shape
        return self

    def predict(self, sources: Sequence[Any]) -> list[Numbers]:
        """The next steps after each window, shaped as the targets."""
        require_fitted(self.name, self.shape)
        shape = self.shape or (0,)
        return [self.forecast(self.window(source, shape), shape[0]).reshape(shape) for source in sources]

    def window(self, source: Any, shape: tuple[int, ...]) -> Numbers:
        """A source as (T, F), with as many features as the target."""
        window = as_numbers(source, "a window")
        window = window[:, None] if window.ndim == 1 else window
        features = 1 if len(shape) == 1 else shape[1]
        if window.ndim != 2 or window.shape[1] != features or not len(window):
            raise InputError(
                f"{self.name} needs windows of {features} feature{'s' * (features > 1)} and at least one step.",
                found=f"a window of shape {np.shape(source)}",
                fix="give the features that are forecast, steps first",
            )
        return window

    @abstractmethod
    def forecast(self, window: Numbers, steps: int) -> Numbers:
        """The next steps (H, F) of a window (T, F)."""


class LastValue(WindowBaseline):
    """ŷ_{t+h} = y_t."""

    name = "last-value"
    summary = "repeats the last value"

    def forecast(self, window: Numbers, steps: int) -> Numbers:
        """The last row, repeated."""
        return np.repeat(window[-1:], steps, axis=0)


class Seasonal(WindowBaseline):
    """ŷ_{t+h} = y_{t+h−period}; beyond one period the last season is repeated."""

    name = "seasonal"

    def __init__(self, period: int) -> None:
        super().__init__()
        require_at_least_one(period=period)
        self.period = period
        self.summary = f"repeats the last {period} steps"

    def forecast(self, window: Numbers, steps: int) -> Numbers:
        """The last season, repeated."""
        if len(window) < self.period:
            raise InputError(
                f"{self.name} needs a whole season in each window.",
                found=f"a window of {len(window)} steps, period={self.period}",
                fix=f"a period of at most {len(window)}, or longer windows",
            )
        return window[-self.period :][np.arange(steps) % self.period]


class Drift(WindowBaseline):
    """ŷ_{t+h} = y_t + h (y_t − y_1) / (t − 1): the line through the first and the last value, extrapolated."""

    name = "drift"
    summary = "extrapolates the line from the first to the last value"

    def forecast(self, window: Numbers, steps: int) -> Numbers:
        """The line; the slope of a single value is 0."""
        slope = (window[-1] - window[0]) / max(len(window) - 1, 1)
        return window[-1] + slope * np.arange(1, steps + 1)[:, None]


class LastStep(WindowBaseline):
    """ŷ_{t+h} = y_t + h (y_t − y_{t−1}): the speed of the last step, kept."""

    name = "last-step"
    summary = "continues at the speed of the last step"

    def forecast(self, window: Numbers, steps: int) -> Numbers:
        """The last step, repeated; that of a single value is 0."""
        return window[-1] + (window[-1] - window[-2:][0]) * np.arange(1, steps + 1)[:, None]


def as_numbers(given: Any, what: str) -> Numbers:
    """An array of finite numbers."""
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be numbers.", found=repr(given)[:80], fix="fill gaps first") from None
    if not np.isfinite(numbers).all():
        raise InputError(f"{what} has a gap or an infinite number.", found=repr(given)[:80], fix="fill gaps first")
    return numbers
