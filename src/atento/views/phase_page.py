"""Phase portraits as a page of its own."""

from collections.abc import Mapping, Sequence
from typing import Any

from atento.views.html import Markup, document, joined, tag
from atento.views.report.charts import Point, drawing, grid
from atento.views.report.scales import Scale, tick_label

View = Mapping[str, Any]  # what `atento.views.phase.phase_view` gives

SIDE = 480.0
WIDTH, HEIGHT = 1000.0, 170.0
LEFT, RIGHT, BOTTOM = 56.0, 20.0, 44.0
MARGIN = 0.04  # of the range, around it
HEADINGS = {
    "histogram": "wrong places",
    "mean": "mean off",
    "spread": "spread",
    "spectrum": "spectrum off",
    "returns": "maxima off",
}


def render_phase(view: View) -> str:
    """A single HTML file: what became of the run, the portraits, both against time, and the climate."""
    name = view["model"] or "the model"
    header = tag(
        "header",
        tag("p", f"atento · a free run of {name} on {view['data'] or 'its data'}", class_="kicker"),
        tag("p", f"{name}, free for {view['steps']} steps, {view['fate']}.", class_="verdict"),
    )
    words = "Left the truth, right what the model generates by reading its own output again and again."
    pairs = [
        tag("div", portrait(one, "true"), portrait(one, "generated"), class_="tiles portraits")
        for one in view["planes"]
    ]
    portraits = tag("section", tag("p", words), *pairs, id="portraits")
    times = tag(
        "section",
        tag("p", "The first steps: what came (grey) and what was generated (coloured)."),
        *(tag("figure", against_time(one)) for one in view["beside"]),
        id="times",
    )
    return document(f"{name}: phase portrait", header, tag("main", portraits, times, climate_table(view)))


def portrait(plane: Mapping[str, Any], which: str) -> Markup:
    """One path in its plane; both of a pair have the same scales."""
    across, up = plane_scales(plane)
    points = [Point(across.place(x), up.place(y)) for x, y in plane[which]]
    words = {"true": "true", "generated": "generated"}[which]
    label = f"{words}: {plane['up']} against {plane['across']}, {len(points)} points"
    line = path(points, "accent" if which == "generated" else "true")
    axis = level_axis(across, up, plane["across"])
    figure = drawing(SIDE, SIDE, grid(up, across), axis, line, label=label, class_="curves")
    return tag("figure", tag("figcaption", tag("strong", words), f" · {plane['up']} upwards"), figure)


def plane_scales(plane: Mapping[str, Any]) -> tuple[Scale, Scale]:
    """Limits that hold both paths."""
    points = [*plane["true"], *plane["generated"]]
    low, high = limits([x for x, _ in points])
    bottom, top = limits([y for _, y in points])
    return Scale(low, high, LEFT, SIDE - RIGHT), Scale(bottom, top, SIDE - BOTTOM, 8.0)


def limits(values: Sequence[float]) -> tuple[float, float]:
    """From the least to the greatest, and a little more on both sides."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    margin = MARGIN * (high - low) or 1.0
    return low - margin, high + margin


def level_axis(across: Scale, up: Scale, name: str) -> Markup:
    """Round numbers below, and what they are."""
    ticks = [
        tag("text", tick_label(tick), class_="tick", x=across.place(tick), y=up.start + 18, text_anchor="middle")
        for tick in across.ticks(6)
    ]
    line = tag("line", class_="axis", x1=across.start, x2=across.stop, y1=up.start, y2=up.start)
    return joined(line, *ticks, tag("text", name, class_="tick", x=across.stop, y=up.start + 36, text_anchor="end"))


def path(points: Sequence[Point], kind: str) -> Markup:
    """A line through all points; report.css knows its kinds."""
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return tag("polyline", class_=f"path {kind}", points=places)


def against_time(one: Mapping[str, Any]) -> Markup:
    """What came and what was generated, step by step."""
    values = [*one["true"], *one["generated"]]
    low, high = limits(values)
    steps = max(len(one["true"]), len(one["generated"]), 2)
    across, up = Scale(0.0, float(steps), LEFT, WIDTH - RIGHT), Scale(low, high, HEIGHT - BOTTOM, 8.0)
    lines = [
        path([Point(across.place(step), up.place(value)) for step, value in enumerate(one[which], start=1)], kind)
        for which, kind in (("true", "behind"), ("generated", "accent"))
    ]
    name = f"{one['channel']} · steps on its own output"
    label = f"{one['channel']} against time, true and generated"
    return drawing(WIDTH, HEIGHT, grid(up, across), level_axis(across, up, name), *lines, label=label, class_="curves")


def climate_table(view: View) -> Markup:
    """A row a coordinate."""
    rows = [
        tag(
            "tr",
            tag("th", channel, scope="row"),
            *(tag("td", cell(view["climate"][key][at]), class_="number") for key in HEADINGS),
        )
        for at, channel in enumerate(view["channels"])
    ]
    heads = [tag("th", heading, scope="col", class_="number") for heading in HEADINGS.values()]
    head = tag("thead", tag("tr", tag("th", "coordinate", scope="col"), *heads))
    words = (
        "Long after the two have parted, the statistics should agree: the share of time spent in the wrong places, the "
        "difference of means and the ratio of spreads, Hellinger's distance of the power spectra, and how far maxima "
        "that follow each other lie off the truth's map. 0 means as the truth; of the spread, 1."
    )
    table = tag("div", tag("table", head, tag("tbody", *rows)), class_="scroll")
    return tag("section", tag("p", words), table, id="climate")


def cell(number: float | None) -> str:
    """Three digits; what is infinite is a dash."""
    return "–" if number is None else f"{number:.3f}"
