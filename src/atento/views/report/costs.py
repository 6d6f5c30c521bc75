"""Quality against cost: one point for each model, its interval as a whisker, and the Pareto front of the best bargains.

Data for the script of the page, and an SVG of the first cost for paper.
"""

from collections.abc import Mapping, Sequence

from atento.views.html import Markup, tag
from atento.views.report.board import Comparison, Row
from atento.views.report.chart_data import ChartAxis, ChartData, ChartSeries
from atento.views.report.charts import (
    COLOURS,
    LABEL_GAP,
    LETTER,
    Point,
    drawing,
    ends_of,
    grid,
    level_axis,
    marker,
    points_of,
)
from atento.views.report.scales import Axis, bounds, power_bounds, tick_label
from atento.views.wording import is_number, score, shortened

COSTS = (
    ChartAxis(key="parameters", name="parameters", smaller_is_better=True, log=True),
    ChartAxis(key="seconds", name="training time", kind="duration", smaller_is_better=True, log=True),
    ChartAxis(key="predictions_per_second", name="predictions/s", kind="rate", smaller_is_better=False, log=True),
    ChartAxis(key="peak_mb", name="peak memory", kind="memory", smaller_is_better=True),
)
BESIDE = 12.0  # pixels between a point and its name
LONGEST_NAME = 40
NOISE = 1e-4  # relative difference of two values that are equal but for rounding
EDGE = 34.0  # pixels for what costs nothing, left of a logarithmic axis


def cost_data(board: Comparison) -> ChartData:
    """Every model with its costs, and with every metric and its interval."""
    rows = board.ranked()
    return ChartData(
        name="costs",
        label=f"{board.metric} against cost",
        kind="scatter",
        x=known_costs(rows),
        y=[
            ChartAxis(key=name, name=name, smaller_is_better=board.smaller_is_better if name == board.metric else None)
            for name in (board.metric, *(name for name in board.metrics if name != board.metric))
        ],
        series=[
            ChartSeries(
                name=row.model,
                colour=board.series()[row.model],
                style="baseline" if row.baseline else "",
                tables={"points": point_of(board, row)},
            )
            for row in rows
        ],
    )


def known_costs(rows: Sequence[Row]) -> list[ChartAxis]:
    """The costs that differ among the models."""
    return [axis for axis in COSTS if len({value for row in rows if is_number(value := getattr(row, axis.key))}) > 1]


def point_of(board: Comparison, row: Row) -> dict[str, list[float | None]]:
    """The costs of a model and its metrics as columns of one number."""
    columns: dict[str, list[float | None]] = {axis.key: [getattr(row, axis.key)] for axis in COSTS}
    scores = {**row.scores, board.metric: row.interval}
    for name, ends in scores.items():
        columns |= dict(zip((name, f"{name} low", f"{name} high"), ([end] for end in ends), strict=True))
    return columns


def pareto_front(rows: Sequence[Row], cost: ChartAxis, *, smaller_is_better: bool) -> list[Row]:
    """The models that no other one beats both in cost and in quality, the cheapest first."""
    sign, quality = (1 if cost.smaller_is_better else -1), (1 if smaller_is_better else -1)
    pairs = [
        (sign * getattr(row, cost.key), quality * row.interval.value, row)
        for row in rows
        if is_number(getattr(row, cost.key))
    ]
    front: list[Row] = []
    best = float("inf")
    for _, value, row in sorted(pairs, key=lambda pair: pair[:2]):
        if value < best - NOISE * abs(value):
            best = value
            front.append(row)
    return front


def cost_chart(board: Comparison, cost: ChartAxis, *, width: float, height: float) -> Markup:
    """The SVG of one cost: a marker with its whisker for each model, its name beside it, the front as a line."""
    rows = [row for row in board.ranked() if is_number(getattr(row, cost.key))]
    across, left = cost_scale(rows, cost, stop=width - 36)
    ends = [end for row in rows for end in row.interval if is_number(end)]
    base = height - 44  # the height of the horizontal axis
    up = Axis(*bounds(ends), base - 14, 14.0)
    places = {
        row.model: Point(place_of(getattr(row, cost.key), across, left), up.place(row.interval.value)) for row in rows
    }
    front = pareto_front(rows, cost, smaller_is_better=board.smaller_is_better)
    marks = []
    for row in rows:
        number, place = board.series()[row.model], places[row.model]
        if is_number(row.low) and is_number(row.high):
            low, high = up.place(row.interval.low), up.place(row.interval.high)
            marks.append(tag("path", class_="whisker", d=ends_of(Point(place.x, low), Point(place.x, high))))
        marks.append(tag("g", marker(place, number), class_=f"curve s{number % COLOURS}"))
    labels = names_beside(board, rows, places, width)
    ticks = {tick: tick_label(tick) for tick in across.ticks(5)}
    spoken = "; ".join(f"{row.model} {score(row.value)} at {getattr(row, cost.key):,.4g}" for row in rows)
    return drawing(
        width,
        height,
        grid(up, across._replace(start=left)),
        level_axis(across, base, ticks, cost.name),
        tag("text", "0", class_="tick", x=left, y=base + 18, text_anchor="middle") if left < across.start else "",
        tag("polyline", class_="front", points=points_of([places[row.model] for row in front])),
        *marks,
        *labels,
        label=f"{board.metric} against {cost.name}. {spoken}.",
        class_="curves",
    )


def names_beside(board: Comparison, rows: Sequence[Row], places: Mapping[str, Point], width: float) -> list[Markup]:
    """The name of each point, on the side where there is room, moved down where two would meet."""
    taken = [(place.x - 6, place.x + 6, place.y) for place in places.values()]  # left, right and height
    labels = []
    for row in sorted(rows, key=lambda row: places[row.model].y):
        place, size = places[row.model], len(row.model) * LETTER
        is_right = place.x + BESIDE + size < width
        left, y = (place.x + BESIDE if is_right else place.x - BESIDE - size), place.y
        while any(abs(y - other) < LABEL_GAP and start < left + size and left < stop for start, stop, other in taken):
            y += 2.0
        taken.append((left, left + size, y))
        anchor = {"x": left if is_right else left + size, "y": y + 4, "text_anchor": "start" if is_right else "end"}
        colour = f"label s{board.series()[row.model] % COLOURS}"
        labels.append(tag("g", tag("text", shortened(row.model, LONGEST_NAME), **anchor), class_=colour))
    return labels


def cost_scale(rows: Sequence[Row], cost: ChartAxis, *, stop: float) -> tuple[Axis, float]:
    """The scale of a cost, and where what costs nothing stands."""
    values = [float(getattr(row, cost.key)) for row in rows]
    some = [value for value in values if value > 0]
    if not cost.log or not some:
        return Axis(*bounds(values), 56.0, stop), 56.0
    room = EDGE if len(some) < len(values) else 0.0
    return Axis(*power_bounds(some), 56.0 + room, stop, steep=True), 56.0


def place_of(value: float, across: Axis, left: float) -> float:
    """Where a cost stands; nothing has no logarithm and stands left of all else."""
    return left if across.steep and value <= 0 else across.place(value)
