"""A figure of several attention maps: for each one a grid of its layers and heads, tokens at its left and top."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atento.errors import InputError
from atento.models.diagnostics.attention_maps import AttentionMap
from atento.views.attention.alignment import are_characters, printable
from atento.views.figures import saved_figure
from atento.views.wording import shortened

MOST_HEADS = 12  # side by side; of more the first are drawn
MOST_LAYERS = 12
LABELLED = 40  # tokens of a side that are all named; of more some
LONGEST_LABEL = 14  # characters
PANEL = (1.1, 3.4)  # inches: the least and the most that a head takes
PER_TOKEN = 0.115  # inches
TITLE, GAP = 0.42, 0.28  # inches above each map, and between its layers
TICKS = (0, 0.1, 0.25, 0.5, 1)


def maps_figure(maps: Sequence[tuple[str, AttentionMap]], path: Path) -> Path:
    """Save all maps below each other, each with a name before its own."""
    if not maps:
        raise InputError(
            "there are no weights to show.",
            found="a model without attention",
            fix="look at a model that has attention, or take --what attribution",
        )
    sizes = [size_of(one) for _, one in maps]
    size = (max(width for width, _ in sizes) + 0.9, sum(height for _, height in sizes) + 0.2)
    with saved_figure(path, size=size) as figure:
        from matplotlib.colors import PowerNorm

        colours = {"cmap": "Blues", "norm": PowerNorm(0.5, vmin=0.0, vmax=1.0)}  # the root makes small weights visible
        parts = figure.subfigures(len(maps), 1, height_ratios=[height for _, height in sizes], squeeze=False)
        for (name, one), part in zip(maps, parts[:, 0], strict=True):
            draw_map(part, f"{name}{one.name}", one, colours)
    return path


def panels_of(one: AttentionMap) -> tuple[int, int]:
    """How many layers and heads are drawn."""
    return min(one.weights.size(0), MOST_LAYERS), min(one.weights.size(1), MOST_HEADS)


def panel_size(one: AttentionMap) -> tuple[float, float]:
    """Inches of one head, the wider the more tokens."""
    least, most = PANEL
    shown = one.grid if all(one.grid) and len(one.queries) == 1 else (len(one.queries), len(one.keys))
    height = min(max(PER_TOKEN * shown[0], 0.35 if shown[0] == 1 else least), most)
    return min(max(PER_TOKEN * shown[1], least), most), height


def size_of(one: AttentionMap) -> tuple[float, float]:
    """Inches of a whole map, with room for labels."""
    layers, heads = panels_of(one)
    width, height = panel_size(one)
    beside, above = room(one.queries), room(one.keys, upright=are_characters(one.keys))
    return heads * width + beside + 0.3, layers * (height + GAP) + above + TITLE


def room(labels: Sequence[str], *, upright: bool = False) -> float:
    """Inches that the labels of a side take."""
    return 0.2 if upright else 0.1 + 0.075 * min(LONGEST_LABEL, max(map(len, labels), default=0))


def draw_map(part: Any, name: str, one: AttentionMap, colours: dict[str, Any]) -> None:
    """Draw a panel for each layer and head, and the colour scale."""
    layers, heads = panels_of(one)
    left_out = one.weights.size(0) > layers or one.weights.size(1) > heads
    part.suptitle(name + (f" (the first {layers} × {heads} heads)" if left_out else ""), fontsize=10, x=0.01, ha="left")
    grid = part.subplots(layers, heads, squeeze=False)
    for layer in range(layers):
        for head in range(heads):
            axes = grid[layer, head]
            image = axes.imshow(one.weights[layer, head].numpy(), aspect="auto", interpolation="nearest", **colours)
            label(axes, one, left=head == 0, above=layer == 0)
            if layers * heads > 1:
                axes.set_xlabel(f"layer {layer + 1}, head {head + 1}", fontsize=7, color="0.35")
    part.colorbar(image, ax=grid, ticks=TICKS, format="%g", fraction=0.05, pad=0.01, label="weight")


def label(axes: Any, one: AttentionMap, *, left: bool, above: bool) -> None:
    """Tokens at the left of the first head and above the first layer; of many, only some."""
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelsize=6)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for labels, shown, set_ticks in ((one.keys, above, axes.set_xticks), (one.queries, left, axes.set_yticks)):
        every = -(-len(labels) // LABELLED)
        places = range(0, len(labels), every) if shown else []
        numbered = every > 1 and are_characters(labels)  # some letters alone would read like other words
        names = [str(at + 1) if numbered else shortened(printable(labels[at]), LONGEST_LABEL) for at in places]
        upright = set_ticks == axes.set_xticks and not are_characters(labels)
        rotation = {"rotation": 90} if upright else {}
        set_ticks(list(places), names, parse_math=False, family="DejaVu Sans", **rotation)
