"""Simple forecasters on whole series: each learns from training parts on their own scales, and answers pasts.

A simple model of series that are a flow: the change to the next row as a polynomial of the row.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from atento.baselines.dynamics import Polynomial
from atento.baselines.fitted import require_fitted, require_pairs
from atento.baselines.series import Drift, Forecaster, LastStep, LastValue, Seasonal, by_feature, moments_of
from atento.data.series import Past
from atento.data.series.series import Numbers
from atento.spec import TokensRecipe
from atento.tasks.forecast.codec import SeriesCodec
from atento.tasks.forecast.rollout import require_past
from atento.tasks.forecast.windows import Frame

# Axes: N windows, T time, L past, H horizon, C channels.

AT_ONCE = 2**21  # numbers multiplied at a time
PRODUCTS = 2e10  # of a regression: windows are left out evenly where there would be more
HELD_OUT = 0.2  # of the training windows, the last: by them the ridge is chosen
CLEARLY = 0.95  # of an error: less is more than chance
RIDGES = (1e-11, 1e-8, 1e-3, 1e-2, 0.1)
STRONGER = (1.0,)  # tried too where there are
FEW = 10  # rows for a weight, or fewer


class SeriesBaseline(ABC):
    """Owns the scales, which are the training parts'; leaves learn and forecast on them."""

    name: str
    summary: str

    def __init__(self) -> None:
        self.codec: SeriesCodec | None = None

    def fit(self, sources: Sequence[Any], targets: Sequence[Frame]) -> Any:
        """Learn from series and the frame of their windows."""
        require_pairs(self.name, sources, targets)
        codec = SeriesCodec.learn(TokensRecipe(), list(zip(sources, targets, strict=True)))
        self.learn([codec.scales_of([series]).to(series.values[None])[0] for series in sources], targets[0])
        self.codec = codec
        return self

    def predict(self, sources: Sequence[Past]) -> list[Numbers]:
        """What comes after each past (H, C, 1), in the units of its series."""
        require_fitted(self.name, self.codec)
        codec = self.codec
        if codec is None:
            return []
        size = max(1, AT_ONCE // (codec.frame.window * len(codec.frame.channels)))
        found: list[Numbers] = []
        for first in range(0, len(sources), size):
            some = sources[first : first + size]
            scales = codec.scales_of(some)
            pasts = scales.to(np.stack([require_past(past, codec) for past in some]))
            found += list(scales.back(self.extend(pasts, codec.frame.horizon)[..., None]).astype(np.float32))
        return found

    def learn(self, parts: Sequence[Numbers], frame: Frame) -> None:  # noqa: B027 - most have nothing to learn
        """Learn from scaled training parts (T, C)."""

    @abstractmethod
    def extend(self, pasts: Numbers, steps: int) -> Numbers:
        """Scaled pasts (N, L, C) -> (N, H, C)."""


class Simple(SeriesBaseline):
    """A rule that needs no learning, window by window."""

    def __init__(self, rule: Callable[[Frame | None], Forecaster]) -> None:
        super().__init__()
        self.make, self.rule = rule, rule(None)
        self.name, self.summary = self.rule.name, self.rule.summary

    def learn(self, parts: Sequence[Numbers], frame: Frame) -> None:
        """Only what the frame says."""
        self.rule = self.make(frame)
        self.summary = self.rule.summary

    def extend(self, pasts: Numbers, steps: int) -> Numbers:
        """One by one."""
        return np.stack([self.rule.extend(past, steps) for past in pasts])


class SeriesRegression(SeriesBaseline):
    """ŷ_{t+h} = b_h + Σ_i w_{h,i} y_{t−i} over the whole window, in closed form; every channel is a row.

    Anchored, a window is read from its last value on, without b. Joint, all channels are read for each. The ridge, a
    share of the mean variance, is the one that errs least on the last fifth of the training windows.
    """

    def __init__(self, *, anchored: bool = True, joint: bool = False) -> None:
        super().__init__()
        self.anchored, self.joint = anchored, joint
        self.name = ("ridge" if anchored else "autoregression") + ("-joint" if joint else "")
        self.summary = "a weighted sum of the past" + (", from the last value on" if anchored else "")
        self.weights: Numbers = np.zeros((0, 0))
        self.bias: Numbers = np.zeros(0)
        self.held_out = float("inf")  # the mean squared error on the last fifth of the training windows

    def learn(self, parts: Sequence[Numbers], frame: Frame) -> None:
        """The ridge first, then the weights from all windows."""
        early = moments_of(self.rows(parts, frame, to=1 - HELD_OUT))
        late = moments_of(self.rows(parts, frame, first=1 - HELD_OUT))
        centred = not self.anchored
        if not early.rows or not late.rows:  # too few to choose by
            whole = early if early.rows else late
            ((self.weights, self.bias),) = whole.solve(RIDGES[2], centred=centred)
            return
        ridges = (*RIDGES, *STRONGER) if early.rows < FEW * len(early.past) else RIDGES
        errors = [late.error(*solved) for solved in early.solve(*ridges, centred=centred)]
        self.held_out = min(errors)
        best = ridges[errors.index(self.held_out)]
        ((self.weights, self.bias),) = early.joined(late).solve(best, centred=centred)

    def rows(
        self, parts: Sequence[Numbers], frame: Frame, *, first: float = 0.0, to: float = 1.0
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
        return by_feature(past), by_feature(future)

    def extend(self, pasts: Numbers, steps: int) -> Numbers:
        """All steps at once."""
        level = pasts[:, -1:] if self.anchored else 0.0
        moved = pasts - level
        count, _, channels = pasts.shape
        if self.joint:
            return (moved.reshape(count, -1) @ self.weights + self.bias).reshape(count, steps, channels) + level
        found = by_feature(moved) @ self.weights + self.bias  # (N·C, H)
        return found.reshape(count, channels, steps).swapaxes(1, 2) + level


def likelier_channels(parts: Sequence[tuple[Any, Frame]], *, most: int = 600) -> str:
    """`joint` or `each`: whether a ridge on all channels errs clearly less than one on each, on the last fifth of the
    training windows; both read as many steps as `most` numbers of all channels hold.
    """
    frame = parts[0][1]
    if len(frame.channels) == 1:
        return "each"
    read = max(1, min(frame.look_back, most // len(frame.channels)))
    short = frame._replace(look_back=read, horizon=min(frame.horizon, max(1, most // len(frame.channels))))
    each, joint = (SeriesRegression(joint=joint) for joint in (False, True))
    for model in (each, joint):
        model.fit([series for series, _ in parts], [short] * len(parts))
    return "joint" if joint.held_out < CLEARLY * each.held_out else "each"


def last_value() -> SeriesBaseline:
    """ŷ = the last value."""
    return Simple(lambda frame: LastValue())


def seasonal() -> SeriesBaseline:
    """ŷ = the value a season before; without a season, the last one."""
    return Simple(lambda frame: Seasonal(1 if frame is None else frame.season))


def drift() -> SeriesBaseline:
    """ŷ = the line from the first to the last value, drawn on."""
    return Simple(lambda frame: Drift())


def last_step() -> SeriesBaseline:
    """ŷ = on at the speed of the last step."""
    return Simple(lambda frame: LastStep())


def ridge() -> SeriesBaseline:
    """Weighted sums from the last value on."""
    return SeriesRegression()


def autoregression() -> SeriesBaseline:
    """Weighted sums."""
    return SeriesRegression(anchored=False)


BASELINES = (last_value, seasonal, drift, ridge, autoregression)


# Axes: N pasts, T time, L past, H horizon, C channels.

DEGREES = (1, 2, 3, 4, 5)
MOST_MONOMIALS = 600
FARTHEST = 100.0  # spreads: a run that goes farther stays there, or one forecast alone would be the whole error


class Equations(SeriesBaseline):
    """y_{t+1} = y_t + W φ(y_t), run on its own output. φ are all monomials up to a degree, the one that errs least one
    step ahead on the last fifth of the training rows.
    """

    name = "polynomial"
    summary = "the change as a polynomial of the last row, on and on"

    def __init__(self) -> None:
        super().__init__()
        self.model = Polynomial(degree=1, delays=1)

    def learn(self, parts: Sequence[Numbers], frame: Frame) -> None:
        """The degree first, then the weights from all rows."""
        degrees = [degree for degree in DEGREES if monomials(len(frame.channels), degree) <= MOST_MONOMIALS]
        early = [part[: round((1 - HELD_OUT) * len(part))] for part in parts]
        late = [part[round((1 - HELD_OUT) * len(part)) :] for part in parts]
        errors = [one_step_error(Polynomial(degree=degree, delays=1).learn_from(early), late) for degree in degrees]
        self.model = Polynomial(degree=degrees[int(np.argmin(errors))], delays=1).learn_from(parts)

    def extend(self, pasts: Numbers, steps: int) -> Numbers:
        """Step by step."""
        return np.clip(np.nan_to_num(self.model.extend(pasts, steps), nan=FARTHEST), -FARTHEST, FARTHEST)


def monomials(channels: int, degree: int) -> int:
    """How many there are of so many numbers: (C + d over d)."""
    count = 1
    for place in range(1, degree + 1):
        count = count * (channels + place) // place
    return count


def one_step_error(model: Polynomial, parts: Sequence[Numbers]) -> float:
    """The mean squared error on rows (T, C) that were not learned from."""
    said = [model.extend(part[:-1, None], 1)[:, 0] for part in parts if len(part) > 1]
    came = [part[1:] for part in parts if len(part) > 1]
    return float(np.square(np.concatenate(said) - np.concatenate(came)).mean()) if said else 0.0


def reads_one_row(frame: Frame) -> bool:
    """Such series are a flow, or are taken for one."""
    return frame.look_back == 1 and not frame.covariates
