"""A forecast beside what came: the last known steps, the forecast and its interval, simple baselines; as plain data, on
a terminal, as a page or a picture.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.looking.forecast_page import render_forecast
from atento.looking.forecast_picture import forecast_picture
from atento.looking.path_picture import path_picture
from atento.looking.saving import View, save_view
from atento.looking.wording import shortened
from atento.metrics.displacements import is_path

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
