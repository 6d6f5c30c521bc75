"""Pictures as tensors: what a source names is loaded once and kept, as long as there is room.

Where a model looked on a picture: an alignment whose sources are regions.
"""

import base64
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from atento.data.images.loading import LARGEST, Pixels, guess_side, load_picture
from atento.errors import InputError
from atento.spec import DataRecipe
from atento.tasks.task import Alignment

# Axes: B batch, S side; 3 channels: red, green, blue.

ROOM = 2**29  # bytes of pictures kept in memory; what comes later is loaded each time
SMALLEST_SIDE, LARGEST_SIDE = 8, 1024
A_PICTURE = 64  # tokens that reading one counts as, about as many as it has regions
THUMBNAIL = 8  # pixels a side, that simple models of labels see


class PictureReader:
    """Sources, paths or `drawn:` scenes, to pixels in [−1, 1] of one size."""

    def __init__(
        self, side: int, *, upright: bool = True, largest: float = LARGEST, room: int = ROOM, note: str = ""
    ) -> None:
        if not SMALLEST_SIDE <= side <= LARGEST_SIDE:
            raise InputError(
                f"pictures are brought to {SMALLEST_SIDE} to {LARGEST_SIDE} pixels a side.",
                found=f"data.pixels={side}",
                fix="--set data.pixels=32, or leave it out",
            )
        self.side, self.upright, self.largest, self.room, self.note = side, upright, largest, room, note
        self.kept: dict[str, Pixels] = {}

    @classmethod
    def of(cls, sources: Sequence[str]) -> "PictureReader":
        """As large as most of the pictures are."""
        side, note = guess_side(sources)
        return cls(side, note=note)

    def suited(self, recipe: DataRecipe) -> "PictureReader":
        """The same as a recipe wants it."""
        note = f"pictures are read at {recipe.pixels} × {recipe.pixels}, as asked" if recipe.pixels else self.note
        return PictureReader(
            recipe.pixels or self.side, upright=recipe.upright == "yes", largest=recipe.largest, note=note
        )

    @classmethod
    def load(cls, saved: Any) -> "PictureReader":
        """What `to_json` wrote."""
        known = isinstance(saved, Mapping) and type(saved.get("side")) is int and type(saved.get("upright")) is bool
        largest = saved.get("largest") if known else None
        if not known or not isinstance(largest, int | float):
            raise InputError("this file does not say how pictures are read.", found=str(saved)[:80], fix="train again")
        return cls(saved["side"], upright=saved["upright"], largest=float(largest))

    def to_json(self) -> dict[str, Any]:
        """How pictures are read; none of them."""
        return {"side": self.side, "upright": self.upright, "largest": self.largest}

    def read(self, source: str) -> Tensor:
        """The pixels (3, S, S) of one picture."""
        return self.read_all([source])[0]

    def read_all(self, sources: Sequence[str]) -> Tensor:
        """The pixels (B, 3, S, S) of several pictures."""
        pixels = torch.from_numpy(np.stack([self.bytes_of(source) for source in sources]))  # (B, S, S, 3)
        return pixels.permute(0, 3, 1, 2).contiguous().to(torch.get_default_dtype()) / 127.5 - 1.0

    def bytes_of(self, source: str) -> Pixels:
        """The pixels (S, S, 3) of one picture, as bytes."""
        found = self.kept.get(source)
        if found is None:
            found = load_picture(source, side=self.side, upright=self.upright, largest=self.largest)
            if (len(self.kept) + 1) * found.nbytes <= self.room:
                self.kept[source] = found
        return found


def count_alike(example: object) -> int:
    """Every picture counts alike, with a question too: else a batch would be of questions of one length and kind."""
    return A_PICTURE


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
