"""Learning-rate schedules as curves over steps, with RAdam's rectification, and the learning rate of a run."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from atento.bundle import Json
from atento.views.figures import light_grid, saved_figure
from atento.views.html import Markup, joined, page, tag
from atento.views.report.chart_data import ChartAxis, ChartData, ChartSeries, live_chart
from atento.views.report.charts import COLOURS, Point, curve, drawing, end_labels, grid, level_axis
from atento.views.report.scales import Axis, bounds, tick_label
from atento.views.saving import ModelView, save_view

WIDTH, HEIGHT, NAMES = 1000.0, 300.0, 190.0
MARKS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)  # shares of the steps that a terminal shows


@dataclass(frozen=True, kw_only=True)
class ScheduleCurve:
    """One curve over steps."""

    name: str
    formula: str
    steps: list[int]
    values: list[float]


@dataclass(frozen=True, kw_only=True)
class ScheduleChart:
    """Curves that are drawn together."""

    title: str
    measure: str
    text: str
    curves: list[ScheduleCurve]


@dataclass(frozen=True, kw_only=True)
class SchedulesView(ModelView):
    """The schedule of a run, or all schedules there are."""

    charts: list[ScheduleChart]

    def to_json(self) -> Json:
        """The view in dicts and lists."""
        return asdict(self)

    def save(self, path: str | Path) -> Path:
        """Save a page, a figure or JSON, by the name of the file."""
        return save_schedules(self, Path(path))


def save_schedules(view: SchedulesView, path: Path) -> Path:
    """A page, an image or the numbers, by the name given."""
    return save_view(view, path, page=schedules_page, figure=schedules_figure)


def schedules_text(view: SchedulesView, *, width: int = 80) -> str:
    """For a terminal: each curve at a few steps."""
    lines = []
    for chart in view.charts:
        last = max(one.steps[-1] for one in chart.curves)
        marks = sorted({max(1, round(share * last)) for share in MARKS})
        label = max(len(one.name) for one in chart.curves)
        named = chart.title if chart.measure == chart.title.lower() else f"{chart.title} ({chart.measure})"
        lines += [named, f"  {'step':<{label}}" + "".join(f"{mark:>9,}" for mark in marks)]
        lines += [
            f"  {one.name:<{label}}" + "".join(f"{at_step(one, mark):>9.3g}" for mark in marks) for one in chart.curves
        ]
    return "\n".join(lines)


def at_step(one: ScheduleCurve, step: int) -> float:
    """The value at the last recorded step that is not later."""
    before = [value for at, value in zip(one.steps, one.values, strict=True) if at <= step]
    return before[-1] if before else one.values[0]


def schedules_page(view: SchedulesView) -> str:
    """A single HTML file with a chart for each group of curves."""
    name = view.model or "schedules"
    heading = tag("h1", "Learning rate of ", tag("bdi", view.model)) if view.model else tag("h1", "Learning rates")
    sections = [chart_section(one, f"schedule-{at}") for at, one in enumerate(view.charts, start=1)]
    return page(f"{name}: learning rate", "learning-rate schedules", [heading], *sections)


def chart_section(chart: ScheduleChart, name: str) -> Markup:
    """One chart with the formulas of its curves."""
    data = ChartData(
        name=name,
        label=f"{chart.measure} against steps",
        x=[ChartAxis(key="step", name="step")],
        y=[ChartAxis(key="value", name=chart.measure)],
        series=[
            ChartSeries(name=one.name, colour=at, tables={"points": {"step": one.steps, "value": one.values}})
            for at, one in enumerate(chart.curves)
        ],
        height=340,
    )
    formulas = [tag("li", tag("strong", one.name), f" {one.formula}") for one in chart.curves if one.formula]
    return tag(
        "section",
        tag("h2", chart.title),
        tag("p", chart.text),
        live_chart(data, static_chart(chart)),
        tag("ul", *formulas) if formulas else "",
    )


def static_chart(chart: ScheduleChart) -> Markup:
    """The curves as a drawing, for paper."""
    low, high = bounds([value for one in chart.curves for value in one.values])
    last = float(max(one.steps[-1] for one in chart.curves))
    across, up = Axis(0.0, last, 60.0, WIDTH - NAMES), Axis(low, high, HEIGHT - 44, 12.0)
    parts: list[object] = [grid(up, across)]
    ends = []
    for at, one in enumerate(chart.curves):
        pairs = zip(one.steps, one.values, strict=True)
        points = [Point(across.place(step), up.place(value)) for step, value in pairs]
        parts.append(curve(points, at))
        ends.append((one.name, f"s{at % COLOURS}", points[-1]))
    axis = level_axis(across, up.start, {tick: tick_label(tick) for tick in across.ticks(6)}, "step")
    labels = end_labels(ends, across, up, letters=24)
    label = f"{chart.measure} against steps"
    return drawing(WIDTH, HEIGHT, joined(*parts), axis, *labels, label=label, class_="curves")


def schedules_figure(view: SchedulesView, path: Path) -> Path:
    """Save a panel for each group of curves."""
    with saved_figure(path, size=(8.0, 2.9 * len(view.charts) + 0.3)) as figure:
        panels = figure.subplots(len(view.charts), 1, squeeze=False)[:, 0]
        for axes, chart in zip(panels, view.charts, strict=True):
            draw_chart(axes, chart)
    return path


def draw_chart(axes: Any, chart: ScheduleChart) -> None:
    """Draw the curves of one group."""
    for at, one in enumerate(chart.curves):
        axes.plot(one.steps, one.values, color=f"C{at}", linewidth=1.4, label=one.name)
    axes.set_title(chart.title, fontsize=9.5, loc="left", parse_math=False)
    axes.set_ylabel(chart.measure)
    axes.set_xlabel("step")
    axes.legend(frameon=False, fontsize=7.5)
    light_grid(axes)
