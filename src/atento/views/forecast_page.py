"""Forecasts beside the actual values as a page of their own and as a section of a report; saving a forecast."""

from collections.abc import Sequence
from pathlib import Path

from atento.metrics.forecasts import are_coordinates
from atento.views.forecast import ChannelForecast, ForecastView
from atento.views.forecast_figure import forecast_figure, path_figure
from atento.views.html import Markup, joined, page, tag
from atento.views.report.charts import COLOURS, Point, drawing, end_labels, grid, level_axis, points_of
from atento.views.report.scales import Axis, bounds, tick_label
from atento.views.saving import save_view

WIDTH, HEIGHT, NAMES = 1000.0, 250.0, 190.0
LETTERS = 24  # of a line's name


def save_forecast(view: ForecastView, path: str | Path) -> Path:
    """Save a page, a figure or JSON, by the name of the file; two coordinates are drawn as a path in their plane."""
    is_path = len(view.shown) == 2 and are_coordinates(tuple(one.channel for one in view.shown))
    return save_view(view, path, page=render_forecast, figure=path_figure if is_path else forecast_figure)


def render_forecast(view: ForecastView) -> str:
    """A single HTML file with a chart for each channel."""
    verdict = tag("p", f"{view.model}, {view.steps} steps ahead", class_="verdict")
    opening = [verdict, tag("p", view.title, class_="more", dir="auto")]
    kicker = f"a forecast of {view.data or 'a series'}"
    return page(f"{view.model}: a forecast", kicker, opening, tag("section", *charts(view), id="forecast"))


def forecasts_section(views: Sequence[ForecastView]) -> Markup:
    """The section of a report: a few windows of the best model, its worst ones among them."""
    if not views:
        return Markup()
    text = "The past, the actual values and the forecast of the best trained model; thin: simple baselines."
    if views[0].levels:
        text += f" Shaded: between the quantiles {views[0].levels[0]:g} and {views[0].levels[-1]:g}."
    figures = [
        tag("figure", tag("figcaption", tag("bdi", f"{view.kind}: {view.title}")), *charts(view)) for view in views
    ]
    return joined(tag("p", text), *figures)


def charts(view: ForecastView) -> list[Markup]:
    """A heading and a chart for each channel that is shown."""
    return [joined(tag("h3", one.channel, dir="auto"), channel_chart(one, view)) for one in view.shown]


def channel_chart(one: ChannelForecast, view: ForecastView) -> Markup:
    """One channel against time: past, actual values, forecast over its interval, baselines thin."""
    past, actual, forecast = one.past, one.actual, one.forecast
    low, high = bounds([*past, *actual, *forecast, *one.low, *one.high])
    across = Axis(1.0 - len(past), float(max(len(forecast), 2)), 56.0, WIDTH - NAMES)
    up = Axis(low, high, HEIGHT - 40, 12.0)
    ahead = range(1, len(forecast) + 1)
    parts = [grid(up, across), steps_axis(across, up, view.step)]
    if one.low:
        outline = [*zip(ahead, one.high, strict=True), *reversed([*zip(ahead, one.low, strict=True)])]
        points = [Point(across.place(x), up.place(y)) for x, y in outline]
        parts.append(tag("polygon", class_="band", points=points_of(points)))
    lines: list[tuple[str, str, Sequence[int], Sequence[float]]] = [("", "plain", range(1 - len(past), 1), past)]
    if actual:
        lines.append(("actual", "plain", range(0, len(actual) + 1), [past[-1], *actual]))
    clipped = {name: [min(max(value, low), high) for value in values] for name, values in one.others.items()}
    lines += [
        (name, f"s{(place + 1) % COLOURS}", ahead, values) for place, (name, values) in enumerate(clipped.items())
    ]
    lines.append((view.model, "s0", ahead, forecast))
    ends = []
    for name, colour, steps, values in lines:
        places = [Point(across.place(step), up.place(value)) for step, value in zip(steps, values, strict=True)]
        parts.append(line(places, colour))
        if name:
            ends.append((name, colour, places[-1]))
    parts += end_labels(ends, across, up, letters=LETTERS)
    label = f"{one.channel}: the forecast of {view.model} beside the actual values, {view.steps} steps."
    return drawing(WIDTH, HEIGHT, *parts, label=label, class_="curves")


def line(places: Sequence[Point], colour: str) -> Markup:
    """A line through the places; the line of the forecast is bold."""
    if colour == "plain":
        return tag("polyline", class_="own", points=points_of(places))
    first = " first" if colour == "s0" else ""
    return tag("g", tag("polyline", class_="line", points=points_of(places)), class_=f"curve {colour}{first}")


def steps_axis(across: Axis, up: Axis, step: str) -> Markup:
    """The time axis with the distance of two steps, and a vertical line where the forecast begins."""
    ticks = {tick: tick_label(tick) if tick <= 0 else f"+{tick:g}" for tick in across.ticks(9) if tick == round(tick)}
    begin = across.place(0.5)
    line = tag("line", class_="baseline", x1=begin, x2=begin, y1=up.start, y2=up.stop)
    return joined(
        line, level_axis(across, up.start, ticks, f"steps of {step or '1 row'}, from the last step of the past")
    )
