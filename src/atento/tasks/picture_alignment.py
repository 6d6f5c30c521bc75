"""Where a model looked on a picture: an alignment whose sources are regions."""

import base64
import io
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from atento.tasks.picture_codec import PictureReader
from atento.tasks.task import Alignment

# Axes: L layers, H heads, O outputs, R regions, S side.

SHOWN = 3  # regions that evidence names


def over_regions(
    reader: PictureReader,
    source: str,
    *,
    grid: tuple[int, int],
    output: Sequence[str],
    weights: Tensor,
    text: str,
    score: float | None,
) -> Alignment:
    """Weights (L, H, O, R) over a grid of regions, with the picture as the model read it."""
    return Alignment(
        region_names(grid), list(output), weights, text, score, picture=as_png(reader.bytes_of(source)), grid=grid
    )


def region_names(grid: tuple[int, int]) -> list[str]:
    """`1·1` is the upper left corner, `1·2` is right of it."""
    return [f"{row + 1}·{column + 1}" for row in range(grid[0]) for column in range(grid[1])]


def as_png(pixels: NDArray[np.uint8]) -> str:
    """Pixels (S, S, 3) as a data URI, which a page shows without fetching anything."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, format="PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")


def evidence_in(weights: Tensor, grid: tuple[int, int]) -> str:
    """The regions (R,) that were looked at most, in words: `regions 3·5 (61 %), 3·6 (20 %) of 8 × 8`."""
    most = weights.topk(min(SHOWN, len(weights)))
    names = region_names(grid)
    told = [f"{names[at]} ({share:.0%})" for share, at in zip(most.values.tolist(), most.indices.tolist(), strict=True)]
    return f"regions {', '.join(told)} of {grid[0]} × {grid[1]}"
