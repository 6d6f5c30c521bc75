"""A forecast as a figure file: a panel for each channel, or, of two coordinates, a path in their plane."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from atento.views.figures import light_grid, saved_figure
from atento.views.forecast import ChannelForecast, ForecastView

PANEL = 2.1  # inches of a channel
SIDE = 5.2  # inches of a path
SHADE = 0.18
BASELINE_COLOURS = ("C1", "C2", "C4", "C5")


def forecast_figure(view: ForecastView, path: Path) -> Path:
    """Save a panel for each channel: past, actual values, forecast over its shaded interval, baselines thin."""
    with saved_figure(path, size=(9.0, PANEL * len(view.shown) + 1.0)) as figure:
        figure.suptitle(title_of(view), fontsize=11, parse_math=False)
        panels = figure.subplots(len(view.shown), 1, sharex=True, squeeze=False)[:, 0]
        for axes, one in zip(panels, view.shown, strict=True):
            draw_channel(axes, one, view)
        panels[-1].set_xlabel("time (UTC)" if view.times else "steps from where the forecast begins")
        panels[0].legend(
            frameon=False, fontsize=8, ncols=7, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2
        )
    return path


def title_of(view: ForecastView) -> str:
    """The line above a figure."""
    return f"{view.model}, {view.steps} steps ahead, {view.title}"


def draw_channel(axes: Any, one: ChannelForecast, view: ForecastView) -> None:
    """Draw one channel against time: dates, or steps of which the last one of the past is 0."""
    past = len(one.past)
    times = places_in_time(view, past, len(one.forecast))
    ahead = times[past:]
    axes.plot(times[:past], one.past, color="0.25", linewidth=1.3, label="past")
    if one.actual:
        known = times[past - 1 : past + len(one.actual)]
        axes.plot(known, [one.past[-1], *one.actual], color="0.55", linewidth=1.3, label="actual")
    for colour, (name, values) in zip(BASELINE_COLOURS, one.others.items(), strict=False):
        axes.plot(ahead, values, color=colour, linewidth=0.7, alpha=0.9, label=name)
    if one.low:
        label = f"{view.levels[0]:g} to {view.levels[-1]:g}"
        axes.fill_between(ahead, one.low, one.high, color="C0", alpha=SHADE, linewidth=0, label=label)
    axes.plot(ahead, one.forecast, color="C0", linewidth=1.8, label=view.model)
    axes.axvline(
        times[past - 1] + (times[past] - times[past - 1]) / 2, color="0.5", linewidth=0.8, linestyle=(0, (5, 4))
    )
    axes.set_ylabel(one.channel, parse_math=False)
    axes.margins(x=0.01)
    light_grid(axes)


def places_in_time(view: ForecastView, past: int, ahead: int) -> Any:
    """Where each row of the past and each step to come stands: dates, or steps."""
    if len(view.times) == past + ahead:
        return np.array(view.times, dtype="datetime64[s]")
    return np.arange(1 - past, ahead + 1)


def path_figure(view: ForecastView, path: Path) -> Path:
    """Save the plane of two coordinates: the past path, the actual one, and those of the model and the baselines."""
    across, up = view.shown
    with saved_figure(path, size=(SIDE + 1.6, SIDE)) as figure:
        figure.suptitle(title_of(view), fontsize=11, parse_math=False)
        axes = figure.subplots()
        start = (across.past[-1], up.past[-1])
        axes.plot(across.past, up.past, ".-", color="0.25", linewidth=1.2, markersize=3, label="past")
        draw_path(axes, start, (across.actual, up.actual), color="0.6", width=2.6, label="actual")
        for colour, name in zip(BASELINE_COLOURS, across.others, strict=False):
            draw_path(axes, start, (across.others[name], up.others[name]), color=colour, width=0.8, label=name)
        draw_path(axes, start, (across.forecast, up.forecast), color="C0", width=1.6, label=view.model)
        axes.plot(*start, "o", color="0.25", markersize=5)
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_xlabel(across.channel, parse_math=False)
        axes.set_ylabel(up.channel, parse_math=False)
        light_grid(axes)
        figure.legend(frameon=False, loc="outside right upper", fontsize=8)
    return path


def draw_path(
    axes: Any,
    start: tuple[float, float],
    places: tuple[Sequence[float], Sequence[float]],
    *,
    color: str,
    width: float,
    label: str,
) -> None:
    """Draw a line from the last place of the past on, with a dot for each step."""
    if len(places[0]):
        x, y = ([first, *some] for first, some in zip(start, places, strict=True))
        axes.plot(x, y, ".-", color=color, linewidth=width, markersize=3 + width, label=label)
