"""Phase portraits as a page of their own; saving a phase portrait."""

from collections.abc import Sequence
from pathlib import Path

from atento.views.html import Markup, document, joined, tag
from atento.views.phase import HEADINGS, PhasePlane, PhaseTimes, PhaseView, Which, statistic
from atento.views.phase_figure import phase_figure
from atento.views.report.charts import Point, drawing, grid
from atento.views.report.scales import Axis, tick_label
from atento.views.saving import save_view

SIDE = 480.0
WIDTH, HEIGHT = 1000.0, 170.0
LEFT, RIGHT, BOTTOM = 56.0, 20.0, 44.0
MARGIN = 0.04  # of the range, around it


def save_phase(view: PhaseView, path: str | Path) -> Path:
    """Save a page, a figure or JSON, by the name of the file."""
    return save_view(view, path, page=render_phase, figure=phase_figure)


def render_phase(view: PhaseView) -> str:
    """A single HTML file: the outcome of the rollout, the portraits, both against time, and the climate."""
    name = view.model or "the model"
    header = tag(
        "header",
        tag("p", f"atento · a rollout of {name} on {view.data or 'its data'}", class_="kicker"),
        tag("p", f"{name}, rollout of {view.steps} steps: {view.outcome}.", class_="verdict"),
    )
    text = "Left the true trajectory, right the one that the model generates from its own output."
    pairs = [
        tag("div", portrait(one, "true"), portrait(one, "generated"), class_="tiles portraits") for one in view.planes
    ]
    portraits = tag("section", tag("p", text), *pairs, id="portraits")
    times = tag(
        "section",
        tag("p", "The first steps: actual values (grey) and generated ones (coloured)."),
        *(tag("figure", against_time(one)) for one in view.times),
        id="times",
    )
    return document(f"{name}: phase portrait", header, tag("main", portraits, times, climate_table(view)))


def portrait(plane: PhasePlane, which: Which) -> Markup:
    """One trajectory in its plane; both of a pair have the same scales."""
    across, up = plane_scales(plane)
    points = [Point(across.place(x), up.place(y)) for x, y in getattr(plane, which)]
    label = f"{which}: {plane.up} against {plane.across}, {len(points)} points"
    line = path(points, "accent" if which == "generated" else "true")
    axis = level_axis(across, up, plane.across)
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


def level_axis(across: Axis, up: Axis, name: str) -> Markup:
    """The horizontal axis: round numbers, and the name of what they measure."""
    ticks = [
        tag("text", tick_label(tick), class_="tick", x=across.place(tick), y=up.start + 18, text_anchor="middle")
        for tick in across.ticks(6)
    ]
    line = tag("line", class_="axis", x1=across.start, x2=across.stop, y1=up.start, y2=up.start)
    return joined(line, *ticks, tag("text", name, class_="tick", x=across.stop, y=up.start + 36, text_anchor="end"))


def path(points: Sequence[Point], kind: str) -> Markup:
    """A line through all points; its kind is a class of report.css."""
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return tag("polyline", class_=f"path {kind}", points=places)


def against_time(one: PhaseTimes) -> Markup:
    """The actual and the generated values of one coordinate, step by step."""
    low, high = limits([*one.true, *one.generated])
    steps = max(len(one.true), len(one.generated), 2)
    across, up = Axis(0.0, float(steps), LEFT, WIDTH - RIGHT), Axis(low, high, HEIGHT - BOTTOM, 8.0)
    lines = [
        path([Point(across.place(step), up.place(value)) for step, value in enumerate(values, start=1)], kind)
        for values, kind in ((one.true, "behind"), (one.generated, "accent"))
    ]
    name = f"{one.channel} · steps on its own output"
    label = f"{one.channel} against time, true and generated"
    return drawing(WIDTH, HEIGHT, grid(up, across), level_axis(across, up, name), *lines, label=label, class_="curves")


def climate_table(view: PhaseView) -> Markup:
    """The statistics of the rollout against those of the truth, a row for each coordinate."""
    rows = [
        tag(
            "tr",
            tag("th", channel, scope="row"),
            *(tag("td", statistic(view.climate[key][at]), class_="number") for key in HEADINGS),
        )
        for at, channel in enumerate(view.channels)
    ]
    heads = [tag("th", heading, scope="col", class_="number") for heading in HEADINGS.values()]
    head = tag("thead", tag("tr", tag("th", "coordinate", scope="col"), *heads))
    text = (
        "Long after two chaotic trajectories have diverged, their statistics should agree: total variation distance of "
        "the histograms, difference of the means in standard deviations, ratio of the standard deviations, Hellinger "
        "distance of the power spectra, and distance of successive maxima to the return map of the truth. 0 is the "
        "same as the truth; for the ratio, 1."
    )
    table = tag("div", tag("table", head, tag("tbody", *rows)), class_="scroll")
    return tag("section", tag("p", text), table, id="climate")
