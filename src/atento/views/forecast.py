"""A forecast beside the actual values: the last steps of the past, the forecast with its interval, simple baselines.

`forecast_view` gathers the numbers, `forecast_text` writes them for a terminal; `forecast_page` and `forecast_figure`
draw them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from atento.reprs import short_repr
from atento.views.saving import ModelView, rounded
from atento.views.wording import shortened

# Axes: L past, H horizon, C channels, Q quantiles (one number: 1).

Numbers = NDArray[Any]

SHOWN = 4  # channels
MIN_PAST = 24  # steps of the past that are shown, or as many as are forecast
BLOCKS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, kw_only=True)
class ChannelForecast:
    """One channel of a forecast."""

    channel: str
    past: list[float]
    actual: list[float]  # may be shorter than the forecast, or empty
    forecast: list[float]
    low: list[float]  # the outer quantiles; empty where the model forecasts one number
    high: list[float]
    others: dict[str, list[float]]  # the forecasts of baselines by name


@dataclass(frozen=True, kw_only=True)
class ForecastView(ModelView):
    """A forecast of one window, beside the actual values and simple baselines."""

    data: str = ""
    title: str = ""
    kind: str = ""  # in a report: "chosen" or "worst"
    steps: int
    step: str = ""  # the distance of two rows in words
    times: list[str] = field(default_factory=list)  # of the past and of the steps to come; empty where rows are counted
    channels: int
    levels: list[float] = field(default_factory=list)  # of the quantiles
    shown: list[ChannelForecast]

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        """The view that `to_json` wrote."""
        return cls(**{**saved, "shown": [ChannelForecast(**one) for one in saved["shown"]]})

    def __repr__(self) -> str:
        return short_repr(self)


def forecast_view(
    past: Numbers,
    actual: Numbers,
    predicted: Mapping[str, Numbers],
    channels: Sequence[str],
    *,
    shares: Sequence[float] = (1.0,),
    levels: Sequence[float] = (),
    title: str = "",
    data: str = "",
    step: str = "",
    times: Sequence[str] = (),
) -> ForecastView:
    """past (L, C), actual (H, C), which may be shorter or empty; predicted: the forecast (H, C, Q) of each model by
    name, the one that is looked at first. `shares` are the weights of the quantiles in the point forecast.
    """
    (model, own), *others = predicted.items()
    before = past[-max(MIN_PAST, len(own)) :]
    shown = []
    for at, name in enumerate(channels[:SHOWN]):
        band = own[:, at]  # (H, Q)
        shown.append(
            ChannelForecast(
                channel=name,
                past=rounded(before[:, at]),
                actual=rounded(actual[:, at]),
                forecast=rounded(point_of(band, shares)),
                low=rounded(band[:, 0]) if band.shape[1] > 1 else [],
                high=rounded(band[:, -1]) if band.shape[1] > 1 else [],
                others={other: rounded(point_of(value[:, at], shares)) for other, value in others},
            )
        )
    return ForecastView(
        model=model,
        data=data,
        title=title,
        steps=len(own),
        step=step,
        times=list(times)[-len(before) - len(own) :],
        channels=len(channels),
        levels=list(levels),
        shown=shown,
    )


def point_of(band: Numbers, shares: Sequence[float]) -> Numbers:
    """The point forecast: (H, Q) -> (H,)."""
    return np.asarray(band[:, 0] if band.shape[1] == 1 else band @ np.asarray(shares))


def forecast_text(view: ForecastView, *, width: int = 80) -> str:
    """For each channel a line of blocks for the past, the actual values, the forecast and each baseline."""
    lines = [f"{view.model}, {view.steps} steps ahead, {view.title}"]
    for one in view.shown:
        names = ["past", "actual", view.model, *one.others]
        label = min(20, max(map(len, names))) + 2
        room = max(8, width - label)
        before, ahead = split_line(len(one.past), view.steps, room)
        numbers = [*one.past, *one.actual, *one.forecast]
        limits = (min(numbers), max(numbers)) if numbers else (0.0, 1.0)
        lines.append(f"\n{shortened(one.channel, room)}  from {limits[0]:g} to {limits[1]:g}")
        lines.append(f"{'past':<{label}}{blocks(one.past, before, limits)}")
        rows = {"actual": one.actual, view.model: one.forecast, **one.others}
        for name, values in rows.items():
            if values:
                count = max(1, round(ahead * len(values) / view.steps))
                lines.append(f"{shortened(name, label - 2):<{label}}{' ' * before}{blocks(values, count, limits)}")
        if one.low and one.actual:
            inside = [low <= value <= high for low, value, high in zip(one.low, one.actual, one.high, strict=False)]
            ends = f"{view.levels[0]:g} to {view.levels[-1]:g}"
            promised = f"{view.levels[-1] - view.levels[0]:.0%} promised"
            lines.append(f"{sum(inside)} of {len(inside)} actual values lie within the quantiles {ends}, {promised}")
    if view.channels > len(view.shown):
        lines.append(f"\n{view.channels - len(view.shown)} more channels are not shown")
    return "\n".join(lines)


def split_line(before: int, ahead: int, room: int) -> tuple[int, int]:
    """How many characters of a line the past and the forecast get."""
    first = min(before, round(room * before / (before + ahead)))
    return first, max(1, min(ahead, room - first))


def blocks(values: Sequence[float], count: int, limits: tuple[float, float]) -> str:
    """So many block characters, each as high as the mean of the values it stands for."""
    low, high = limits
    chunks = np.array_split(np.asarray(values, dtype=np.float64), max(1, min(count, len(values))))
    heights = [(chunk.mean() - low) / ((high - low) or 1.0) * len(BLOCKS) for chunk in chunks if len(chunk)]
    return "".join(BLOCKS[int(np.clip(height, 0, len(BLOCKS) - 1))] for height in heights)
