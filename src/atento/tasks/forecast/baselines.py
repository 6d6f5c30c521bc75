"""Baseline forecasters: naive, seasonal and drift rules, ridge regression on windows, and polynomial dynamics.

Each is fitted to standardised training parts and forecasts from pasts.
"""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import ClassVar, Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from atento.baselines.dynamics import Polynomial
from atento.baselines.ridge import regression_sums
from atento.baselines.series import Drift, LastStep, LastValue, Seasonal, WindowBaseline
from atento.baselines.validation import require_fitted, require_pairs
from atento.data.series import Past, Series
from atento.data.series.series import Numbers
from atento.spec import TokensRecipe
from atento.tasks.forecast.codec import SeriesCodec, require_past
from atento.tasks.forecast.stacked_ridge import SPANS, SpanSums, stacked_ridge
from atento.tasks.forecast.windows import WindowSpec

# Axes: N windows, T time, L past, H horizon, C channels.

AT_ONCE = 2**21  # numbers multiplied at a time
PRODUCTS = 2e10  # of a regression: windows are left out evenly where there would be more
CALMEST = 0.01  # added to the variance of a window, in that of the training part
FAR_LAGS = 4.0  # the weight of the farthest lag is held (1 + 4)² times as strongly as that of the last value
HELD_OUT = 0.2  # of the training rows, the last: by them the degree of a polynomial is chosen
DEGREES = (1, 2, 3, 4, 5)
MOST_MONOMIALS = 600
FARTHEST = 100.0  # standard deviations: a rollout is clipped there, or one forecast would dominate the error


class SeriesBaseline(ABC):
    """A baseline on standardised series; subclasses learn and forecast on the scales of the training parts."""

    name: str
    summary: str
    state_types: ClassVar[tuple[type, ...]] = (SeriesCodec,)

    def __init__(self) -> None:
        self.codec: SeriesCodec | None = None

    def fit(self, sources: Sequence[Series], targets: Sequence[WindowSpec]) -> Self:
        """Learn from series and the frame of their windows."""
        require_pairs(self.name, sources, targets)
        codec = SeriesCodec.learn(TokensRecipe(), list(zip(sources, targets, strict=True)))
        self.learn([codec.scale_part(series) for series in sources], targets[0])
        self.codec = codec
        return self

    def predict(self, sources: Sequence[Past]) -> list[Numbers]:
        """The forecast (H, C, 1) of each past, in the units of its series."""
        codec = require_fitted(self.name, self.codec)
        size = max(1, AT_ONCE // (codec.frame.window * len(codec.frame.channels)))
        found: list[Numbers] = []
        for first in range(0, len(sources), size):
            some = sources[first : first + size]
            scales = codec.scales_of(some)
            pasts = scales.to(np.stack([require_past(past, codec.frame) for past in some]))
            found += list(scales.back(self.extend(pasts, codec.frame.horizon)[..., None]).astype(np.float32))
        return found

    def learn(self, parts: Sequence[Numbers], frame: WindowSpec) -> None:  # noqa: B027 - most have nothing to learn
        """Learn from scaled training parts (T, C)."""

    @abstractmethod
    def extend(self, pasts: Numbers, steps: int) -> Numbers:
        """Scaled pasts (N, L, C) -> (N, H, C)."""


class Simple(SeriesBaseline):
    """A rule that needs no learning, window by window."""

    def __init__(self, rule: Callable[[WindowSpec | None], WindowBaseline]) -> None:
        super().__init__()
        self.make, self.rule = rule, rule(None)
        self.name, self.summary = self.rule.name, self.rule.summary

    def learn(self, parts: Sequence[Numbers], frame: WindowSpec) -> None:
        """Make the rule for the frame, with its season."""
        self.rule = self.make(frame)
        self.summary = self.rule.summary

    def extend(self, pasts: Numbers, steps: int) -> Numbers:
        """The rule applied to each past."""
        return np.stack([self.rule.forecast(past, steps) for past in pasts])


class SeriesRegression(SeriesBaseline):
    """ŷ_{t+h} = b_h + Σ_i w_{h,i} y_{t−i} over the whole window, in closed form; every channel is a row.

    Anchored, a window is read from its last value on, without b. Joint, all channels are read for each. It is a stacked
    ridge regression: windows count by one over their variance, and weights are shrunk to the last value (without an
    anchor, to the mean of the training part) and to the mean of the seasons in the window, far lags more than near
    ones. Ten spans of the training windows decide by how much; where they show no gain of more than chance, the last
    value is the forecast, as on a random walk it should.
    """

    def __init__(self, *, anchored: bool = True, joint: bool = False) -> None:
        super().__init__()
        self.anchored, self.joint = anchored, joint
        self.name = ("ridge" if anchored else "autoregression") + ("-joint" if joint else "")
        self.summary = "a weighted sum of the past" + (", from the last value on" if anchored else "")
        self.weights: Numbers = np.zeros((0, 0))
        self.bias: Numbers = np.zeros(0)

    def learn(self, parts: Sequence[Numbers], frame: WindowSpec) -> None:
        """The sums of each span of the windows, then the regression."""
        borders = itertools.pairwise(np.linspace(0.0, 1.0, SPANS + 1))
        spans = [
            SpanSums(
                regression_sums(self.rows(parts, frame, first=first, to=to), weigh=one_over_variance),
                regression_sums(self.rows(parts, frame, first=first, to=to)),
            )
            for first, to in borders
        ]
        windows = max(len(part) - frame.window + 1 for part in parts)
        together = len(frame.channels) if self.joint else 1
        self.weights, self.bias = stacked_ridge(
            spans,
            [np.asarray(np.kron(prior, np.eye(together))) for prior in priors(frame)],
            np.repeat(lag_penalties(frame.look_back), together),
            gap=round(SPANS * frame.horizon / max(1, windows)),  # as many spans as the targets of a window reach into
            centred=not self.anchored,
        )

    def rows(
        self, parts: Sequence[Numbers], frame: WindowSpec, *, first: float = 0.0, to: float = 1.0
    ) -> Iterator[tuple[Numbers, Numbers]]:
        """Pasts and futures of the windows between two shares of each part, some at a time."""
        channels = len(frame.channels)
        read = frame.look_back * (channels if self.joint else 1)
        windows = sum(max(0, len(part) - frame.window + 1) for part in parts)
        stride = max(1, int(windows * (1 if self.joint else channels) * read**2 // PRODUCTS))
        size = max(1, AT_ONCE // (frame.window * channels))
        for part in parts:
            if len(part) < frame.window:
                continue
            views = sliding_window_view(part, frame.window, axis=0)  # (N, C, W)
            some = views[round(first * len(views)) : round(to * len(views)) : stride]
            for start in range(0, len(some), size):
                yield self.row_of(some[start : start + size].swapaxes(1, 2), frame.look_back)

    def row_of(self, windows: Numbers, read: int) -> tuple[Numbers, Numbers]:
        """(N, W, C) -> pasts and futures; all channels in one row where they are read together."""
        level = windows[:, read - 1 : read] if self.anchored else 0.0
        past, future = windows[:, :read] - level, windows[:, read:] - level
        if self.joint:
            return past.reshape(len(past), -1), future.reshape(len(future), -1)
        return rows_by_feature(past), rows_by_feature(future)

    def extend(self, pasts: Numbers, steps: int) -> Numbers:
        """All steps at once."""
        level = pasts[:, -1:] if self.anchored else 0.0
        moved = pasts - level
        count, _, channels = pasts.shape
        if self.joint:
            return (moved.reshape(count, -1) @ self.weights + self.bias).reshape(count, steps, channels) + level
        found = rows_by_feature(moved) @ self.weights + self.bias  # (N·C, H)
        return found.reshape(count, channels, steps).swapaxes(1, 2) + level


def priors(frame: WindowSpec) -> list[Numbers]:
    """Weights (L, H) of simple forecasts: none, and where there is a season the mean of those in the window."""
    none = np.zeros((frame.look_back, frame.horizon))
    if not 1 < frame.season <= frame.look_back:
        return [none]
    seasons, seasonal_mean = frame.look_back // frame.season, none.copy()
    for step in range(frame.horizon):
        for back in range(1, seasons + 1):
            seasonal_mean[frame.look_back - back * frame.season + step % frame.season, step] = 1 / seasons
    return [none, seasonal_mean]


def one_over_variance(pasts: Numbers) -> Numbers:
    """How much each window (N, L) counts: a wild time would else decide the weights for all calm ones."""
    return np.asarray(1 / (pasts.var(axis=1) + CALMEST))


def lag_penalties(look_back: int) -> Numbers:
    """The penalty (L,) of each place of a window: (1 + 4 l / L)² of the lag l. The farther back, the less it is likely
    to say (Litterman, 1986).
    """
    lags = np.arange(look_back)[::-1]
    return np.square(1 + FAR_LAGS * lags / look_back)


def rows_by_feature(values: Numbers) -> Numbers:
    """(N, T, C) -> (N·C, T): every channel of a window is a row."""
    return values.swapaxes(1, 2).reshape(-1, values.shape[1])


last_value = partial(Simple, lambda frame: LastValue())
seasonal = partial(Simple, lambda frame: Seasonal(1 if frame is None else frame.season))
drift = partial(Simple, lambda frame: Drift())
last_step = partial(Simple, lambda frame: LastStep())
ridge = partial(SeriesRegression, anchored=True)
autoregression = partial(SeriesRegression, anchored=False)

BASELINES = (last_value, seasonal, drift, ridge, autoregression)


class PolynomialBaseline(SeriesBaseline):
    """y_{t+1} = y_t + W φ(y_t), run on its own output. φ are all monomials up to a degree, the one that errs least one
    step ahead on the last fifth of the training rows.
    """

    name = "polynomial"
    summary = "the change as a polynomial of the last row, on and on"

    def __init__(self) -> None:
        super().__init__()
        self.model = Polynomial(degree=1, delays=1)

    def learn(self, parts: Sequence[Numbers], frame: WindowSpec) -> None:
        """The degree first, then the weights from all rows."""
        degrees = [degree for degree in DEGREES if monomials(len(frame.channels), degree) <= MOST_MONOMIALS]
        early = [part[: round((1 - HELD_OUT) * len(part))] for part in parts]
        late = [part[round((1 - HELD_OUT) * len(part)) :] for part in parts]
        errors = [one_step_error(Polynomial(degree=degree, delays=1).fit(early), late) for degree in degrees]
        self.model = Polynomial(degree=degrees[int(np.argmin(errors))], delays=1).fit(parts)

    def extend(self, pasts: Numbers, steps: int) -> Numbers:
        """Step by step."""
        return np.clip(np.nan_to_num(self.model.rollout(pasts, steps), nan=FARTHEST), -FARTHEST, FARTHEST)


def monomials(channels: int, degree: int) -> int:
    """The number of monomials of so many channels up to a degree: (C + d over d)."""
    count = 1
    for place in range(1, degree + 1):
        count = count * (channels + place) // place
    return count


def one_step_error(model: Polynomial, parts: Sequence[Numbers]) -> float:
    """The mean squared error on rows (T, C) that were not learned from."""
    predictions = [model.rollout(part[:-1, None], 1)[:, 0] for part in parts if len(part) > 1]
    targets = [part[1:] for part in parts if len(part) > 1]
    return float(np.square(np.concatenate(predictions) - np.concatenate(targets)).mean()) if predictions else 0.0


def reads_one_row(frame: WindowSpec) -> bool:
    """Whether only the last row is read, as of a dynamical system."""
    return frame.look_back == 1 and not frame.covariates
