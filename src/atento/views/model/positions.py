"""Position encodings as heat maps, with the curve of similarity or bias against distance.

Vectors that are added to embeddings are compared by their cosine. Rotary embedding turns each pair of features by an
angle; the mean cosine of these angles is what is left of the product of two equal vectors so far apart. Biases of
attention scores are numbers for each head and offset.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from atento.attention import Alibi, RelativeBias
from atento.bundle import Json
from atento.errors import InputError
from atento.layers.positions import (
    BinaryPositions,
    IndexPositions,
    LearnedPositions,
    NoPositions,
    Positions,
    Rotary,
    SinusoidalPositions,
)
from atento.reprs import short_repr
from atento.views.attention.maps import as_base64
from atento.views.figures import light_grid, saved_figure
from atento.views.html import Markup, embed, joined, page, tag
from atento.views.report.chart_data import ChartAxis, ChartData, ChartSeries, live_chart
from atento.views.saving import ModelView, rounded, save_view

# Axes: P positions, F features, H heads, D distances.

Numbers = NDArray[np.float64]

SHOWN = 128  # positions
SIZE, HEADS, REACH = 64, 8, 32  # of encodings that are shown without a model
MOST_LINES = 8


@dataclass(frozen=True, kw_only=True)
class PositionTable:
    """One encoding: its heat map, and one or more curves against distance."""

    name: str
    kind: str
    across: str  # what the columns of the heat map are
    down: str  # and its rows
    first: int  # number of the first column
    measure: str  # what the curves show
    table: list[list[float]]
    distances: list[int]
    curves: dict[str, list[float]]


@dataclass(frozen=True, kw_only=True)
class PositionsView(ModelView):
    """The position encodings of a model, or those there are."""

    tables: list[PositionTable]

    def __repr__(self) -> str:
        return short_repr(self)

    def to_json(self) -> Json:
        """The view in dicts and lists."""
        return {"model": self.model, "tables": [vars(one) for one in self.tables]}

    def save(self, path: str | Path) -> Path:
        """Save a page, a figure or JSON, by the name of the file."""
        return save_positions(self, Path(path))


def save_positions(view: PositionsView, path: Path) -> Path:
    """A page, an image or the numbers, by the name given."""
    return save_view(view, path, page=positions_page, figure=positions_figure)


def positions_of(module: nn.Module, *, model: str = "") -> PositionsView:
    """The encodings of a model, each kind once for each name that differs in more than the number of a layer."""
    found: dict[str, PositionTable] = {}
    for name, part in module.named_modules():
        table = table_of(name, part)
        if table is not None:
            same = next((one for one in found.values() if one.table == table.table), None)
            if same is None:
                found[name] = table
    if not found:
        raise InputError(
            "this model has no position encodings.",
            found=type(module).__name__,
            fix="a recurrent model knows the order of its input by itself; atento parts --what positions shows all",
        )
    return PositionsView(model=model, tables=list(found.values()))


def all_positions() -> PositionsView:
    """Every encoding there is, untrained: learned vectors as they start; a relative bias would be 0."""
    torch.manual_seed(0)
    parts: dict[str, nn.Module] = {
        "sinusoidal": SinusoidalPositions(SIZE),
        "rotary": Rotary(SIZE),
        "alibi": Alibi(HEADS),
        "learned": LearnedPositions(SIZE, max_length=SHOWN),
        "binary": BinaryPositions(8),
        "index": IndexPositions(8),
    }
    return PositionsView(tables=[table for name, part in parts.items() if (table := table_of(name, part)) is not None])


@torch.no_grad()
def table_of(name: str, part: nn.Module) -> PositionTable | None:
    """The table of a part that encodes positions; None of any other."""
    if isinstance(part, Positions) and not isinstance(part, NoPositions):
        count = min(SHOWN, getattr(part, "max_length", SHOWN))
        device = next((one.device for one in [*part.parameters(), *part.buffers()]), torch.device("cpu"))
        vectors = part(torch.arange(count, device=device)).double().cpu().numpy()  # (P, F)
        return added(name, type(part).__name__, vectors)
    if isinstance(part, Rotary):
        angles = np.arange(SHOWN)[:, None] * part.frequencies.double().cpu().numpy()  # (P, F / 2)
        return PositionTable(
            name=name,
            kind="Rotary: cosine of the angle by which each pair of features is turned",
            across="pair of features",
            down="position",
            first=1,
            measure="mean cosine of the angle between two positions",
            table=rounded(np.cos(angles)),
            distances=list(range(SHOWN)),
            curves={"mean cosine": np.cos(angles).mean(axis=1).tolist()},
        )
    if isinstance(part, Alibi):
        offsets = np.arange(-REACH, REACH + 1)
        slopes: Numbers = part.slopes.double().cpu().numpy().reshape(-1, 1)  # (H, 1)
        return biases(name, "ALiBi: −m |distance|, a slope m for each head", -slopes * np.abs(offsets) + 0.0, offsets)
    if isinstance(part, RelativeBias):
        offsets = np.arange(-part.reach, part.reach + 1)
        learned = part.table.double().cpu().numpy().T  # (H, D)
        return biases(name, "relative bias: learned for each head and offset", learned, offsets)
    return None


def added(name: str, kind: str, vectors: Numbers) -> PositionTable:
    """Vectors (P, F) that are added to embeddings; their cosine by distance, in the mean over positions."""
    norms = np.linalg.norm(vectors, axis=1)
    units = vectors / np.where(norms > 0, norms, 1.0)[:, None]
    products = units @ units.T  # (P, P)
    known = norms > 0
    curve = []
    for distance in range(len(vectors) // 2):
        pairs = known[: len(vectors) - distance] & known[distance:]
        values = np.diagonal(products, distance)[pairs]
        curve.append(float(values.mean()) if len(values) else 0.0)
    return PositionTable(
        name=name,
        kind=f"{kind}: added to the embeddings",
        across="feature",
        down="position",
        first=1,
        measure="cosine of two positions",
        table=rounded(vectors),
        distances=list(range(len(curve))),
        curves={"cosine": curve},
    )


def biases(name: str, kind: str, table: NDArray[Any], offsets: NDArray[np.int64]) -> PositionTable:
    """Biases (H, D) of attention scores."""
    lines = {f"head {head + 1}": row.tolist() for head, row in enumerate(table[:MOST_LINES])}
    return PositionTable(
        name=name,
        kind=kind,
        across="offset of the key from the query",
        down="head",
        first=int(offsets[0]),
        measure="bias of the attention score",
        table=rounded(table),
        distances=offsets.tolist(),
        curves=lines,
    )


def positions_text(view: PositionsView, *, width: int = 80) -> str:
    """For a terminal: each encoding, and how alike positions are by distance."""
    lines = []
    for one in view.tables:
        rows, columns = len(one.table), len(one.table[0])
        lines += [f"{one.name}: {one.kind}", f"  {rows} × {columns} ({one.down} × {one.across})"]
        shown = [distance for distance in (0, 1, 2, 4, 8, 16) if distance in one.distances]
        for label, curve in list(one.curves.items())[:2]:
            values = "  ".join(f"{at}: {curve[one.distances.index(at)] + 0.0:.2f}" for at in shown)
            lines.append(f"  {label}, by distance  {values}".replace("-", "−"))
    return "\n".join(lines)


def positions_page(view: PositionsView) -> str:
    """A single HTML file: a heat map and a curve for each encoding."""
    name = view.model or "position encodings"
    heading = tag("h1", "Positions of ", tag("bdi", view.model)) if view.model else tag("h1", "Position encodings")
    sections = [table_section(one, f"positions-{at}") for at, one in enumerate(view.tables, start=1)]
    return page(f"{name}: positions", "how order is encoded", [heading], *sections)


def table_section(one: PositionTable, name: str) -> Markup:
    """The heat map of one encoding, and its curves."""
    values = np.array(one.table)
    data = {
        "shape": list(values.shape),
        "numbers": as_base64(torch.from_numpy(values)),
        "across": one.across,
        "down": one.down,
        "first": one.first,
    }
    series = [
        ChartSeries(name=label, colour=at, tables={"points": {"x": one.distances, "y": curve}})
        for at, (label, curve) in enumerate(one.curves.items())
    ]
    signed = one.first < 0
    chart = ChartData(
        name=name,
        label=f"{one.measure} against distance",
        x=[ChartAxis(key="x", name="offset of the key" if signed else "distance of two positions")],
        y=[ChartAxis(key="y", name=one.measure)],
        series=series,
        height=300,
    )
    return tag(
        "section",
        tag("h2", one.name),
        tag("p", f"{one.kind}."),
        tag("div", data_heat=f"heat-{name}", class_="heat"),
        embed(data, name=f"heat-{name}"),
        tag("p", f"Against distance: {one.measure}."),
        live_chart(chart, plain_curve(one)),
    )


def plain_curve(one: PositionTable) -> Markup:
    """The numbers of the first curve, for readers without JavaScript."""
    ((label, curve), *_) = one.curves.items()
    pairs = list(zip(one.distances, curve, strict=True))[:: max(1, len(curve) // 8)]
    return joined(tag("p", f"{label}: " + "; ".join(f"{at}: {value:.3f}" for at, value in pairs)))


def positions_figure(view: PositionsView, path: Path) -> Path:
    """Save a row for each encoding: its heat map, and its curves."""
    with saved_figure(path, size=(10.0, 2.9 * len(view.tables) + 0.4)) as figure:
        grid = figure.subplots(len(view.tables), 2, squeeze=False, width_ratios=(3, 2))
        for (left, right), one in zip(grid, view.tables, strict=True):
            draw_heat(figure, left, one)
            draw_curves(right, one)
    return path


def draw_heat(figure: Any, axes: Any, one: PositionTable) -> None:
    """Draw the heat map of one encoding."""
    values = np.array(one.table)
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    top = 0.5 if one.down == "head" else -0.5  # heads are counted from 1, positions from 0
    reach = (one.first - 0.5, one.first + values.shape[1] - 0.5, values.shape[0] + top, top)
    colours = {"cmap": "RdBu", "vmin": -largest, "vmax": largest}
    image = axes.imshow(values, aspect="auto", interpolation="nearest", extent=reach, **colours)
    axes.set_title(f"{one.name}: {one.kind}", fontsize=8.5, loc="left", parse_math=False)
    axes.set_xlabel(one.across)
    axes.set_ylabel(one.down)
    figure.colorbar(image, ax=axes, fraction=0.04, pad=0.02)


def draw_curves(axes: Any, one: PositionTable) -> None:
    """Draw similarity or bias against distance."""
    for at, (label, curve) in enumerate(one.curves.items()):
        axes.plot(one.distances, curve, color=f"C{at}", linewidth=1.2, label=label)
    axes.set_xlabel("offset of the key" if one.first < 0 else "distance of two positions")
    axes.set_title(one.measure, fontsize=8.5, loc="left")
    if len(one.curves) > 1:
        axes.legend(frameon=False, fontsize=6.5, ncols=2)
    light_grid(axes)
