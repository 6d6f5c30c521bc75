"""Phase portraits as a picture file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from atento.looking.pictures import KINDS, SETTINGS, kind_of

View = Mapping[str, Any]  # what `atento.looking.phase.phase_view` gives

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
