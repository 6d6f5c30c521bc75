"""One frame of a live picture drawn by matplotlib: panels in a row, a sentence below."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from atento.bundle import Json
from atento.views.figures import light_grid, saved_figure
from atento.views.live.panels import local_number

COLOURS = ("#0a5bb0", "#c4500a", "#00765a", "#93437f", "#80660a", "#2b8bb8", "#5a5f66", "#7a3b1d")  # as in live.css
MARKERS = ("o", "s", "^", "D", "v", "P", "_", "|")
DASHES = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1, 2)), "-", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1, 2)))
WIDTH, HEIGHT, CELL = 8.0, 3.6, 0.34  # inches
FEW = 24  # labels of an axis that fit

Say = Callable[[str], str]


def picture_figure(frame: Sequence[Json], path: Path, *, note: str, words: Mapping[str, str], language: str) -> None:
    """Save one frame. Rows of cells take the whole width; the other panels share a row above them."""

    def say(text: str) -> str:
        return words.get(text, text)

    charts = [one for one in frame if one["kind"] != "cells"]
    strips = [one for one in frame if one["kind"] == "cells"]
    heights = [HEIGHT] * bool(charts) + [CELL * len(one["rows"]) + 0.3 * bool(one["title"]) + 0.1 for one in strips]
    with saved_figure(path, size=(WIDTH, sum(heights) + 0.35 * bool(note))) as figure:
        if note:
            figure.supxlabel(note, fontsize=9, color="0.3", parse_math=False, wrap=True)
        grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
        if charts:
            row = grid[0].subgridspec(1, len(charts))
            for at, one in enumerate(charts):
                axes = figure.add_subplot(row[at])
                DRAWN[one["kind"]](axes, one, say, language)
                axes.set_title(say(one["title"]), fontsize=10, loc="left", parse_math=False)
        for at, one in enumerate(strips, start=bool(charts)):
            axes = figure.add_subplot(grid[at])
            draw_cells(axes, one, say, language)
            axes.set_title(say(one["title"]), fontsize=10, loc="left", parse_math=False)


def draw_chart(axes: Any, panel: Json, say: Say, language: str) -> None:
    """Draw curves, trajectories and points."""
    for at, one in enumerate(panel["series"]):
        x, y = (np.array(one[key], dtype=float) for key in "xy")
        look = {"color": COLOURS[at % 8], "label": say(one["name"])}
        marker = MARKERS[at % 8]
        if one["line"]:
            axes.plot(
                x,
                y,
                linestyle=DASHES[at % 8],
                marker=marker if one["dots"] else None,
                markersize=4,
                clip_on=not one["dots"],
                **look,
            )
        else:
            axes.plot(x, y, marker, markersize=4, **look)
        if one.get("head") and len(x):
            axes.plot(x[-1:], y[-1:], marker, color=COLOURS[at % 8], markersize=6)
        for place, label in zip(zip(x, y, strict=True), one.get("labels", ()), strict=False):
            axes.annotate(say(label), place, xytext=(3, 3), textcoords="offset points", fontsize=8, parse_math=False)
    if panel["cursor"] is not None:
        axes.axvline(panel["cursor"], color="0.5", linewidth=1)
    axes.set_xscale("log" if panel["log_x"] else "linear")
    axes.set_yscale("log" if panel["log_y"] else "linear")
    axes.set_xlim(panel["limits"]["x"])
    axes.set_ylim(panel["limits"]["y"])
    if panel["equal"]:
        axes.set_aspect("equal", adjustable="box")
    finish(axes, panel, say, language)


def draw_bars(axes: Any, panel: Json, say: Say, language: str) -> None:
    """Draw bars side by side."""
    count = len(panel["series"])
    width = 0.8 / max(count, 1)
    for at, one in enumerate(panel["series"]):
        places = np.arange(len(panel["names"])) + (at - (count - 1) / 2) * width
        axes.bar(places, np.array(one["y"], dtype=float), 0.92 * width, color=COLOURS[at % 8], label=say(one["name"]))
    axes.set_xticks(range(len(panel["names"])), [say(name) for name in panel["names"]], parse_math=False)
    axes.set_ylim(panel["limits"]["y"])
    finish(axes, panel | {"across": ""}, say, language)
    axes.grid(axis="x", visible=False)


def finish(axes: Any, panel: Json, say: Say, language: str) -> None:
    """Names of the axes, legend, grid, and numbers as the language writes them."""
    from matplotlib.ticker import FuncFormatter

    light_grid(axes)
    axes.set_xlabel(say(panel["across"]), parse_math=False)
    axes.set_ylabel(say(panel["up"]), parse_math=False)
    if any(one["name"] for one in panel["series"]) and len(panel["series"]) > 1:
        axes.legend(frameon=False, fontsize=8)
    if language == "es":
        kinds = [kind for kind in (axes.xaxis, axes.yaxis) if kind.get_scale() == "linear"]
        for axis in kinds[panel["kind"] == "bars" :]:
            axis.set_major_formatter(FuncFormatter(lambda value, _: local_number(f"{value:g}", "es")))


def draw_heat(axes: Any, panel: Json, say: Say, language: str) -> None:
    """Draw a matrix in shades, its first row on top."""
    values = np.array(panel["values"], dtype=float)
    shades(axes, values, panel, language)
    for axis, names in ((axes.xaxis, panel["columns"]), (axes.yaxis, panel["rows"])):
        every = -(-len(names) // FEW)
        axis.set_ticks(range(0, len(names), every), [say(name) for name in names[::every]], parse_math=False)
    long = sum(len(name) + 1 for name in panel["columns"]) > FEW * 2
    axes.tick_params(length=0, labelsize=8)
    axes.tick_params(axis="x", rotation=90 if long and max(map(len, panel["columns"])) > 2 else 0)
    axes.set_xlabel(say(panel["across"]), parse_math=False)
    axes.set_ylabel(say(panel["up"]), parse_math=False)


def draw_cells(axes: Any, panel: Json, say: Say, language: str) -> None:
    """Draw rows of cells with a text in each."""
    count = max(len(row["texts"]) for row in panel["rows"])
    values = np.full((len(panel["rows"]), count), np.nan)
    for at, row in enumerate(panel["rows"]):
        values[at, : len(row["y"])] = np.array(row["y"], dtype=float)
    shades(axes, values, panel | {"show_values": False}, language, aspect="auto")
    for at, row in enumerate(panel["rows"]):
        for place, text in enumerate(row["texts"]):
            colour = "white" if strong(values[at, place], panel) else "#1c2127"
            axes.text(place, at, say(text), ha="center", va="center", fontsize=8, color=colour, parse_math=False)
    axes.set_xticks([])
    axes.set_yticks(range(len(panel["rows"])), [say(row["name"]) for row in panel["rows"]], parse_math=False)
    axes.tick_params(length=0, labelsize=9)
    for place in panel["marked"]:
        axes.axvspan(place - 0.5, place + 0.5, fill=False, edgecolor="#c4500a", linewidth=1.5)


def shades(axes: Any, values: Any, panel: Json, language: str, aspect: str = "auto") -> None:
    """The cells of a matrix from white to blue, or from orange to blue around 0."""
    from matplotlib.colors import LinearSegmentedColormap

    ends = ("#c4500a", "#ffffff", "#0a5bb0") if panel["diverging"] else ("#ffffff", "#0a5bb0")
    low, high = panel["limits"]["v"]
    colours = LinearSegmentedColormap.from_list("shades", ends)
    axes.imshow(values, cmap=colours, vmin=low, vmax=high, aspect=aspect, interpolation="nearest")
    axes.set_xticks(np.arange(values.shape[1] + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(values.shape[0] + 1) - 0.5, minor=True)
    if values.size <= FEW * FEW:
        axes.grid(which="minor", color="#dfe3e8", linewidth=0.8)
    axes.tick_params(which="minor", length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    if panel["show_values"]:
        for (row, column), value in np.ndenumerate(values):
            text = "" if np.isnan(value) else local_number(f"{value:.2f}", language)
            colour = "white" if strong(value, panel) else "#1c2127"
            axes.text(column, row, text, ha="center", va="center", fontsize=7, color=colour)


def strong(value: float, panel: Json) -> bool:
    """Whether a shade is so dark that its text must be light."""
    low, high = panel["limits"]["v"]
    return (
        bool(abs(value) > 0.6 * max(abs(low), abs(high)))
        if panel["diverging"]
        else bool(value > low + 0.55 * (high - low))
    )


DRAWN: dict[str, Callable[[Any, Json, Say, str], None]] = {"chart": draw_chart, "bars": draw_bars, "heat": draw_heat}
