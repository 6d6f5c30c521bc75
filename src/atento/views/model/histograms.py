"""Histograms of gradients and updates over training, as ridgelines: one above another, the first step at the back.

Gradients as the optimizer gets them, after clipping; updates relative to the weights, |Δw| / |w|, of which about 1e-3
in a step is usual.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from atento.bundle import Json
from atento.data.records import counted
from atento.reprs import short_repr
from atento.views.figures import saved_figure
from atento.views.html import Markup, embed, page, tag
from atento.views.report.charts import Point, drawing, points_of
from atento.views.report.scales import Axis
from atento.views.saving import ModelView, save_view

MEASURES = {"gradients": "|gradient|", "updates": "|update| / |weight|"}
MOST_RIDGES = 20
FEW = 1e-3  # share of a part's numbers in a bin, below which the bin is left out at either end
WIDTH, TOP, BOTTOM, LEFT = 460.0, 44.0, 40.0, 56.0
RIDGE, OVERLAP = 15.0, 2.6  # pixels between two base lines, and the height of the highest ridge in these
MOST_PANELS = 12  # parts of a figure


@dataclass(frozen=True, kw_only=True)
class PartHistograms:
    """The histograms of one part: counts by step and bin."""

    part: str
    gradients: list[list[int]]
    updates: list[list[int]]


@dataclass(frozen=True, kw_only=True)
class HistogramsView(ModelView):
    """Histograms of all parts over training."""

    edges: list[float]  # of the bins, in log10
    steps: list[int]
    parts: list[PartHistograms]

    def __repr__(self) -> str:
        return short_repr(self)

    def to_json(self) -> Json:
        """The view in dicts and lists."""
        return asdict(self)

    def save(self, path: str | Path) -> Path:
        """Save a page, a figure or JSON, by the name of the file."""
        return save_histograms(self, Path(path))


def histograms_view(
    records: Mapping[int, Mapping[str, Mapping[str, Sequence[int]]]], edges: Sequence[float], *, model: str = ""
) -> HistogramsView:
    """Counts by step, part and measure."""
    steps = sorted(records)
    names = list(dict.fromkeys(name for step in steps for name in records[step]))
    empty = {measure: [0] * (len(edges) - 1) for measure in MEASURES}
    parts = [
        PartHistograms(
            part=name,
            **{measure: [list(records[step].get(name, empty)[measure]) for step in steps] for measure in MEASURES},
        )
        for name in names
    ]
    return HistogramsView(model=model, edges=list(edges), steps=steps, parts=parts)


def save_histograms(view: HistogramsView, path: Path) -> Path:
    """A page, an image or the numbers, by the name given."""
    return save_view(view, path, page=histograms_page, figure=histograms_figure)


def median_of(counts: Sequence[int], edges: Sequence[float]) -> float | None:
    """The median by linear interpolation in its bin, in log10; None of an empty histogram."""
    total = sum(counts)
    below = 0
    for count, low, high in zip(counts, edges, edges[1:], strict=False):
        if total and below + count >= total / 2:
            return low + (high - low) * (total / 2 - below) / count
        below += count
    return None


def written(power: float | None) -> str:
    """A power of ten: -3.2 -> 6.3e-4."""
    return "–" if power is None else f"{10**power:.1e}".replace("e-0", "e-").replace("e+0", "e")


def histograms_text(view: HistogramsView, *, width: int = 80) -> str:
    """For a terminal: the medians of the first and the last record of each part."""
    label = max(len("part"), *(len(one.part) for one in view.parts))
    first, last = view.steps[0], view.steps[-1]
    lines = [
        f"medians at step {first:,} → {last:,} ({counted(len(view.steps), 'record')})",
        f"{'part':<{label}}  {'|gradient|':<20}  |update| / |weight|",
    ]
    for one in view.parts:
        cells = [
            f"{written(median_of(rows[0], view.edges))} → {written(median_of(rows[-1], view.edges))}"
            for rows in (one.gradients, one.updates)
        ]
        lines.append(f"{one.part:<{label}}  {cells[0]:<20}  {cells[1]}")
    return "\n".join(lines)


def shown_steps(view: HistogramsView) -> list[int]:
    """Places of at most MOST_RIDGES records, evenly spaced, the first and the last among them."""
    count = len(view.steps)
    if count <= MOST_RIDGES:
        return list(range(count))
    return sorted({round(at * (count - 1) / (MOST_RIDGES - 1)) for at in range(MOST_RIDGES)})


def reach_of(view: HistogramsView, measure: str) -> tuple[int, int]:
    """The bins that hold all but a few of the numbers of some part: those below are left out on both sides."""
    each = np.array([getattr(one, measure) for one in view.parts]).sum(axis=1)  # (parts, bins)
    shares = each / np.maximum(each.sum(axis=1, keepdims=True), 1)
    filled = np.flatnonzero(shares.max(axis=0) > FEW)
    return (max(int(filled[0]) - 1, 0), min(int(filled[-1]) + 2, each.shape[1])) if len(filled) else (0, each.shape[1])


def histograms_page(view: HistogramsView) -> str:
    """A single HTML file: for each part the ridgelines of gradients and updates."""
    name = view.model or "the model"
    heading = tag("h1", "Gradients and updates of ", tag("bdi", name), class_="pair")
    text = (
        "Each line is the histogram of one recorded step on a logarithmic scale, the first at the top. Gradients are "
        "those the optimizer gets, after clipping. Updates are relative to the weights: about 1e-3 in a step is usual; "
        "far more is unstable, far less hardly changes the weights."
    )
    readout = tag("p", "Point at a line to read it.", class_="note ridge-readout", role="status")
    sections = [
        tag(
            "section",
            tag("h2", one.part, dir="auto"),
            tag("div", *(ridge_figure(view, one, measure, at) for measure in MEASURES), class_="ridges"),
        )
        for at, one in enumerate(view.parts)
    ]
    shown = shown_steps(view)
    data = {
        "edges": view.edges,
        "steps": [view.steps[at] for at in shown],
        "parts": [{measure: [getattr(one, measure)[at] for at in shown] for measure in MEASURES} for one in view.parts],
        "measures": MEASURES,
        "names": [one.part for one in view.parts],
    }
    body = tag("section", tag("p", text), readout)
    title = f"{name}: gradients and updates"
    return page(title, "over training", [heading], body, *sections, embed(data, name="ridges"))


def ridge_figure(view: HistogramsView, one: PartHistograms, measure: str, number: int) -> Markup:
    """The ridgelines of one part and measure."""
    rows = getattr(one, measure)
    medians = [median_of(row, view.edges) for row in (rows[0], rows[-1])]
    caption = f"{MEASURES[measure]}, median {written(medians[0])} → {written(medians[1])}"
    figure = ridge_drawing(view, rows, measure, number, label=f"{one.part}: {caption}")
    return tag("figure", tag("figcaption", caption, class_="note"), figure)


def ridge_drawing(
    view: HistogramsView, rows: Sequence[Sequence[int]], measure: str, number: int, *, label: str
) -> Markup:
    """A filled line for each record, later ones in front."""
    shown = shown_steps(view)
    first, last = reach_of(view, measure)
    across = Axis(view.edges[first], view.edges[last], LEFT, WIDTH - 12.0)
    height = TOP + RIDGE * (len(shown) - 1) + BOTTOM
    highest = max(max(rows[at]) / max(sum(rows[at]), 1) for at in shown) or 1.0
    parts: list[object] = []
    for power in range(int(np.ceil(view.edges[first])), int(np.floor(view.edges[last])) + 1):
        x = across.place(power)
        parts.append(tag("line", class_="grid", x1=x, x2=x, y1=6.0, y2=height - BOTTOM))
        if power % 2 == 0 or across.high - across.low < 7:
            label_at = {"x": x, "y": height - BOTTOM + 18, "text_anchor": "middle"}
            parts.append(tag("text", f"1e{power}".replace("-", "−"), class_="tick", **label_at))
    for line, at in enumerate(shown):
        base = TOP + RIDGE * line
        total = max(sum(rows[at]), 1)
        heights = [base - RIDGE * OVERLAP * rows[at][bin] / total / highest for bin in range(first, last)]
        middles = [(view.edges[bin] + view.edges[bin + 1]) / 2 for bin in range(first, last)]
        points = [Point(across.place(middle), y) for middle, y in zip(middles, heights, strict=True)]
        closed = [Point(points[0].x, base), *points, Point(points[-1].x, base)]
        parts.append(tag("polygon", class_="ridge", points=points_of(closed)))
        if line % max(1, len(shown) // 6) == 0:
            parts.append(tag("text", f"{view.steps[at]:,}", class_="tick", x=LEFT - 8, y=base + 4, text_anchor="end"))
    parts.append(tag("text", "step", class_="tick", x=LEFT - 8, y=14, text_anchor="end"))
    svg = drawing(WIDTH, height, *parts, label=label, class_="curves")
    return tag(
        "div",
        svg,
        class_="ridge-box",
        tabindex="0",
        role="group",
        aria_label=f"{label}; arrow keys read it",
        data_ridge=f"{number}",
        data_measure=measure,
        data_low=f"{across.low}",
        data_high=f"{across.high}",
    )


def histograms_figure(view: HistogramsView, path: Path) -> Path:
    """Save a row for each part: the ridgelines of gradients and of updates."""
    parts = view.parts[:MOST_PANELS]
    with saved_figure(path, size=(9.0, 2.6 * len(parts) + 0.4)) as figure:
        title = f"{view.model or 'the model'}: gradients and updates over training"
        figure.suptitle(title, fontsize=10, parse_math=False)
        grid = figure.subplots(len(parts), 2, squeeze=False)
        for row, one in zip(grid, parts, strict=True):
            for axes, measure in zip(row, MEASURES, strict=True):
                draw_ridges(axes, view, one, measure)
    return path


def draw_ridges(axes: Any, view: HistogramsView, one: PartHistograms, measure: str) -> None:
    """Draw the ridgelines of one part and measure."""
    rows, shown = getattr(one, measure), shown_steps(view)
    first, last = reach_of(view, measure)
    middles = [10 ** ((view.edges[bin] + view.edges[bin + 1]) / 2) for bin in range(first, last)]
    highest = max(max(rows[at]) / max(sum(rows[at]), 1) for at in shown) or 1.0
    for line, at in enumerate(shown):
        shares = np.array(rows[at][first:last]) / max(sum(rows[at]), 1) / highest * OVERLAP
        colours = {"facecolor": "#e3eefb", "edgecolor": "C0", "linewidth": 0.8}
        axes.fill_between(middles, -line, -line + shares, zorder=line, **colours)
    axes.set_xscale("log")
    axes.set_title(f"{one.part}: {MEASURES[measure]}", fontsize=8.5, loc="left", parse_math=False)
    places = [line for line in range(len(shown)) if line % max(1, len(shown) // 5) == 0]
    axes.set_yticks([-line for line in places], [f"{view.steps[shown[line]]:,}" for line in places])
    axes.set_ylabel("step")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
