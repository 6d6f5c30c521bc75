"""Phase portraits as a page of their own and as a figure file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from atento.views.figures import light_grid, saved_figure
from atento.views.html import Markup, embed, joined, page, table, tag
from atento.views.notebook.pictures import line_chart
from atento.views.phase import (
    HEADINGS,
    Divergence,
    PhasePlane,
    PhaseSpace,
    PhaseTimes,
    PhaseView,
    Which,
    statistic,
)
from atento.views.report.chart_data import ChartAxis, ChartData, ChartSeries, Column, live_chart
from atento.views.report.charts import Point, drawing, grid, level_axis, points_of
from atento.views.report.scales import Axis, tick_label
from atento.views.saving import save_view
from atento.views.wording import is_number

SIDE = 480.0
WIDTH, HEIGHT = 1000.0, 170.0
LEFT, RIGHT, BOTTOM = 56.0, 20.0, 44.0
MARGIN = 0.04  # of the range, around it
COLOURS: dict[Which, str] = {"true": "0.25", "generated": "C0"}
BEHIND = "0.65"
PANEL = 3.6  # inches
STRIP = 1.15


def save_phase(view: PhaseView, path: str | Path) -> Path:
    """Save a page, a figure or JSON, by the name of the file."""
    return save_view(view, path, page=render_phase, figure=phase_figure)


def render_phase(view: PhaseView) -> str:
    """A single HTML file: the outcome of the rollout, the portraits, both against time, and the climate."""
    name = view.model or "the model"
    opening = [tag("p", f"{name}, rollout of {view.steps} steps: {view.outcome}.", class_="verdict")]
    text = "Left the true trajectory, right the one that the model generates from its own output."
    pairs = [
        tag("div", portrait(one, "true"), portrait(one, "generated"), class_="tiles portraits") for one in view.planes
    ]
    portraits = tag("section", tag("h2", "Planes"), tag("p", text), *pairs, id="portraits")
    times = tag(
        "section",
        tag("p", "The first steps: actual values and generated ones."),
        *(times_chart(one, at, view.divergence) for at, one in enumerate(view.times, start=1)),
        id="times",
    )
    kicker = f"a rollout of {name} on {view.data or 'its data'}"
    sections = (space_section(view), portraits, divergence_section(view), times, climate_table(view))
    return page(f"{name}: phase portrait", kicker, opening, *sections)


def space_section(view: PhaseView) -> Markup:
    """Both trajectories in three dimensions, which a script turns."""
    if view.space is None:
        return Markup()
    names = view.space.names
    if view.lag:
        text = f"{names[0]}, {names[1]} and {names[2]}: a single coordinate at three times (delay embedding)."
    else:
        text = f"The coordinates {', '.join(names)}."
    hint = "Drag to turn both; with the keyboard, arrows turn, + and − zoom, 0 resets."
    return tag(
        "section",
        tag("h2", "In three dimensions"),
        tag("p", f"{text} {hint}"),
        tag("div", class_="space", data_space="space-data"),
        tag("noscript", tag("p", "Turning needs JavaScript; the planes below show the same.")),
        embed(vars(view.space), name="space-data"),
        id="space",
    )


def divergence_section(view: PhaseView) -> Markup:
    """The error of the rollout against steps or Lyapunov times."""
    found = view.divergence
    if found is None or len(found.errors) < 2:
        return Markup()
    steps = list(range(1, len(found.errors) + 1))
    columns: dict[str, Column] = {"step": steps, "error": found.errors}
    axes = [ChartAxis(key="step", name="steps on its own output")]
    if found.lyapunov:
        columns["lyapunov"] = [step * found.lyapunov for step in steps]
        axes = [ChartAxis(key="lyapunov", name="Lyapunov times"), *axes]
    data = ChartData(
        name="divergence",
        label="error of the rollout against time",
        x=axes,
        y=[ChartAxis(key="error", name="error in standard deviations", log=True)],
        series=[
            ChartSeries(name="error", colour=0, tables={"points": columns}),
            ChartSeries(
                name=f"{found.threshold:g}", colour=0, tables={}, levels={"error": found.threshold}, style="baseline"
            ),
        ],
        height=300,
    )
    text = f"From the start of the test part {found.sentence}."
    if found.lyapunov:
        text += " In one Lyapunov time a small error grows e-fold, whatever the model."
    unit = found.lyapunov or 1.0
    points = [Point(at * unit, error) for at, error in zip(steps, found.errors, strict=True) if is_number(error)]
    drawn = line_chart([("error", points)], across=axes[0].name, label=text, errors=True) if len(points) > 1 else ""
    return tag("section", tag("h2", "Divergence"), tag("p", text), live_chart(data, drawn), id="divergence")


def portrait(plane: PhasePlane, which: Which) -> Markup:
    """One trajectory in its plane; both of a pair have the same scales."""
    across, up = plane_scales(plane)
    points = [Point(across.place(x), up.place(y)) for x, y in getattr(plane, which)]
    label = f"{which}: {plane.up} against {plane.across}, {len(points)} points"
    line = path(points, "accent" if which == "generated" else "true")
    axis = level_axis(across, up.start, round_ticks(across), plane.across)
    figure = drawing(SIDE, SIDE, grid(up, across), axis, line, label=label, class_="curves")
    return tag("figure", tag("figcaption", tag("strong", which), f" · {plane.up} upwards"), figure)


def plane_scales(plane: PhasePlane) -> tuple[Axis, Axis]:
    """Scales that hold both trajectories."""
    points = [*plane.true, *plane.generated]
    low, high = limits([x for x, _ in points])
    bottom, top = limits([y for _, y in points])
    return Axis(low, high, LEFT, SIDE - RIGHT), Axis(bottom, top, SIDE - BOTTOM, 8.0)


def limits(values: Sequence[float]) -> tuple[float, float]:
    """The least and the greatest value, with a margin on both sides."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    margin = MARGIN * (high - low) or 1.0
    return low - margin, high + margin


def round_ticks(across: Axis) -> dict[float, str]:
    """Round numbers of an axis with their labels."""
    return {tick: tick_label(tick) for tick in across.ticks(6)}


def path(points: Sequence[Point], kind: str) -> Markup:
    """A line through all points; its kind is a class of page.css."""
    return tag("polyline", class_=f"path {kind}", points=points_of(points))


def times_chart(one: PhaseTimes, number: int, found: Divergence | None) -> Markup:
    """One coordinate against steps, or Lyapunov times where they are known."""
    lyapunov = found.lyapunov if found is not None else 0.0
    axes = [ChartAxis(key="step", name="steps on its own output")]
    if lyapunov:
        axes.append(ChartAxis(key="lyapunov", name="Lyapunov times"))

    def columns(values: Sequence[float]) -> dict[str, Column]:
        steps = list(range(1, len(values) + 1))
        return {"step": steps, "value": values, "lyapunov": [step * lyapunov for step in steps]}

    data = ChartData(
        name=f"times-{number}",
        label=f"{one.channel} against time, true and generated",
        x=axes,
        y=[ChartAxis(key="value", name=one.channel)],
        series=[
            ChartSeries(name="true", colour=0, style="plain", tables={"points": columns(one.true)}),
            ChartSeries(name="generated", colour=0, tables={"points": columns(one.generated)}),
        ],
        height=200,
    )
    return joined(tag("h3", one.channel, dir="auto"), live_chart(data, against_time(one)))


def against_time(one: PhaseTimes) -> Markup:
    """The actual and the generated values of one coordinate, step by step."""
    low, high = limits([*one.true, *one.generated])
    steps = max(len(one.true), len(one.generated), 2)
    across, up = Axis(0.0, float(steps), LEFT, WIDTH - RIGHT), Axis(low, high, HEIGHT - BOTTOM, 8.0)
    lines = [
        path([Point(across.place(step), up.place(value)) for step, value in enumerate(values, start=1)], kind)
        for values, kind in ((one.true, "behind"), (one.generated, "accent"))
    ]
    axis = level_axis(across, up.start, round_ticks(across), f"{one.channel} · steps on its own output")
    label = f"{one.channel} against time, true and generated"
    return drawing(WIDTH, HEIGHT, grid(up, across), axis, *lines, label=label, class_="curves")


def climate_table(view: PhaseView) -> Markup:
    """The statistics of the rollout against those of the truth, a row for each coordinate."""
    rows = [
        (channel, *(statistic(view.climate[key][at]) for key in HEADINGS)) for at, channel in enumerate(view.channels)
    ]
    text = (
        "Long after two chaotic trajectories have diverged, their statistics should agree: total variation distance of "
        "the histograms, difference of the means in standard deviations, ratio of the standard deviations, Hellinger "
        "distance of the power spectra, and distance of successive maxima to the return map of the truth. 0 is the "
        "same as the truth; for the ratio, 1."
    )
    found = table(("coordinate", *HEADINGS.values()), rows, class_="number")
    return tag("section", tag("p", text), found, id="climate")


def phase_figure(view: PhaseView, path: Path) -> Path:
    """Save the truth on the left and the rollout on the right, a row for each plane; below, both against time."""
    spaces = [] if view.space is None else [view.space]
    shows_error = view.divergence is not None and len(view.divergence.errors) > 1
    heights = [PANEL] * (len(spaces) + len(view.planes)) + [STRIP] * (len(view.times) + shows_error)
    with saved_figure(path, size=(2 * PANEL + 0.8, sum(heights) + 0.9)) as figure:
        title = f"{view.model or 'the model'}, rollout of {view.steps} steps: {view.outcome}"
        figure.suptitle(title, fontsize=11, parse_math=False)
        grid = figure.add_gridspec(len(heights), 2, height_ratios=heights)
        for space in spaces:
            for column, which in enumerate(COLOURS):
                draw_space(figure.add_subplot(grid[0, column], projection="3d"), space, which)
        for row, plane in enumerate(view.planes, start=len(spaces)):
            left = figure.add_subplot(grid[row, 0])
            right = figure.add_subplot(grid[row, 1], sharex=left, sharey=left)
            draw_trajectory(left, plane, "true")
            draw_trajectory(right, plane, "generated")
        first = len(spaces) + len(view.planes)
        for row, one in enumerate(view.times, start=first):
            is_last = row == first + len(view.times) - 1
            draw_times(figure.add_subplot(grid[row, :]), one, first=row == first, last=is_last)
        if view.divergence is not None and shows_error:
            draw_divergence(figure.add_subplot(grid[-1, :]), view.divergence)
    return path


def draw_space(axes: Any, space: PhaseSpace, which: Which) -> None:
    """Draw one trajectory in three dimensions, on the scales of the true one."""
    points = np.array(getattr(space, which)).reshape(-1, 3)
    axes.plot(*points.T, color=COLOURS[which], linewidth=0.5)
    axes.set_title({"true": "true", "generated": "generated, on its own output"}[which], fontsize=9, loc="left")
    both = np.array([*space.true, *space.generated]).reshape(-1, 3)
    for letter, name, column in zip("xyz", space.names, both.T, strict=True):
        getattr(axes, f"set_{letter}label")(name, parse_math=False)
        getattr(axes, f"set_{letter}lim")(column.min(initial=0.0), column.max(initial=0.0))


def draw_divergence(axes: Any, found: Divergence) -> None:
    """Draw the error against time on a logarithmic scale."""
    times = np.arange(1, len(found.errors) + 1) * (found.lyapunov or 1.0)
    axes.plot(times, found.errors, color="C0", linewidth=1.0)
    axes.axhline(found.threshold, color="0.5", linewidth=0.8, linestyle=(0, (5, 4)))
    axes.set_yscale("log")
    axes.set_ylabel("error (std)")
    axes.set_xlabel("Lyapunov times" if found.lyapunov else "steps on its own output")
    axes.set_xlim(left=0)
    light_grid(axes)


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
