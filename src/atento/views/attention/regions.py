"""Attention over an image: the image once for each word, clear where the weight is.

The region with a word's largest weight is fully visible, and that weight stands beside the word; elsewhere a veil,
white on a dark image and black on a bright one, is the denser the less weight there is.
"""

import base64
import io
from math import ceil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from atento.errors import InputError
from atento.extras import require_extra
from atento.views.attention.alignment import AlignmentView, mean_of_heads, output_text, printable
from atento.views.attention.terminal import SHADES, fitted, shading
from atento.views.figures import saved_figure
from atento.views.wording import shortened

# Axes: O output tokens, h and w rows and columns of regions, R = h·w, S side of the image.

PREFIX = "data:image/png;base64,"
VEIL = 0.85  # how much of an image is hidden where the weight is 0
MIDDLE = 0.5  # of brightness: darker images get a white veil
ACROSS = 6  # images in a row
MAX_WORD = 18  # characters
CELL = 2  # columns of a terminal for each region: about a square
GAP = 3


def maps_of(alignment: AlignmentView, *, layer: int = -1) -> NDArray[np.float64]:
    """Weights as maps (O, h, w), the mean over the heads of a layer."""
    rows, columns = alignment.grid
    matrix = mean_of_heads(alignment, layer=layer)
    if rows * columns != matrix.shape[1]:
        raise InputError(
            "the grid of an image does not fit its weights.",
            found=f"{rows} × {columns} regions, weights over {matrix.shape[1]}",
            fix="give grid=(rows, columns) whose product is the number of sources",
        )
    return matrix.reshape(-1, rows, columns)


def pixels_of(alignment: AlignmentView) -> NDArray[np.float64]:
    """The image (S, S, 3), numbers from 0 to 1."""
    require_extra("images", "drawing a picture over an image")
    from PIL import Image

    try:
        data = base64.b64decode(alignment.image.removeprefix(PREFIX), validate=True)
        with Image.open(io.BytesIO(data), formats=["PNG"]) as image:
            return np.asarray(image.convert("RGB"), dtype=np.float64) / 255.0
    except (ValueError, OSError, SyntaxError):  # what PIL raises for a file that is no image
        found = shortened(alignment.image, 60)
        raise InputError("the image of an alignment must be a PNG.", found=found, fix=f"give {PREFIX}...") from None


def veiled(pixels: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The image (S, S, 3) under a veil that thins with each region's weight (h, w); there is none at the largest."""
    height, width = pixels.shape[:2]
    rows = np.arange(height) * weights.shape[0] // height  # (S,) the region each pixel lies in
    columns = np.arange(width) * weights.shape[1] // width
    seen = np.nan_to_num(weights, nan=0.0, posinf=0.0).clip(min=0.0)
    hidden = VEIL * (1.0 - seen / (seen.max() or 1.0))[rows][:, columns][..., None]  # (S, S, 1)
    return pixels * (1.0 - hidden) + (hidden if pixels.mean() < MIDDLE else 0.0)


def regions_figure(alignment: AlignmentView, path: Path) -> Path:
    """Save the image, and for each word the image with the veil of its weights."""
    pixels, maps = pixels_of(alignment), maps_of(alignment)
    panels: list[tuple[str, NDArray[np.float64]]] = [("", pixels)]
    for word, map_ in zip(alignment.output, maps, strict=True):
        panels.append((f"{shortened(printable(word), MAX_WORD)}  {map_.max():.2f}", veiled(pixels, map_)))
    across = min(ACROSS, len(panels))
    down = ceil(len(panels) / across)
    with saved_figure(path, size=(across * 1.5 + 0.2, down * 1.75 + 0.5)) as figure:
        figure.suptitle(printable(output_text(alignment)), fontsize=10, parse_math=False)
        grid = figure.subplots(down, across, squeeze=False)
        for axes in grid.flat:
            axes.set_axis_off()
        for axes, (word, image) in zip(grid.flat, panels, strict=False):
            axes.imshow(image, interpolation="nearest")
            axes.set_title(word, fontsize=9, parse_math=False)
    return path


def shade_regions(alignment: AlignmentView, *, width: int = 80) -> str:
    """The same for a terminal: a block of shades for each word, side by side as far as they fit."""
    maps = maps_of(alignment)
    size = CELL * maps.shape[2]
    across = max(1, (width + GAP) // (size + GAP))
    blocks = [block(word, map_, size) for word, map_ in zip(alignment.output, maps, strict=True)]
    bands = [blocks[first : first + across] for first in range(0, len(blocks), across)]
    lines = ["\n".join((" " * GAP).join(row).rstrip() for row in zip(*band, strict=True)) for band in bands]
    legend = "  ".join(f"{sign} ≥ {least:g}" for least, sign in sorted(SHADES.items()))
    return "\n\n".join([*lines, fitted(legend, width).rstrip()])


def block(word: str, weights: NDArray[np.float64], size: int) -> list[str]:
    """A word above its regions (h, w), each line `size` columns wide."""
    rows = ["".join(shading(weight) * CELL for weight in row) for row in weights]
    return [fitted(printable(word), size), *(row.replace(" ", "·") for row in rows)]  # dots show the image's outline
