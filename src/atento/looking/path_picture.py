"""A path seen from above, with where it was foretold to go, as a picture file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from atento.looking.phase_picture import plain
from atento.looking.pictures import KINDS, SETTINGS, kind_of

View = Mapping[str, Any]  # what `atento.looking.forecast_view.forecast_view` gives, of two coordinates

SIDE = 5.2  # inches
THIN = ("C1", "C2", "C4", "C5")


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
