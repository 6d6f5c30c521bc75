"""A latent path, and some windows or frames beside what is written from it, as a picture file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from atento.looking.phase_picture import plain
from atento.looking.pictures import KINDS, SETTINGS, kind_of

View = Mapping[str, Any]  # what `atento.looking.latent_view.latent_view` gives

BEFORE, HELD = "0.7", "C0"
PANEL = 3.6  # inches
STRIP = 1.3


def latent_picture(view: View, path: str | Path) -> Path:
    """Save the path in its planes, and below it windows as they are and as they are written again."""
    path = Path(path)
    draw_latents(view, path, kind_of(path))
    return path


def draw_latents(view: View, target: Any, kind: str) -> None:
    """The picture into a file or memory."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    planes, windows = view["planes"], view["windows"]
    columns = max(1, len(planes))
    rows = 2 if all(view["frame"]) else 1
    heights = [PANEL] * bool(planes) + [STRIP] * rows
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(max(2, columns) * PANEL + 0.6, sum(heights) + 0.9), layout="constrained")
        FigureCanvasAgg(figure)
        facts = ", ".join(f"{name} {value:.3f}" for name, value in view["facts"].items())
        figure.suptitle(f"{view['model'] or 'the model'}: {facts}", fontsize=11, parse_math=False)
        whole = figure.add_gridspec(len(heights), 1, height_ratios=heights)
        if planes:
            inner = whole[0].subgridspec(1, columns)
            for at, plane in enumerate(planes):
                draw_plane(figure.add_subplot(inner[0, at]), plane, first=at == 0)
        for row in range(rows):
            strip = whole[len(heights) - rows + row].subgridspec(1, max(1, len(windows)))
            for at in range(len(windows)):
                draw_window(figure.add_subplot(strip[0, at]), view, at, row, first=at == 0)
        figure.savefig(target, format=kind[1:], **KINDS[kind])


def draw_plane(axes: Any, plane: Mapping[str, Any], *, first: bool) -> None:
    """The path in training time, thin and grey, and in test time over it."""
    for which, colour, words in (("before", BEFORE, "training time"), ("held", HELD, "test time")):
        points = plane[which]
        axes.plot([x for x, _ in points], [y for _, y in points], color=colour, linewidth=0.6, label=words)
    axes.set_xlabel(plane["across"])
    axes.set_ylabel(plane["up"])
    if first:
        axes.legend(frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0.0, 1.0), fontsize=8)
    plain(axes)


def draw_window(axes: Any, view: View, at: int, row: int, *, first: bool) -> None:
    """A frame above the one that is written from its latent; or a window with what is written over it."""
    true, written = view["windows"][at], view["recreated"][at]
    if all(view["frame"]):
        most = max(max(line) for line in true)
        axes.imshow((true, written)[row], cmap="gray", vmin=0, vmax=most, interpolation="nearest")
        axes.set_xticks([])
        axes.set_yticks([])
        if first:
            axes.set_ylabel(("as it is", "recreated")[row])
        return
    axes.plot(true, color="0.6", linewidth=2.4, label="as it is")
    axes.plot(written, color=HELD, linewidth=1.0, label="recreated")
    if first:
        axes.set_ylabel(view["channel"], parse_math=False)
        axes.legend(frameon=False, fontsize=7, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)
    axes.tick_params(labelsize=7)
    plain(axes)
