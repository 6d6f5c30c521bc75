"""Forecasts beside the actual values as a page of their own and as a section of a report; saving a forecast.

Time stands on the horizontal axis: dates where the file has them, else steps from the last one of the past.
"""

from collections.abc import Sequence
from pathlib import Path

from atento.data.records import counted
from atento.metrics.forecasts import are_coordinates
from atento.views.forecast import ChannelForecast, ForecastView
from atento.views.forecast_figure import forecast_figure, path_figure
from atento.views.html import Markup, joined, page, tag
from atento.views.report.chart_data import ChartAxis, ChartData, ChartSeries, live_chart
from atento.views.report.charts import COLOURS, Point, drawing, end_labels, grid, level_axis, points_of
from atento.views.report.dates import date_ticks, milliseconds
from atento.views.report.scales import Axis, bounds, tick_label
from atento.views.saving import save_view

WIDTH, HEIGHT, NAMES = 1000.0, 250.0, 190.0
LIVE_HEIGHT = 290
LETTERS = 24  # of a line's name
DATE_WIDTH = 96.0  # pixels of a tick
UNITS = {
    "us": "microsecond",
    "ms": "millisecond",
    "s": "second",
    "min": "minute",
    "h": "hour",
    "d": "day",
    "wd": "working day",
    "mo": "month",
    "y": "year",
}


def save_forecast(view: ForecastView, path: str | Path) -> Path:
    """Save a page, a figure or JSON, by the name of the file; two coordinates are drawn as a path in their plane."""
    is_path = len(view.shown) == 2 and are_coordinates(tuple(one.channel for one in view.shown))
    return save_view(view, path, page=render_forecast, figure=path_figure if is_path else forecast_figure)


def render_forecast(view: ForecastView) -> str:
    """A single HTML file with a chart for each channel."""
    verdict = tag("p", f"{view.model}, {view.steps} steps ahead", class_="verdict")
    opening = [verdict, tag("p", view.title, class_="more", dir="auto")]
    kicker = f"a forecast of {view.data or 'a series'}"
    return page(f"{view.model}: a forecast", kicker, opening, tag("section", *charts(view, "forecast"), id="forecast"))


def forecasts_section(views: Sequence[ForecastView]) -> Markup:
    """The section of a report: a few windows of the best model, its worst ones among them."""
    if not views:
        return Markup()
    text = "The past, the actual values and the forecast of the best trained model; thin: simple baselines."
    if views[0].levels:
        low, high = views[0].levels[0], views[0].levels[-1]
        text += f" Shaded: between the quantiles {low:g} and {high:g}, which promise {high - low:.0%}."
    figures = [
        tag(
            "div",
            tag("p", tag("bdi", f"{view.kind}: {view.title}"), class_="window"),
            *charts(view, f"window-{number}"),
        )
        for number, view in enumerate(views, start=1)
    ]
    return joined(tag("p", text), *figures)


def charts(view: ForecastView, name: str) -> list[Markup]:
    """A heading and a chart for each channel that is shown."""
    return [
        joined(
            tag("h3", one.channel, dir="auto"),
            live_chart(channel_data(one, view, name=f"{name}-{at}"), channel_chart(one, view)),
        )
        for at, one in enumerate(view.shown, start=1)
    ]


def places_in_time(one: ChannelForecast, view: ForecastView) -> list[float]:
    """Where each row of the past and each step to come stands: milliseconds, or steps from the last of the past."""
    count = len(one.past) + len(one.forecast)
    if len(view.times) == count:
        return milliseconds(view.times)
    return [float(step) for step in range(1 - len(one.past), len(one.forecast) + 1)]


def channel_data(one: ChannelForecast, view: ForecastView, *, name: str) -> ChartData:
    """One channel for the script of the page: what was measured, the forecast with its interval, baselines."""
    places, past = places_in_time(one, view), len(one.past)
    ahead = places[past:]
    measured = [*one.past, *one.actual]
    own = {"x": ahead, "y": one.forecast, **({"y low": one.low, "y high": one.high} if one.low else {})}
    low, high = bounds([*measured, *one.forecast, *one.low, *one.high])
    series = [
        ChartSeries(
            name="actual" if one.actual else "past",
            colour=0,
            style="plain",
            tables={"points": {"x": places[: len(measured)], "y": measured}},
        ),
        *(
            ChartSeries(name=other, colour=at, style="thin", tables={"points": {"x": ahead, "y": values}})
            for at, (other, values) in enumerate(one.others.items(), start=1)
        ),
        ChartSeries(name=view.model, colour=0, tables={"points": own}),
    ]
    return ChartData(
        name=name,
        label=f"{one.channel}: the forecast of {view.model} beside the actual values",
        x=[ChartAxis(key="x", name=time_name(view), kind="date" if view.times else "number")],
        y=[ChartAxis(key="y", name=one.channel, limits=(low, high))],
        series=series,
        begins=(places[past - 1] + places[past]) / 2 if past and ahead else None,
        height=LIVE_HEIGHT,
    )


def time_name(view: ForecastView) -> str:
    """What the horizontal axis shows."""
    if view.times:
        return f"time (UTC), a step is {in_full(view.step)}"
    return f"steps of {view.step or '1 row'}, from the last step of the past"


def in_full(step: str) -> str:
    """A frequency in words: 1mo -> 1 month, 15min -> 15 minutes."""
    count = "".join(filter(str.isdigit, step))
    unit = UNITS.get(step[len(count) :])
    return counted(int(count), unit) if count and unit else step


def channel_chart(one: ChannelForecast, view: ForecastView) -> Markup:
    """One channel against time: past, actual values, forecast over its interval, baselines thin."""
    past, actual, forecast = one.past, one.actual, one.forecast
    low, high = bounds([*past, *actual, *forecast, *one.low, *one.high])
    times = places_in_time(one, view)
    across = Axis(times[0], max(times[-1], times[0] + 1), 56.0, WIDTH - NAMES)
    up = Axis(low, high, HEIGHT - 40, 12.0)
    ahead = times[len(past) :]
    parts = [grid(up, across), steps_axis(across, up, view), begin_line(across, up, times, len(past))]
    if one.low:
        outline = [*zip(ahead, one.high, strict=True), *reversed([*zip(ahead, one.low, strict=True)])]
        points = [Point(across.place(x), up.place(y)) for x, y in outline]
        parts.append(tag("polygon", class_="band", points=points_of(points)))
    lines: list[tuple[str, str, Sequence[float], Sequence[float]]] = [("", "plain", times[: len(past)], past)]
    if actual:
        known = times[len(past) - 1 : len(past) + len(actual)]
        lines.append(("actual", "plain", known, [past[-1], *actual]))
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


def steps_axis(across: Axis, up: Axis, view: ForecastView) -> Markup:
    """The time axis: dates, or steps where rows are counted."""
    if view.times:
        ticks = date_ticks(across, int((across.stop - across.start) / DATE_WIDTH))
    else:
        rounds = [tick for tick in across.ticks(9) if tick == round(tick)]
        ticks = {tick: tick_label(tick) if tick <= 0 else f"+{tick:g}" for tick in rounds}
    return level_axis(across, up.start, ticks, time_name(view))


def begin_line(across: Axis, up: Axis, times: Sequence[float], past: int) -> Markup:
    """A vertical line where the forecast begins."""
    if not 0 < past < len(times):
        return Markup()
    begin = across.place((times[past - 1] + times[past]) / 2)
    return tag("line", class_="baseline", x1=begin, x2=begin, y1=up.start, y2=up.stop)
