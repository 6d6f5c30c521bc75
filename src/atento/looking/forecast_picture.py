"""A forecast beside what came as a picture file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from atento.looking.pictures import KINDS, SETTINGS, kind_of

View = Mapping[str, Any]  # what `atento.looking.forecast_view.forecast_view` gives

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
