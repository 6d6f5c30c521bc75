"""Phase portraits as a figure file."""

from pathlib import Path
from typing import Any

from atento.views.figures import light_grid, saved_figure
from atento.views.phase import PhasePlane, PhaseTimes, PhaseView, Which

COLOURS: dict[Which, str] = {"true": "0.25", "generated": "C0"}
BEHIND = "0.65"
PANEL = 3.6  # inches
STRIP = 1.15


def phase_figure(view: PhaseView, path: Path) -> Path:
    """Save the truth on the left and the rollout on the right, a row for each plane; below, both against time."""
    heights = [PANEL] * len(view.planes) + [STRIP] * len(view.times)
    with saved_figure(path, size=(2 * PANEL + 0.8, sum(heights) + 0.9)) as figure:
        title = f"{view.model or 'the model'}, rollout of {view.steps} steps: {view.outcome}"
        figure.suptitle(title, fontsize=11, parse_math=False)
        grid = figure.add_gridspec(len(heights), 2, height_ratios=heights)
        for row, plane in enumerate(view.planes):
            left = figure.add_subplot(grid[row, 0])
            right = figure.add_subplot(grid[row, 1], sharex=left, sharey=left)
            draw_trajectory(left, plane, "true")
            draw_trajectory(right, plane, "generated")
        for row, one in enumerate(view.times, start=len(view.planes)):
            is_last = row == len(heights) - 1
            draw_times(figure.add_subplot(grid[row, :]), one, first=row == len(view.planes), last=is_last)
    return path


def draw_trajectory(axes: Any, plane: PhasePlane, which: Which) -> None:
    """Draw one trajectory in its plane."""
    points = getattr(plane, which)
    axes.plot([x for x, _ in points], [y for _, y in points], color=COLOURS[which], linewidth=0.6)
    axes.set_title({"true": "true", "generated": "generated, on its own output"}[which], fontsize=9, loc="left")
    axes.set_xlabel(plane.across, parse_math=False)
    axes.set_ylabel(plane.up, parse_math=False)
    light_grid(axes)


def draw_times(axes: Any, one: PhaseTimes, *, first: bool, last: bool) -> None:
    """Draw the actual and the generated values of one coordinate, step by step."""
    axes.plot(range(1, len(one.true) + 1), one.true, color=BEHIND, linewidth=2.4, label="true")
    axes.plot(range(1, len(one.generated) + 1), one.generated, color="C0", linewidth=0.9, label="generated")
    axes.set_ylabel(one.channel, parse_math=False)
    axes.set_xlim(left=0)
    if first:
        axes.legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    if last:
        axes.set_xlabel("steps on its own output")
    light_grid(axes)
