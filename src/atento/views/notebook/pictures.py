"""Small pictures as SVG: a heat map whose numbers are the opacity of blue and orange, so that it suits a light and a
dark page, and a chart of lines.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from atento.data.images.png import png_uri
from atento.views.attention.alignment import printable
from atento.views.attention.terminal import columns_of
from atento.views.html import Markup, tag
from atento.views.report.charts import COLOURS, Point, drawing, end_labels, grid, level_axis, points_of
from atento.views.report.scales import Axis, bounds, fitting, tick_label
from atento.views.wording import shortened

# Axes: Q queries, K keys.

BLUE, ORANGE = (31, 119, 190), (201, 101, 27)  # of positive and of negative numbers
CELL, SMALLEST_LABELLED, MOST_LABELS = 18.0, 9.0, 48
LARGEST, SMALLEST = 460.0, 120.0  # of the longer and the shorter side
LETTER, LONGEST = 6.6, 14  # pixels of a letter, letters of a label
LABEL_SIZE = 11
WIDTH, HEIGHT, NAMES = 640.0, 190.0, 150.0  # of a chart, and of the names beside it
LETTERS = 20  # of such a name


def heat_map(
    weights: NDArray[np.floating], *, queries: Sequence[str] = (), keys: Sequence[str] = (), label: str
) -> Markup:
    """The weights (Q, K), a row for each query; labels stand beside it where they are few enough to be read.

    The largest weight has the full colour, and the root makes small ones visible; NaN is left blank.
    """
    rows, columns = weights.shape
    cell = min(CELL, LARGEST / max(rows, columns, 1))
    across, down = (max(cell, min(CELL, SMALLEST / max(count, 1))) for count in (columns, rows))
    named = bool(len(queries) and len(keys)) and max(rows, columns) <= MOST_LABELS and cell >= SMALLEST_LABELLED
    left = LETTER * longest(queries) + 8 if named else 0.0
    top = LETTER * longest(keys) + 14 if named else 0.0
    size = {"x": left, "y": top, "width": max(columns * across, 1.0), "height": max(rows * down, 1.0)}
    parts = [
        tag("rect", **size, class_="heat-frame"),
        tag("image", href=as_image(weights), **size, preserveAspectRatio="none"),
    ]
    if named:
        parts += [axis_label(token, left - 6, top + (at + 0.5) * down + 4) for at, token in enumerate(queries)]
        parts += [turned_label(token, left + (at + 0.5) * across + 4, top - 6) for at, token in enumerate(keys)]
    return drawing(left + size["width"] + 1, top + size["height"] + 1, *parts, label=label, class_="heat-map")


def longest(tokens: Sequence[str]) -> int:
    """How many letters the longest label is wide; those of Chinese and the like count twice."""
    return max((columns_of(cut(token)) for token in tokens), default=0)


def axis_label(token: str, x: float, y: float) -> Markup:
    """The name of a row."""
    return tag("text", cut(token), x=x, y=y, class_="tick", text_anchor="end", font_size=LABEL_SIZE)


def turned_label(token: str, x: float, y: float) -> Markup:
    """The name of a column, from below upwards."""
    place = f"translate({x:.1f} {y:.1f}) rotate(-90)"
    return tag("text", cut(token), class_="tick", transform=place, font_size=LABEL_SIZE)


def cut(token: str) -> str:
    """A token as a label."""
    return shortened(printable(token), LONGEST)


def as_image(weights: NDArray[np.floating]) -> str:
    """A pixel for each number, as a data URI: blue, or orange below 0, the more opaque the larger."""
    numbers = np.nan_to_num(np.asarray(weights, dtype=np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    shares = np.sqrt(np.abs(numbers) / (float(np.abs(numbers).max(initial=0.0)) or 1.0))
    pixels = np.empty((*shares.shape, 4), dtype=np.uint8)
    pixels[..., :3] = np.where(numbers[..., None] < 0, ORANGE, BLUE)
    pixels[..., 3] = np.round(255 * shares)
    return png_uri(pixels)


def line_chart(
    curves: Sequence[tuple[str, Sequence[Point]]], *, across: str, label: str, errors: bool = False
) -> Markup:
    """A line for each curve with its name at the end, against what `across` names; `errors`: the numbers are errors."""
    points = [point for _, places in curves for point in places]
    values = [point.y for point in points]
    up = fitting(values, HEIGHT - 42, 10.0, errors=True) if errors else Axis(*bounds(values), HEIGHT - 42, 10.0)
    left = 14 + LETTER * max((len(tick_label(tick)) for tick in up.ticks(5)), default=4)
    first, last = min(point.x for point in points), max(point.x for point in points)
    level = Axis(first, last if last > first else first + 1.0, left, WIDTH - NAMES)
    lines, ends = [], []
    for number, (name, places) in enumerate(curves):
        drawn = [Point(level.place(x), up.place(y)) for x, y in places]
        colour = f"s{number % COLOURS}"
        lines.append(tag("g", tag("polyline", class_="line", points=points_of(drawn)), class_=f"curve {colour}"))
        ends.append((name, colour, drawn[-1]))
    ticks = {tick: tick_label(tick) for tick in level.ticks(5)}
    names = end_labels(ends, level, up, letters=LETTERS)
    parts = (grid(up, level), level_axis(level, up.start, ticks, across), *lines, *names)
    return drawing(WIDTH, HEIGHT, *parts, label=label, class_="lines-chart")
