"""Forecasts beside what came as a page of their own, and as a part of a report."""

from collections.abc import Mapping, Sequence
from typing import Any

from atento.views.html import Markup, document, joined, tag
from atento.views.report.charts import COLOURS, LABEL_GAP, Point, drawing, end_label, grid
from atento.views.report.scales import Scale, bounds, spread, tick_label
from atento.views.wording import shortened

View = Mapping[str, Any]  # what `atento.views.forecast.forecast_view` gives

WIDTH, HEIGHT, NAMES = 1000.0, 250.0, 190.0
LETTERS = 24  # of a line's name


def render_forecast(view: View) -> str:
    """A single HTML file: a chart a channel."""
    header = tag(
        "header",
        tag("p", f"atento · a forecast of {view['data'] or 'a series'}", class_="kicker"),
        tag("p", f"{view['model']}, {view['steps']} steps ahead", class_="verdict"),
        tag("p", view["title"], class_="more", dir="auto"),
    )
    body = tag("section", *charts(view), id="forecast")
    return document(f"{view['model']}: a forecast", header, tag("main", body))


def forecasts_of(views: Sequence[View]) -> Markup:
    """The section of a report: a few windows, the worst of the best model among them."""
    if not views:
        return Markup()
    text = "What was known, what came, and what the best trained model said of it; thin: simple baselines."
    if views[0]["levels"]:
        text += f" Shaded: between the quantiles {views[0]['levels'][0]:g} and {views[0]['levels'][-1]:g}."
    figures = [
        tag("figure", tag("figcaption", tag("bdi", f"{view.get('kind', '')}: {view['title']}")), *charts(view))
        for view in views
    ]
    return joined(tag("p", text), *figures)


def charts(view: View) -> list[Markup]:
    """A heading and a chart for each channel that is shown."""
    return [joined(tag("h3", one["channel"], dir="auto"), channel_chart(one, view)) for one in view["shown"]]


def channel_chart(one: Mapping[str, Any], view: View) -> Markup:
    """One channel: known, came, forecast over its band, baselines thin."""
    past, came, forecast = one["past"], one["came"], one["forecast"]
    numbers = [*past, *came, *forecast, *one["low"], *one["high"]]
    low, high = bounds(numbers)
    across = Scale(1.0 - len(past), float(max(len(forecast), 2)), 56.0, WIDTH - NAMES)
    up = Scale(low, high, HEIGHT - 40, 12.0)
    ahead = range(1, len(forecast) + 1)
    parts = [grid(up, across), steps_axis(across, up, view.get("step", ""))]
    if one["low"]:
        ring = [*zip(ahead, one["high"], strict=True), *reversed([*zip(ahead, one["low"], strict=True)])]
        points = " ".join(f"{across.place(x):.1f},{up.place(y):.1f}" for x, y in ring)
        parts.append(tag("polygon", class_="band", points=points))
    lines: list[tuple[str, str, Sequence[int], Sequence[float]]] = [("", "plain", range(1 - len(past), 1), past)]
    if came:
        lines.append(("came", "plain", range(0, len(came) + 1), [past[-1], *came]))
    clipped = {name: [min(max(value, low), high) for value in values] for name, values in one["others"].items()}
    lines += [
        (name, f"s{(place + 1) % COLOURS}", ahead, values) for place, (name, values) in enumerate(clipped.items())
    ]
    lines.append((view["model"], "s0", ahead, forecast))
    ends = []
    for name, colour, steps, values in lines:
        places = [Point(across.place(step), up.place(value)) for step, value in zip(steps, values, strict=True)]
        parts.append(line(places, colour))
        if name:
            ends.append((name, colour, places[-1]))
    heights = spread([end.y for _, _, end in ends], gap=LABEL_GAP, bottom=up.start)
    parts += [
        end_label(shortened(name, LETTERS), colour, end, Point(across.stop + 20, level))
        for (name, colour, end), level in zip(ends, heights, strict=True)
    ]
    label = f"{one['channel']}: the forecast of {view['model']} beside what came, {view['steps']} steps."
    return drawing(WIDTH, HEIGHT, *parts, label=label, class_="curves")


def line(places: Sequence[Point], colour: str) -> Markup:
    """A path; the forecast is bold."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    if colour == "plain":
        return tag("polyline", class_="own", points=path)
    first = " first" if colour == "s0" else ""
    return tag("g", tag("polyline", class_="line", points=path), class_=f"curve {colour}{first}")


def steps_axis(across: Scale, up: Scale, step: str) -> Markup:
    """Steps under the chart and how far apart they are, an upright line where the forecast begins."""
    parts = [
        tag(
            "text",
            tick_label(tick) if tick <= 0 else f"+{tick:g}",
            class_="tick",
            x=across.place(tick),
            y=up.start + 18,
            text_anchor="middle",
        )
        for tick in across.ticks(9)
        if tick == round(tick)
    ]
    begin = across.place(0.5)
    return joined(
        tag("line", class_="axis", x1=across.start, x2=across.stop, y1=up.start, y2=up.start),
        tag("line", class_="baseline", x1=begin, x2=begin, y1=up.start, y2=up.stop),
        *parts,
        tag(
            "text",
            f"steps of {step or '1 row'}, from the last that was known",
            class_="tick",
            x=across.stop,
            y=up.start + 34,
            text_anchor="end",
        ),
    )
