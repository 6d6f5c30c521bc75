"""A forecast beside what came: the last known steps, the forecast and its interval, simple baselines; as plain data, on
a terminal, as a page or a picture.

A forecast beside what came as a picture file.
A path seen from above, with where it was foretold to go, as a picture file.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.metrics.forecasts import is_path
from atento.views.attention.images import KINDS, SETTINGS, kind_of
from atento.views.forecast_page import render_forecast
from atento.views.phase import plain
from atento.views.saving import View, save_view
from atento.views.wording import shortened

STRIP = 2.1  # inches of a channel
SHADE = 0.18
THIN = ("C1", "C2", "C4", "C5")


def forecast_picture(view: View, path: str | Path) -> Path:
    """Save a strip a channel: what was known, what came, the forecast over its shaded interval, baselines thin."""
    path = Path(path)
    kind = kind_of(path)

    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shown = view["shown"]
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(9.0, STRIP * len(shown) + 1.0), layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(f"{view['model']}, {view['steps']} steps ahead, {view['title']}", fontsize=11, parse_math=False)
        strips = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
        for axes, one in zip(strips, shown, strict=True):
            draw_strip(axes, one, view)
        strips[-1].set_xlabel("steps from where the forecast begins")
        strips[0].legend(
            frameon=False, fontsize=8, ncols=7, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2
        )
        figure.savefig(path, format=kind[1:], **KINDS[kind])
    return path


def draw_strip(axes: Any, one: Mapping[str, Any], view: View) -> None:
    """One channel against time; the forecast begins at 1, the last known step is 0."""
    past, came, forecast = one["past"], one["came"], one["forecast"]
    ahead = range(1, len(forecast) + 1)
    axes.plot(range(1 - len(past), 1), past, color="0.25", linewidth=1.3, label="known")
    if came:
        axes.plot(range(0, len(came) + 1), [past[-1], *came], color="0.55", linewidth=1.3, label="came")
    for colour, (name, values) in zip(THIN, one["others"].items(), strict=False):
        axes.plot(ahead, values, color=colour, linewidth=0.7, alpha=0.9, label=name)
    if one["low"]:
        label = f"{view['levels'][0]:g} to {view['levels'][-1]:g}"
        axes.fill_between(ahead, one["low"], one["high"], color="C0", alpha=SHADE, linewidth=0, label=label)
    axes.plot(ahead, forecast, color="C0", linewidth=1.8, label=view["model"])
    axes.axvline(0.5, color="0.5", linewidth=0.8, linestyle=(0, (5, 4)))
    axes.set_ylabel(one["channel"], parse_math=False)
    axes.margins(x=0.01)
    axes.grid(color="0.92")
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


SIDE = 5.2  # inches


def path_picture(view: View, path: str | Path) -> Path:
    """Save the plane: where the thing was, where it went, where the model and simple ones foretold it."""
    path = Path(path)
    kind = kind_of(path)

    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    across, up = view["shown"]
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(SIDE + 1.6, SIDE), layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(f"{view['model']}, {view['steps']} steps ahead, {view['title']}", fontsize=11, parse_math=False)
        axes = figure.subplots()
        start = (across["past"][-1], up["past"][-1])
        axes.plot(across["past"], up["past"], ".-", color="0.25", linewidth=1.2, markersize=3, label="known")
        draw_on(axes, start, (across["came"], up["came"]), color="0.6", width=2.6, label="came")
        for colour, name in zip(THIN, across["others"], strict=False):
            draw_on(axes, start, (across["others"][name], up["others"][name]), color=colour, width=0.8, label=name)
        draw_on(axes, start, (across["forecast"], up["forecast"]), color="C0", width=1.6, label=view["model"])
        axes.plot(*start, "o", color="0.25", markersize=5)
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_xlabel(across["channel"], parse_math=False)
        axes.set_ylabel(up["channel"], parse_math=False)
        plain(axes)
        figure.legend(frameon=False, loc="outside right upper", fontsize=8)
        figure.savefig(path, format=kind[1:], **KINDS[kind])
    return path


def draw_on(
    axes: Any, start: tuple[float, float], places: tuple[Any, Any], *, color: str, width: float, label: str
) -> None:
    """A line from where the thing was last seen, a dot a step."""
    if len(places[0]):
        x, y = ([first, *some] for first, some in zip(start, places, strict=True))
        axes.plot(x, y, ".-", color=color, linewidth=width, markersize=3 + width, label=label)


# Axes: L past, H horizon, C channels, Q quantiles (one number: 1).

Numbers = NDArray[Any]

SHOWN = 4  # channels
BEFORE = 1  # horizons of the past that are shown, and
LEAST = 24  # steps of it at least
BLOCKS = "▁▂▃▄▅▆▇█"


def forecast_view(
    past: Numbers,
    came: Numbers,
    said: Mapping[str, Numbers],
    channels: Sequence[str],
    *,
    shares: Sequence[float] = (1.0,),
    levels: Sequence[float] = (),
    title: str = "",
    data: str = "",
    step: str = "",
) -> dict[str, Any]:
    """past (L, C), came (H, C), which may be shorter or nothing; said: by its name, what each model forecasts
    (H, C, Q), the one that matters first. `shares` is what each quantile gives to the point, `step` the distance of
    two rows in words.
    """
    (model, own), *others = said.items()
    before = past[-max(LEAST, BEFORE * len(own)) :]
    shown = []
    for at, name in enumerate(channels[:SHOWN]):
        band = own[:, at]  # (H, Q)
        shown.append(
            {
                "channel": name,
                "past": rounded(before[:, at]),
                "came": rounded(came[:, at]),
                "forecast": rounded(point_of(band, shares)),
                "low": rounded(band[:, 0]) if band.shape[1] > 1 else [],
                "high": rounded(band[:, -1]) if band.shape[1] > 1 else [],
                "others": {other: rounded(point_of(value[:, at], shares)) for other, value in others},
            }
        )
    return {
        "model": model,
        "data": data,
        "title": title,
        "steps": len(own),
        "step": step,
        "channels": len(channels),
        "levels": list(levels),
        "shown": shown,
    }


def point_of(band: Numbers, shares: Sequence[float]) -> Numbers:
    """(H, Q) -> (H,)."""
    return np.asarray(band[:, 0] if band.shape[1] == 1 else band @ np.asarray(shares))


def rounded(values: Numbers) -> Any:
    """Five digits are more than a picture shows."""
    scale = float(np.abs(values).max(initial=0.0)) or 1.0
    return np.round(values.astype(np.float64), max(0, 4 - int(np.floor(np.log10(scale))))).tolist()


def forecast_text(view: View, *, width: int = 80) -> str:
    """A line of blocks for what was known, one for what came, one for the forecast and each baseline."""
    lines = [f"{view['model']}, {view['steps']} steps ahead, {view['title']}"]
    for one in view["shown"]:
        names = ["known", "came", view["model"], *one["others"]]
        label = min(20, max(map(len, names))) + 2
        room = max(8, width - label)
        pasts, ahead = parted(len(one["past"]), view["steps"], room)
        numbers = [number for part in (one["past"], one["came"], one["forecast"]) for number in part]
        limits = (min(numbers), max(numbers)) if numbers else (0.0, 1.0)
        lines.append(f"\n{shortened(one['channel'], room)}  from {limits[0]:g} to {limits[1]:g}")
        lines.append(f"{'known':<{label}}{blocks(one['past'], pasts, limits)}")
        rows = {"came": one["came"], view["model"]: one["forecast"], **one["others"]}
        for name, values in rows.items():
            if values:
                told = round(ahead * len(values) / view["steps"])
                lines.append(
                    f"{shortened(name, label - 2):<{label}}{' ' * pasts}{blocks(values, max(1, told), limits)}"
                )
        if one["low"] and one["came"]:
            inside = [
                low <= came <= high for low, came, high in zip(one["low"], one["came"], one["high"], strict=False)
            ]
            ends = f"{view['levels'][0]:g} to {view['levels'][-1]:g}"
            lines.append(f"{sum(inside)} of {len(inside)} numbers that came lie within the quantiles {ends}")
    if view["channels"] > len(view["shown"]):
        lines.append(f"\n{view['channels'] - len(view['shown'])} more channels are not shown")
    return "\n".join(lines)


def parted(before: int, ahead: int, room: int) -> tuple[int, int]:
    """How many letters the past and the forecast have of a line."""
    first = min(before, round(room * before / (before + ahead)))
    return first, max(1, min(ahead, room - first))


def blocks(values: Sequence[float], count: int, limits: tuple[float, float]) -> str:
    """So many letters, the higher the larger the mean of the numbers each stands for."""
    low, high = limits
    pieces = np.array_split(np.asarray(values, dtype=np.float64), max(1, min(count, len(values))))
    places = [(piece.mean() - low) / ((high - low) or 1.0) * len(BLOCKS) for piece in pieces if len(piece)]
    return "".join(BLOCKS[int(np.clip(place, 0, len(BLOCKS) - 1))] for place in places)


def save_forecast(view: View, path: str | Path) -> Path:
    """A page, a picture or JSON, by the name given."""
    flat = is_path(tuple(one["channel"] for one in view["shown"])) and len(view["shown"]) == 2
    return save_view(view, path, page=render_forecast, picture=path_picture if flat else forecast_picture)
