"""Where a model looked on a picture: the picture once for each word, clear where the weight was.

The region with a word's largest weight is quite clear, and that weight stands beside the word; elsewhere a veil, white
on a dark picture and black on a bright one, is the thicker the less weight there is."""

import base64
import io
import warnings
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.errors import InputError
from atento.views.attention.alignment import Alignment, mean_of_heads, shown, written
from atento.views.attention.images import KINDS, SETTINGS, kind_of
from atento.views.attention.terminal import SHADES, fitted, shading
from atento.views.wording import shortened

# Axes: O words written, h and w rows and columns of regions, R = h·w, S side of the picture.

PREFIX = "data:image/png;base64,"
VEIL = 0.85  # how much of a picture is hidden where nothing was looked at
MIDDLE = 0.5  # of brightness: darker pictures get a white veil
ACROSS = 6  # pictures in a row
LONGEST_WORD = 18
CELL = 2  # columns of a terminal for each region: about a square
GAP = 3


def of_a_picture(alignment: Alignment) -> bool:
    """Whether the sources are regions of a picture."""
    return bool(alignment.get("picture"))


def maps_of(alignment: Alignment, *, layer: int = -1) -> NDArray[np.float64]:
    """Weights as maps (O, h, w), the mean over the heads of a layer."""
    rows, columns = alignment["grid"]
    matrix = mean_of_heads(alignment, layer=layer)
    if rows * columns != matrix.shape[1]:
        raise InputError(
            "the grid of a picture does not fit its weights.",
            found=f"{rows} × {columns} regions, weights over {matrix.shape[1]}",
            fix="give grid=(rows, columns) whose product is the number of sources",
        )
    return matrix.reshape(-1, rows, columns)


def pixels_of(alignment: Alignment) -> NDArray[np.float64]:
    """The picture (S, S, 3), numbers from 0 to 1."""
    from PIL import Image

    try:
        data = base64.b64decode(str(alignment["picture"]).removeprefix(PREFIX), validate=True)
        with Image.open(io.BytesIO(data), formats=["PNG"]) as picture:
            return np.asarray(picture.convert("RGB"), dtype=np.float64) / 255.0
    except (ValueError, OSError, SyntaxError):  # what PIL raises at what is no picture
        found = shortened(str(alignment["picture"]), 60)
        raise InputError("an alignment's picture must be a PNG.", found=found, fix=f"give {PREFIX}...") from None


def veiled(pixels: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The picture (S, S, 3) under a veil that lifts with each region's weight (h, w), all off at the largest."""
    height, width = pixels.shape[:2]
    rows = np.arange(height) * weights.shape[0] // height  # (S,) the region each pixel lies in
    columns = np.arange(width) * weights.shape[1] // width
    hidden = VEIL * (1.0 - lifted(weights))[rows][:, columns][..., None]  # (S, S, 1)
    return pixels * (1.0 - hidden) + (hidden if pixels.mean() < MIDDLE else 0.0)


def lifted(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each weight as a share of the largest, none below 0; what is no number is 0."""
    seen = np.nan_to_num(weights, nan=0.0, posinf=0.0).clip(min=0.0)
    return seen / (seen.max() or 1.0)


def regions_picture(alignment: Alignment, path: str | Path) -> Path:
    """Save the picture and, for each word, the picture as it was looked at; the suffix says which kind of file."""
    path = Path(path)
    kind = kind_of(path)

    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    pixels, maps = pixels_of(alignment), maps_of(alignment)
    panels: list[tuple[str, NDArray[np.float64]]] = [("", pixels)]
    for word, map_ in zip(alignment["output"], maps, strict=True):
        panels.append((f"{shortened(shown(word), LONGEST_WORD)}  {map_.max():.2f}", veiled(pixels, map_)))
    across = min(ACROSS, len(panels))
    down = ceil(len(panels) / across)
    with mpl.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Glyph .* missing from")  # scripts the font lacks become boxes
        figure = Figure(figsize=(across * 1.5 + 0.2, down * 1.75 + 0.5), layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(shown(written(alignment)), fontsize=10, parse_math=False)
        grid = figure.subplots(down, across, squeeze=False)
        for axes in grid.flat:
            axes.set_axis_off()
        for axes, (word, picture) in zip(grid.flat, panels, strict=False):
            draw_panel(axes, picture, word)
        figure.savefig(path, format=kind[1:], **KINDS[kind])
    return path


def draw_panel(axes: Any, picture: NDArray[np.float64], word: str) -> None:
    """One picture with its word above it."""
    axes.imshow(picture, interpolation="nearest")
    axes.set_title(word, fontsize=9, parse_math=False)


def shade_regions(alignment: Alignment, *, width: int = 80) -> str:
    """The same for a terminal: a block of shades a word, side by side as far as they fit."""
    maps = maps_of(alignment)
    size = CELL * maps.shape[2]
    across = max(1, (width + GAP) // (size + GAP))
    blocks = [block(word, map_, size) for word, map_ in zip(alignment["output"], maps, strict=True)]
    bands = [blocks[first : first + across] for first in range(0, len(blocks), across)]
    lines = ["\n".join((" " * GAP).join(row).rstrip() for row in zip(*band, strict=True)) for band in bands]
    legend = "  ".join(f"{sign} ≥ {least:g}" for least, sign in sorted(SHADES.items()))
    return "\n\n".join([*lines, fitted(legend, width).rstrip()])


def block(word: str, weights: NDArray[np.float64], size: int) -> list[str]:
    """A word over a frame of its regions (h, w), each line `size` columns wide."""
    rows = ["".join(blank(shading(weight)) * CELL for weight in row) for row in weights]
    return [fitted(shown(word), size), *rows]


def blank(sign: str) -> str:
    """A region that was not looked at is a dot, so that the picture keeps its frame."""
    return "·" if sign == " " else sign
