"""Gradient flow through time for a terminal, as a page and as a figure: the norm of ∂(now)/∂(lag steps ago) by lag."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

from atento.bundle import Json
from atento.models.diagnostics.gradients import GradientFlow
from atento.recurrent.gradient_flow import GateSaturation, PartFlow, Spectrum, half_life, verdict_of
from atento.views.attention.terminal import bar
from atento.views.figures import light_grid, saved_figure
from atento.views.html import Markup, joined, page, table, tag
from atento.views.report.chart_data import ChartAxis, ChartData, ChartSeries, Column, live_chart
from atento.views.report.charts import COLOURS, LETTER, Point, curve, drawing, end_labels, level_axis, points_of
from atento.views.report.scales import Axis, tick_label
from atento.views.saving import ModelView, save_view

BARS = 12  # lags shown on a terminal, evenly spaced
LOWEST = 1e-6  # smaller norms have no bar
SHAPES = {  # of the page's chart
    "wide": {"width": 1000.0, "height": 420.0},
    "narrow": {"width": 340.0, "height": 400.0},
}
LINE_WIDTH = 112  # characters of a line of text above the figure
SHADE = 0.15
LEAST = 1e-12  # smaller norms are left out of the figure


@dataclass(frozen=True, kw_only=True)
class GradientFlowView(ModelView):
    """The gradient flow of a model, with the model's name."""

    flow: GradientFlow

    def to_json(self) -> Json:
        """The view in dicts and lists."""
        return {"model": self.model, **self.flow.to_json()}


def save_gradient_flow(view: GradientFlowView, path: str | Path) -> Path:
    """Save a page, a figure or JSON, by the name of the file."""
    return save_view(view, path, page=render_gradient_flow, figure=gradient_flow_figure)


def gradient_flow_text(view: GradientFlowView, *, width: int = 80) -> str:
    """The worst part as bars, the others in a line each, the verdict and the remedy."""
    worst = view.flow.worst
    others = [part for part in view.flow.parts if part is not worst]
    lines = [title_of(worst), *bars(worst, width=width), *(["", *facts(worst)] if facts(worst) else [])]
    if others:
        lines += ["", *(f"{title_of(part)}: {verdict_of(part.curve)}, {rate(part)}" for part in others)]
    return "\n".join([*lines, "", view.flow.words, view.flow.remedy])


def title_of(part: PartFlow) -> str:
    """The name and the kind of a part: `encoder.stack, backward (LSTMCell)`."""
    return f"{part.part} ({part.kind})" if part.kind != part.part else part.part


def rate(part: PartFlow) -> str:
    """The slope, and in how many steps the norm halves or doubles."""
    slope = f"slope {part.curve.slope:+.4f} per step".replace("-", "−")
    if verdict_of(part.curve) == "level":
        return slope
    verb = "halves" if part.curve.slope < 0 else "doubles"
    return f"{slope}, {verb} every {half_life(part.curve):.3g} steps"


def bars(part: PartFlow, *, width: int) -> list[str]:
    """A line for each of some lags, with a bar whose length is the logarithm of the norm."""
    curve = part.curve
    shown = evenly_spaced(len(curve.lags))
    norms = [max(curve.median[place], LOWEST) for place in shown]
    low, high = max(decade_below(min(norms)), LOWEST), max(max(norms), 1.0)
    room = max(width - 18, 8)
    lines = [f"  lag  norm     a logarithmic scale from {low:g} to {high:.3g}"]
    for place, norm in zip(shown, norms, strict=True):
        share = math.log(norm / low) / math.log(high / low)
        lines.append(f"{curve.lags[place]:>5}  {curve.median[place]:<8.3g} {bar(share, width=room)}".rstrip())
    return lines


def evenly_spaced(count: int) -> list[int]:
    """At most BARS indices below `count`, the first and the last among them."""
    if count <= BARS:
        return list(range(count))
    return [round(place * (count - 1) / (BARS - 1)) for place in range(BARS)]


def decade_below(norm: float) -> float:
    """The next lower power of ten: 0.03 -> 0.01."""
    power = 1.0
    while power >= norm and power > LOWEST:
        power /= 10
    return power


def facts(part: PartFlow) -> list[str]:
    """The recurrent matrices, the Jacobian of a step and the gates, a line each."""
    return [
        *(
            f"{name}: largest singular value {one.singular:.3g}, spectral radius {one.radius:.3g}"
            for name, one in spectra(part, " matrix").items()
        ),
        *(f"{name} gate: {saturation(gate)}" for name, gate in part.gates.items()),
    ]


def spectra(part: PartFlow, suffix: str = "") -> Mapping[str, Spectrum]:
    """The recurrent matrices by name, and the Jacobian of a step."""
    matrices = {f"{name}{suffix}": one for name, one in part.matrices.items()}
    return {**matrices, "a step": part.step} if part.step else matrices


def saturation(gate: GateSaturation) -> str:
    """How often a gate is saturated: `3 % nearly shut, 20 % nearly open`."""
    return f"{gate.shut:.0%} nearly shut, {gate.open:.0%} nearly open".replace("%", " %")


def render_gradient_flow(view: GradientFlowView) -> str:
    """A single HTML file: the verdict, the curves, and the numbers of every part."""
    name = view.model or "the model"
    opening = [tag("p", view.flow.words, class_="verdict"), tag("p", view.flow.remedy, class_="more")]
    text = (
        "Norm of ∂(now)/∂(lag steps ago) on a logarithmic scale: the median over positions, shaded from the lower to "
        "the upper quartile. Dashed: norm 1, at which nothing is lost."
    )
    shapes = [tag("div", flow_chart(view.flow, **size), class_=shape) for shape, size in SHAPES.items()]
    chart = live_chart(flow_data(view.flow), *shapes)
    body = tag("section", tag("p", text), chart, part_table(view.flow), id="flow")
    return page(f"{name}: gradient flow", f"gradient flow through time in {name}", opening, body)


def ordered(flow: GradientFlow) -> list[PartFlow]:
    """The parts, the worst first, which has the accent colour."""
    return sorted(flow.parts, key=lambda part: part is not flow.worst)


def flow_data(flow: GradientFlow) -> ChartData:
    """The curves of all parts for the script of the page, with their quartiles."""
    series = []
    for number, part in enumerate(ordered(flow)):
        count = shown_lags(part)
        found = part.curve
        table: dict[str, Column] = {
            "lag": found.lags[:count],
            "norm": found.median[:count],
            "norm low": found.low[:count],
            "norm high": found.high[:count],
        }
        series.append(ChartSeries(name=part.part, colour=number, tables={"points": table}))
    level = ChartSeries(name="norm 1", colour=0, tables={}, levels={"norm": 1.0}, style="baseline")
    return ChartData(
        name="flow",
        label="Norm of the gradient against lag",
        x=[ChartAxis(key="lag", name="lag: steps back in time")],
        y=[ChartAxis(key="norm", name="norm of the gradient", log=True)],
        series=[*series, level],
    )


def flow_chart(flow: GradientFlow, *, width: float, height: float) -> Markup:
    """A line for each part over the lags with its quartiles shaded, on a logarithmic scale."""
    parts = ordered(flow)
    tables = [flow_table(part) for part in parts]
    ends = [end for rows in tables for _, *norms in rows for end in norms]
    low, high = decade_below(min(ends) * 1.001), max(max(ends), 1.0)
    margin = min(max(len(part.part) for part in parts) * LETTER, width * 0.3)
    across = Axis(0.0, float(max(part.curve.lags[-1] for part in parts) or 1), 48.0, width - margin - 32)
    up = Axis(low, high * 1.2, height - 44, 14.0, steep=True)
    lines, names = [], []
    for number, rows in enumerate(tables):
        points = [Point(across.place(lag), up.place(median)) for lag, median, _, _ in rows]
        upper = [Point(across.place(lag), up.place(top)) for lag, _, _, top in rows]
        lower = [Point(across.place(lag), up.place(bottom)) for lag, _, bottom, _ in rows]
        shade = tag("polygon", class_="shade", points=points_of([*upper, *reversed(lower)]))
        lines += [tag("g", shade, class_=f"curve s{number % COLOURS}"), curve(points, number)]
        names.append((parts[number].part, f"s{number % COLOURS}", points[-1]))
    labels = end_labels(names, across, up, letters=int(margin / LETTER))
    verdicts = "; ".join(f"{title_of(part)} {verdict_of(part.curve)}" for part in flow.parts)
    axes = flow_axes(across, up)
    return drawing(width, height, axes, *lines, *labels, label=f"Norm against lag. {verdicts}.", class_="curves")


def shown_lags(part: PartFlow) -> int:
    """How many lags are shown: up to where the norm is below LOWEST."""
    norms = part.curve.median
    return max(next((lag for lag, norm in enumerate(norms) if norm < LOWEST), len(norms)), 2)


def flow_table(part: PartFlow) -> list[tuple[int, float, float, float]]:
    """Lag, median and both quartiles, none below LOWEST."""
    curve = part.curve
    rows = zip(curve.lags, curve.median, curve.low, curve.high, strict=True)
    return [
        (lag, max(median, LOWEST), max(low, LOWEST), max(high, LOWEST))
        for lag, median, low, high in list(rows)[: shown_lags(part)]
    ]


def flow_axes(across: Axis, up: Axis) -> Markup:
    """Round norms as horizontal lines, lags below; the line of norm 1 is dashed."""
    marks = []
    for norm in up.ticks(7):
        level = up.place(norm)
        kind = "baseline" if norm == 1 else "grid"
        marks.append(tag("line", class_=kind, x1=across.start, x2=across.stop, y1=level, y2=level))
        marks.append(tag("text", tick_label(norm), class_="tick", x=across.start - 8, y=level + 4, text_anchor="end"))
    lags = {lag: tick_label(lag) for lag in across.ticks(max(2, int((across.stop - across.start) / 90)))}
    return joined(*marks, level_axis(across, up.start, lags, "lag: steps back in time"))


def part_table(flow: GradientFlow) -> Markup:
    """A row for each part: verdict, rate, matrices and gates."""
    headings = ("part", "verdict", "largest singular value, spectral radius", "gates")
    rows = []
    for part in flow.parts:
        matrices = [f"{name} {one.singular:.3g}, {one.radius:.3g}" for name, one in spectra(part).items()]
        gates = [f"{name} {saturation(gate)}" for name, gate in part.gates.items()]
        verdict = f"{verdict_of(part.curve)}: {rate(part)}"
        rows.append((title_of(part), verdict, lines_of(matrices), lines_of(gates)))
    return table(headings, rows, stacked=True)


def lines_of(texts: Sequence[str]) -> Markup:
    """Texts in a line each; a dash where there are none."""
    return tag("ul", *(tag("li", text) for text in texts), class_="lines") if texts else joined("–")


def gradient_flow_figure(view: GradientFlowView, path: Path) -> Path:
    """Save the norm against the lag: a line for each part, with its quartiles shaded."""
    flow = view.flow
    with saved_figure(path, size=(8.0, 4.8)) as figure:
        text = [*wrap(flow.words, LINE_WIDTH), *wrap(flow.remedy, LINE_WIDTH)]
        axes = figure.subplots()
        axes.set_title("\n".join(text), fontsize=8.5, loc="left", color="0.3", parse_math=False)
        figure.suptitle(f"gradient flow in {view.model or 'the model'}", fontsize=11, parse_math=False)
        for place, part in enumerate(flow.parts):
            draw_part(axes, part, f"C{place}", bold=part is flow.worst)
        finish_axes(axes)
    return path


def draw_part(axes: Any, part: PartFlow, colour: str, *, bold: bool) -> None:
    """Draw the median as a line and the quartiles as a band."""
    curve = part.curve
    low, median, high = (
        [norm if norm >= LEAST else math.nan for norm in norms] for norms in (curve.low, curve.median, curve.high)
    )
    label = f"{title_of(part)}: {verdict_of(curve)}"
    axes.plot(curve.lags, median, color=colour, linewidth=2.4 if bold else 1.2, label=label)
    axes.fill_between(curve.lags, low, high, color=colour, alpha=SHADE, linewidth=0)


def finish_axes(axes: Any) -> None:
    """Make the vertical axis logarithmic, with a dashed line at norm 1."""
    axes.set_yscale("log")
    bottom, top = axes.get_ylim()
    axes.set_ylim(max(min(bottom, 0.1), LEAST), max(top, 3.0))
    axes.axhline(1.0, color="0.5", linewidth=0.8, linestyle=(0, (5, 4)))
    axes.set_xlim(left=0)
    axes.set_xlabel("lag: steps back in time")
    axes.set_ylabel("norm of ∂(now)/∂(lag steps ago)")
    light_grid(axes)
    axes.legend(frameon=False)
