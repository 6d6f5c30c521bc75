"""Charts as inline SVG. Places are pixels of the viewBox; colours are classes of page.css (s0 is the accent)."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from atento.views.html import Markup, joined, tag
from atento.views.report.board import Comparison, Row
from atento.views.report.scales import STEEP, Axis, bounds, fitting, reach, space_labels, tick_label
from atento.views.wording import is_number, score, shortened

COLOURS = 8
# A colour-blind or printing reader tells lines by these: a path each, around the point (0, 0).
MARKERS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "M-3.5 -3.5h7v7h-7z",
    "M0 -4.5l4.5 8h-9z",
    "M0 -5l5 5l-5 5l-5 -5z",
    "M0 4.5l4.5 -8h-9z",
    "M-1.5 -4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
    "M-5 -2.5h10v5h-10z",
    "M-2.5 -5h5v10h-5z",
)
MARKED_POINTS = 8  # of a long curve only so many carry a marker
LETTER = 6.7  # the usual width of a letter at the labels' size
LABEL_GAP = 16

STRIP_WIDTH, STRIP_HEIGHT = 160, 46
CAP = 5.0  # half the length of the bars that end a whisker
CROWDED = 5  # dots of a panel, whose numbers must be short
SMALL = 0.01  # below which a number beside a dot shows more digits
PANEL_WIDTH, PANEL_HEIGHT = 220, 168


class Point(NamedTuple):
    """A point in a chart."""

    x: float
    y: float


def drawing(width: float, height: float, *inside: object, label: str = "", class_: str = "") -> Markup:
    """An SVG that shrinks with its box; without a label it only repeats what stands beside it."""
    spoken = {"role": "img", "aria_label": label} if label else {"aria_hidden": "true"}
    size = {"viewBox": f"0 0 {width:g} {height:g}", "width": width, "height": height}
    return tag("svg", *inside, class_=f"chart {class_}".rstrip(), **size, **spoken)


def strip_scale(board: Comparison) -> Axis:
    """The one scale of all dots and whiskers in the table; of errors without those that are far off."""
    rows, errors = board.ranked(), board.smaller_is_better
    ends = [end for row in rows for end in row.interval if is_number(end)]
    whole = fitting(ends, 16.0, STRIP_WIDTH - 16.0, errors=errors)
    if not errors or whole.steep:
        return whole
    pairs = [(low, high) if is_number(low) else (value, value) for value, low, high in (row.interval for row in rows)]
    most = reach([low for low, _ in pairs], [high for _, high in pairs])
    return fitting([min(end, most) for end in ends], whole.start, whole.stop, errors=errors)


def interval_strip(row: Row, scale: Axis, *, band: Row, accent: bool) -> Markup:
    """A dot for the value and a whisker for its interval, over the shaded interval of the winner."""
    middle = STRIP_HEIGHT / 2
    shaded = [scale.place(end) for end in (band.interval.low, band.interval.high) if is_number(end)]
    left, right = shaded if shaded else (0.0, 0.0)
    if is_off(row, scale):
        marks = [
            tag("path", class_="whisker off", d=f"M{scale.stop:g} {middle - CAP:g}l{CAP:g} {CAP:g}l-{CAP:g} {CAP:g}")
        ]
    else:
        place, *ends = (scale.place(min(end, scale.high)) for end in row.interval if is_number(end))
        whisker = [ends_of(Point(low, middle), Point(high, middle)) for low, high in (ends,)] if ends else []
        marks = [
            *(tag("path", class_="whisker", d=path) for path in whisker),
            tag("circle", class_="dot accent" if accent else "dot", cx=place, cy=middle, r=3.5),
        ]
    return drawing(
        STRIP_WIDTH,
        STRIP_HEIGHT,
        tag("rect", class_="band", x=left, y=0, width=max(right - left, 1.0), height=STRIP_HEIGHT) if shaded else "",
        tag("line", class_="axis", x1=scale.start, x2=scale.stop, y1=middle, y2=middle),
        *marks,
        class_="strip",
    )


def is_off(row: Row, scale: Axis) -> bool:
    """Whether a value is too far off to be shown."""
    return bool(row.interval.value > scale.high)


def ends_of(start: Point, stop: Point) -> str:
    """The path of a whisker: a level or upright line with a bar across each end."""
    if start.y == stop.y:
        bars = f"M{start.x:.2f} {start.y - CAP:g}v{2 * CAP:g}M{stop.x:.2f} {stop.y - CAP:g}v{2 * CAP:g}"
    else:
        bars = f"M{start.x - CAP:.2f} {start.y:.2f}h{2 * CAP:g}M{stop.x - CAP:.2f} {stop.y:.2f}h{2 * CAP:g}"
    return f"M{start.x:.2f} {start.y:.2f}L{stop.x:.2f} {stop.y:.2f}{bars}"


def strip_axis(scale: Axis) -> Markup:
    """The numbers over the column of dots."""
    ticks = scale.ticks(4)
    shown = [ticks[0], ticks[-1]] if len(ticks) > 1 else ticks
    labels = [
        tag("text", tick_label(tick), x=scale.place(tick), y=13, class_="tick", text_anchor="middle") for tick in shown
    ]
    return drawing(STRIP_WIDTH, 18, *labels, class_="strip")


def learning_curves(board: Comparison, *, width: float, height: float) -> Markup:
    """The metric on validation data against seconds of training: a line per model, its name at the end of it."""
    rows = [row for row in board.ranked() if curve_points(row)]
    if not rows:
        return Markup()
    aside = beyond(board)
    baselines = [row for row in board.ranked() if row.baseline and row not in aside]
    longest = max(len(row.model) for row in [*rows, *baselines])
    margin = min(longest * LETTER, width * 0.32)
    elapsed = max(point.x for row in rows for point in curve_points(row))
    values = [point.y for row in rows for point in curve_points(row)] + [row.interval.value for row in baselines]
    up = fitting(values, height - 44, 14.0, errors=board.smaller_is_better)
    left = max(42.0, 14 + LETTER * max(len(tick_label(tick)) for tick in up.ticks(5)))  # room for the numbers
    across = Axis(0.0, elapsed or 1.0, left, width - margin - 32)

    lines, ends = [], []
    for row in rows:
        number = board.series()[row.model]
        places = [Point(across.place(point.x), up.place(point.y)) for point in curve_points(row)]
        lines.append(curve(places, number))
        ends.append((row.model, f"s{number % COLOURS}", places[-1]))
    for row in baselines:
        level = up.place(row.interval.value)
        lines.append(tag("line", class_="baseline", x1=across.start, x2=across.stop, y1=level, y2=level))
        ends.append((row.model, "plain", Point(across.stop, level)))

    spoken = "; ".join(f"{row.model} ends at {score(curve_points(row)[-1].y)}" for row in rows)
    return drawing(
        width,
        height,
        grid(up, across),
        time_axis(across, y=up.start),
        *lines,
        *end_labels(ends, across, up, letters=int(margin / LETTER)),
        label=f"{board.metric} on validation data against seconds of training. {spoken}.",
        class_="curves",
    )


def beyond(board: Comparison) -> list[Row]:
    """Baselines, other than the best, whose error is so large that the curves would lie in one line beside it."""
    baselines = [row for row in board.ranked() if row.baseline]
    learned = [point.y for row in board.ranked() for point in curve_points(row)]
    if not board.smaller_is_better or not baselines or not learned:
        return []
    shown = [*learned, baselines[0].interval.value]
    low, high = min(shown), max(shown)
    if low > 0 and baselines[-1].interval.value > STEEP * low:  # powers of ten hold them all
        return []
    return [row for row in baselines[1:] if row.interval.value > high + (high - low)]


def curve_points(row: Row) -> list[Point]:
    """Elapsed seconds and metric of each validation that gave a number."""
    return [
        Point(point["elapsed"], point["value"])
        for point in row.curve
        if is_number(point.get("elapsed")) and is_number(point.get("value"))
    ]


def curve(places: Sequence[Point], number: int) -> Markup:
    """A line with markers at some of its points."""
    colour = f"s{number % COLOURS}"
    every = -(-len(places) // MARKED_POINTS)
    marked = places[::-1][::every]
    return tag(
        "g",
        tag("polyline", class_="line", points=points_of(places)),
        *(marker(place, number) for place in marked),
        class_=f"curve {colour}" + (" first" if number == 0 else ""),
    )


def marker(place: Point, number: int) -> Markup:
    """The marker of a series; past eight of them, another pair of colour and marker."""
    shape = MARKERS[(number + number // COLOURS) % len(MARKERS)]
    return tag("path", d=shape, class_="marker", transform=f"translate({place.x:.1f} {place.y:.1f})")


def end_labels(ends: Sequence[tuple[str, str, Point]], across: Axis, up: Axis, *, letters: int) -> list[Markup]:
    """The name of each line, cut to so many letters, in its colour beside the end of it, joined by a thin leader."""
    labels, x = [], across.stop + 20
    heights = space_labels([end.y for _, _, end in ends], gap=LABEL_GAP, bottom=up.start)
    for (name, colour, end), y in zip(ends, heights, strict=True):
        labels.append(end_label(shortened(name, letters), colour, end, x=x, y=y))
    return labels


def end_label(name: str, colour: str, end: Point, *, x: float, y: float) -> Markup:
    """A name at a place, and a thin leader to what it names."""
    leader = points_of([Point(end.x + 6, end.y), Point(x - 12, y), Point(x - 4, y)])
    return tag(
        "g", tag("polyline", class_="leader", points=leader), tag("text", name, x=x, y=y + 4), class_=f"label {colour}"
    )


def grid(up: Axis, across: Axis) -> Markup:
    """Level lines with their numbers."""
    parts = []
    for tick in up.ticks(5):
        level = up.place(tick)
        parts.append(tag("line", class_="grid", x1=across.start, x2=across.stop, y1=level, y2=level))
        parts.append(tag("text", tick_label(tick), class_="tick", x=across.start - 8, y=level + 4, text_anchor="end"))
    return joined(*parts)


def time_axis(across: Axis, *, y: float) -> Markup:
    """Round times under the chart, in the unit that suits their length."""
    size, unit = next(
        (size, unit)
        for size, unit in ((3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))
        if across.high >= 3 * size or size == 1.0
    )
    scale = across._replace(high=across.high / size)
    ticks = scale.ticks(max(3, int((across.stop - across.start) / 90)))
    return level_axis(scale, y, {tick: tick_label(tick) for tick in ticks}, f"{unit} of training")


def level_axis(across: Axis, y: float, ticks: Mapping[float, str], name: str) -> Markup:
    """A horizontal axis: numbers with their labels below it, and the name of what they measure."""
    labels = [
        tag("text", label, class_="tick", x=across.place(tick), y=y + 18, text_anchor="middle")
        for tick, label in ticks.items()
    ]
    line = tag("line", class_="axis", x1=across.start, x2=across.stop, y1=y, y2=y)
    return joined(line, *labels, tag("text", name, class_="tick", x=across.stop, y=y + 36, text_anchor="end"))


def points_of(places: Sequence[Point]) -> str:
    """The points of an SVG line."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def short(value: float) -> str:
    """Two digits behind the point; of a small number as many as say anything."""
    return score(value) if 0 < abs(value) < SMALL else f"{value:.2f}"


def beside_others(value: float, count: int) -> str:
    """The number beside a dot; among many dots no longer than four characters, so that two do not meet."""
    if count < CROWDED:
        return short(value)
    return "~0" if 0 < abs(value) < SMALL / 2 else f"{value:.2f}" if abs(value) < 10 else f"{value:.3g}"


def length_panel(row: Row, others: Sequence[Row], limits: tuple[float, float], *, accent: bool) -> Markup:
    """One model's value on short, middle and long sources, the other models faint behind it."""
    groups: Sequence[Mapping[str, Any]] = row.lengths
    up = Axis(*limits, PANEL_HEIGHT - 28.0, 22.0)
    across = Axis(-0.5, len(groups) - 0.5, 38.0, PANEL_WIDTH - 4.0)
    behind = [tag("polyline", class_="other", points=length_path(other, across, up)) for other in others]
    parts = []
    for number, group in enumerate(groups):
        x, y = across.place(number), up.place(group["value"])
        high = up.place(group["high"]) if is_number(group["high"]) else y
        if is_number(group["low"]):
            parts.append(tag("path", class_="whisker", d=ends_of(Point(x, up.place(group["low"])), Point(x, high))))
        parts += [
            tag("circle", class_="dot accent" if accent else "dot", cx=x, cy=y, r=3.5),
            tag(
                "text",
                beside_others(group["value"], len(groups)),
                class_="value",
                x=x,
                y=min(y, high) - 8,
                text_anchor="middle",
            ),
            tag("text", group["label"], class_="tick", x=x, y=PANEL_HEIGHT - 8.0, text_anchor="middle"),
        ]
    spoken = "; ".join(f"{score(group['value'])} for lengths {group['label']}" for group in groups)
    return drawing(
        PANEL_WIDTH,
        PANEL_HEIGHT,
        grid(up, across),
        *behind,
        tag("polyline", class_="own accent" if accent else "own", points=length_path(row, across, up)),
        *parts,
        label=f"{row.model}: {spoken}.",
        class_="panel",
    )


def length_path(row: Row, across: Axis, up: Axis) -> str:
    """The points of a line through the values of all lengths."""
    return points_of([Point(across.place(at), up.place(group["value"])) for at, group in enumerate(row.lengths)])


def length_limits(rows: Sequence[Row]) -> tuple[float, float]:
    """The one range of all panels."""
    ends = [group[end] for row in rows for group in row.lengths for end in ("value", "low", "high")]
    return bounds([end for end in ends if is_number(end)])
