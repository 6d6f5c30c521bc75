"""Figure files of attention: alignments as matrices, and positional embeddings as a heat map."""

from math import ceil, sqrt
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.errors import InputError
from atento.views.attention.alignment import (
    AlignmentView,
    are_characters,
    joined_text,
    output_text,
    printable,
    weights_of,
)
from atento.views.figures import saved_figure
from atento.views.wording import shortened

# Axes: O output tokens, S source tokens.

MAX_PANELS = 8
MAX_LABEL = 24  # characters
LETTERS_AN_INCH = 13  # in the title
TICKS = (0, 0.1, 0.25, 0.5, 1)  # of the scale of weights


def alignment_figure(alignment: AlignmentView, path: Path) -> Path:
    """Save a panel for each head, or the mean of each layer where there are many heads."""
    panels = panels_of(alignment)
    columns = ceil(sqrt(len(panels)))
    rows = ceil(len(panels) / columns)
    output, source = len(alignment.output), len(alignment.source)
    size = (columns * min(max(0.16 * source, 2.2), 10.0) + 1.2, rows * (min(max(0.24 * output, 1.2), 12.0) + 0.9) + 0.5)
    with saved_figure(path, size=size) as figure:
        from matplotlib.colors import PowerNorm

        title = f"{printable(joined_text(alignment.source))} → {printable(output_text(alignment))}"
        lines = wrap(title, int(size[0] * LETTERS_AN_INCH), max_lines=3, placeholder=" …")
        figure.suptitle("\n".join(lines), fontsize=10, parse_math=False)
        grid = figure.subplots(rows, columns, squeeze=False)
        colours = {"cmap": "Blues", "norm": PowerNorm(0.5, vmin=0.0, vmax=1.0)}  # the root makes small weights visible
        for place, (name, matrix) in enumerate(panels.items()):
            image = draw_panel(grid.flat[place], alignment, matrix, colours, name if len(panels) > 1 else "")
        figure.colorbar(image, ax=grid, ticks=TICKS, format="%g", fraction=0.03, pad=0.01, label="weight")
        for spare in grid.flat[len(panels) :]:
            spare.set_axis_off()
    return path


def panels_of(alignment: AlignmentView) -> dict[str, NDArray[np.float64]]:
    """Titled matrices (O, S): every head, or the mean of each layer when there are more than eight heads."""
    weights = weights_of(alignment)
    layers, heads = weights.shape[:2]
    if layers * heads > MAX_PANELS:
        return {f"layer {layer + 1}, mean of {heads} heads": weights[layer].mean(axis=0) for layer in range(layers)}
    return {
        f"layer {layer + 1}, head {head + 1}" if layers > 1 else f"head {head + 1}": weights[layer, head]
        for layer in range(layers)
        for head in range(heads)
    }


def draw_panel(
    axes: Any, alignment: AlignmentView, matrix: NDArray[np.float64], colours: dict[str, Any], title: str
) -> Any:
    """Draw one matrix with its tokens as labels; returns the matplotlib image, which holds the colour scale."""
    output = [shortened(printable(token), MAX_LABEL) for token in alignment.output]
    source = [shortened(printable(token), MAX_LABEL) for token in alignment.source]
    image = axes.imshow(matrix, aspect="auto", interpolation="nearest", **colours)
    rotation = 0 if are_characters(alignment.source) else 90
    axes.set_xticks(range(len(source)), source, rotation=rotation, parse_math=False, family="DejaVu Sans")
    axes.set_yticks(range(len(output)), output, parse_math=False, family="DejaVu Sans")
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if title:
        axes.set_xlabel(title, color="0.35")
    return image


def positions_figure(table: NDArray[np.float64], path: Path) -> Path:
    """Save positions as a heat map: table (positions, features), e.g. of `SinusoidalPositions(500)`."""
    if table.ndim != 2:
        raise InputError(
            "positions are a table of positions × features.",
            found=f"shape {table.shape}",
            fix="give two axes, e.g. SinusoidalPositions(500)(torch.arange(2000)).numpy()",
        )
    with saved_figure(path, size=(7.0, 6.0)) as figure:
        axes = figure.subplots()
        figure.colorbar(draw_positions(axes, table), ax=axes, fraction=0.04, pad=0.02, label="value")
    return path


def draw_positions(axes: Any, table: NDArray[np.float64]) -> Any:
    """Draw a row for each position, from the top, and a column for each feature; returns the matplotlib image."""
    largest = float(np.abs(table).max(initial=0.0)) or 1.0
    image = axes.imshow(table, aspect="auto", interpolation="nearest", cmap="RdBu", vmin=-largest, vmax=largest)
    axes.set_xlabel("feature")
    axes.set_ylabel("position")
    return image
