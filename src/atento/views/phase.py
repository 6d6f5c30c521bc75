"""Phase portraits: where a free run goes, beside where the truth went; on a terminal, as page, picture or numbers.

Phase portraits as a picture file.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.data.dynamics.analysis import embed, likely_lag
from atento.metrics.dynamics import Climate, climate
from atento.views.attention.images import KINDS, SETTINGS, kind_of
from atento.views.phase_page import render_phase
from atento.views.saving import View, save_view
from atento.views.wording import shortened

TRUE, OWN, BEHIND = "0.25", "C0", "0.65"
PANEL = 3.6  # inches
STRIP = 1.15


def phase_picture(view: View, path: str | Path) -> Path:
    """Save the truth on the left, the free run on the right, a row a plane; below, both against time."""
    path = Path(path)
    kind = kind_of(path)

    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    planes, beside = view["planes"], view["beside"]
    heights = [PANEL] * len(planes) + [STRIP] * len(beside)
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(2 * PANEL + 0.8, sum(heights) + 0.9), layout="constrained")
        FigureCanvasAgg(figure)
        title = f"{view['model'] or 'the model'}, free for {view['steps']} steps: {view['fate']}"
        figure.suptitle(title, fontsize=11, parse_math=False)
        grid = figure.add_gridspec(len(heights), 2, height_ratios=heights)
        for row, plane in enumerate(planes):
            left = figure.add_subplot(grid[row, 0])
            right = figure.add_subplot(grid[row, 1], sharex=left, sharey=left)
            draw_path(left, plane, "true", TRUE)
            draw_path(right, plane, "generated", OWN)
        for row, one in enumerate(beside, start=len(planes)):
            draw_times(figure.add_subplot(grid[row, :]), one, first=row == len(planes), last=row == len(heights) - 1)
        figure.savefig(path, format=kind[1:], **KINDS[kind])
    return path


def draw_path(axes: Any, plane: Mapping[str, Any], which: str, colour: str) -> None:
    """One path in its plane."""
    points = plane[which]
    axes.plot([x for x, _ in points], [y for _, y in points], color=colour, linewidth=0.6)
    axes.set_title({"true": "true", "generated": "generated, on its own output"}[which], fontsize=9, loc="left")
    axes.set_xlabel(plane["across"], parse_math=False)
    axes.set_ylabel(plane["up"], parse_math=False)
    plain(axes)


def draw_times(axes: Any, one: Mapping[str, Any], *, first: bool, last: bool) -> None:
    """What came and what was generated, step by step."""
    axes.plot(range(1, len(one["true"]) + 1), one["true"], color=BEHIND, linewidth=2.4, label="true")
    axes.plot(range(1, len(one["generated"]) + 1), one["generated"], color=OWN, linewidth=0.9, label="generated")
    axes.set_ylabel(one["channel"], parse_math=False)
    axes.set_xlim(left=0)
    if first:
        axes.legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    if last:
        axes.set_xlabel("steps on its own output")
    plain(axes)


def plain(axes: Any) -> None:
    """A light grid, no frame."""
    axes.grid(color="0.92")
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


# Axes: T time, C channels.

Numbers = NDArray[np.float64]

SHOWN = 3  # coordinates
BESIDE = 400  # steps shown against time
FARTHEST = 3.0  # ranges of the truth: what lies farther out is drawn at the border
CHARTED = 17  # letters of a coordinate's name in the table


def phase_view(
    truth: Numbers, run: Numbers, follows: Numbers, channels: Sequence[str], *, model: str = "", data: str = ""
) -> dict[str, Any]:
    """What is shown, as plain data.

    truth (T, C) is what was seen of the system, run (T', C) what the model goes on with, follows (T″, C) what came
    instead, which may be little or nothing. Of a single coordinate the portrait is of x(t) and x(t − lag).
    """
    lag = likely_lag(truth[:, 0]) if len(channels) == 1 else 0
    low, high = truth.min(axis=0), truth.max(axis=0)
    room = FARTHEST * np.where(high > low, high - low, 1.0)
    drawn = np.clip(np.nan_to_num(run, nan=0.0, posinf=np.inf, neginf=-np.inf), low - room, high + room)
    finite = np.isfinite(run).all(axis=1)
    drawn = drawn[: len(drawn) if finite.all() else int(finite.argmin())]
    names = [shortened(name, CHARTED) for name in channels[:SHOWN]]
    return {
        "model": model,
        "data": data,
        "channels": list(channels),
        "lag": lag,
        "steps": len(run),
        "planes": planes(truth, drawn, names, lag),
        "beside": [
            {"channel": name, "true": rounded(follows[:BESIDE, at]), "generated": rounded(drawn[:BESIDE, at])}
            for at, name in enumerate(names)
        ],
        **climate_facts(climate(run, truth)),
    }


def planes(truth: Numbers, run: Numbers, names: Sequence[str], lag: int) -> list[dict[str, Any]]:
    """Pairs of coordinates, the first with each other; of one coordinate, with itself a while ago."""
    if lag:
        pictured = [
            embed(path[:, 0], delays=2, lag=lag) if len(path) > lag else path[:0, [0, 0]] for path in (truth, run)
        ]
        return [plane(f"{names[0]}(t)", f"{names[0]}(t − {lag})", *pictured)]
    return [plane(names[0], name, truth[:, [0, at]], run[:, [0, at]]) for at, name in enumerate(names) if at]


def plane(across: str, up: str, truth: Numbers, run: Numbers) -> dict[str, Any]:
    """Two paths (T, 2) in one plane."""
    return {"across": across, "up": up, "true": rounded(truth), "generated": rounded(run)}


def rounded(values: Numbers) -> Any:
    """Five digits are more than a picture shows."""
    scale = float(np.abs(values).max(initial=0.0)) or 1.0
    return np.round(values, max(0, 4 - int(np.floor(np.log10(scale))))).tolist()


def climate_facts(found: Climate) -> dict[str, Any]:
    """The statistics as plain data; what is infinite is null."""
    parts = {name: getattr(found, name) for name in ("histogram", "mean", "spread", "spectrum", "returns")}
    return {
        "fate": found.fate,
        "climate": {
            name: [round(float(one), 4) if np.isfinite(one) else None for one in values]
            for name, values in parts.items()
        },
    }


def phase_text(view: View, *, width: int = 80) -> str:
    """What became of the run, and its climate, coordinate by coordinate."""
    name = view["model"] or "the model"
    lines = [f"{name}, free for {view['steps']} steps: {view['fate']}"]
    if view["lag"]:
        lines.append(f"one coordinate: the portrait is of {view['planes'][0]['across']} and {view['planes'][0]['up']}")
    label = max(len("coordinate"), *(len(shortened(one, CHARTED)) for one in view["channels"]))
    headings = ("wrong places", "mean off", "spread", "spectrum off", "maxima off")
    lines.append(f"{'coordinate':<{label}}" + "".join(f"{heading:>14}" for heading in headings))
    for at, channel in enumerate(view["channels"]):
        numbers = [view["climate"][key][at] for key in ("histogram", "mean", "spread", "spectrum", "returns")]
        cells = "".join(f"{'–' if number is None else format(number, '.3f'):>14}" for number in numbers)
        lines.append(f"{shortened(channel, CHARTED):<{label}}{cells}")
    lines.append("0: as the truth (spread: 1); wrong places and spectrum at most 1, the others in the truth's spreads")
    return "\n".join(lines)


def save_phase(view: View, path: str | Path) -> Path:
    """A page, a picture or the numbers, by the name given."""
    return save_view(view, path, page=render_phase, picture=phase_picture)
