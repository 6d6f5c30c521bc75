"""Images as an input: a path or a drawn scene a source, read as pixels of one size and attended to region by region."""

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from atento.blocks.pooling import AttentionPooling
from atento.data.images.loading import MAX_MEGAPIXELS, Pixels, choose_side, load_image
from atento.data.images.png import png_uri
from atento.data.text.vocabulary import Vocabulary
from atento.errors import InputError
from atento.models.backbones.images import ImageEncoder, all_valid
from atento.models.builders.choices import HeadMaker
from atento.models.builders.images import (
    build_captioner,
    build_image_classifier,
    require_captioner,
    require_image_classifier,
)
from atento.models.classifier import Classifier, LabelledBatch
from atento.models.names import ModelName
from atento.models.protocols import Encoder
from atento.models.translator import Translator
from atento.spec import DataRecipe, ModelRecipe, TokensRecipe
from atento.tasks.inputs.input import (
    EncoderDecoderInput,
    ManyToOneInput,
    PaddedSources,
    SourceView,
    TakesDataRecipe,
    align_sequence,
    batch_sequences,
    trace_sequence,
)
from atento.tasks.task import Saved
from atento.tasks.traces import TraceMatrix, trace_matrix

# Axes: B batch, S side, R regions; 3 channels: red, green, blue.

CACHE_BYTES = 2**29  # of images kept in memory; what comes later is loaded each time
SMALLEST_SIDE, LARGEST_SIDE = 8, 1024
IMAGE_TOKENS = 64  # that reading an image counts as, about as many as it has regions
COLOURS = ("red", "green", "blue")
SHOWN = 3  # regions that evidence names


class ImageLoader:
    """Sources, paths or `drawn:` scenes, to pixels in [−1, 1] of one size; kept in memory as long as there is room."""

    def __init__(
        self,
        side: int,
        *,
        upright: bool = True,
        largest: float = MAX_MEGAPIXELS,
        room: int = CACHE_BYTES,
        note: str = "",
    ) -> None:
        if not SMALLEST_SIDE <= side <= LARGEST_SIDE:
            raise InputError(
                f"images are brought to {SMALLEST_SIDE} to {LARGEST_SIDE} pixels a side.",
                found=f"data.image_size={side}",
                fix="--set data.image_size=32, or leave it out",
            )
        self.side, self.upright, self.largest, self.room, self.note = side, upright, largest, room, note
        self.kept: dict[str, Pixels] = {}

    @classmethod
    def of(cls, sources: Sequence[str]) -> Self:
        """As large as most of the images are."""
        side, note = choose_side(sources)
        return cls(side, note=note)

    def bind(self, recipe: DataRecipe) -> "ImageLoader":
        """The same as a recipe wants it."""
        note = (
            f"images are read at {recipe.image_size} × {recipe.image_size}, as asked"
            if recipe.image_size
            else self.note
        )
        side, upright = recipe.image_size or self.side, recipe.exif_rotation == "yes"
        return ImageLoader(side, upright=upright, largest=recipe.max_megapixels, note=note)

    @classmethod
    def load(cls, saved: object) -> Self:
        """What `to_json` wrote."""
        known = isinstance(saved, Mapping) and type(saved.get("side")) is int and type(saved.get("upright")) is bool
        if not known or not isinstance(saved, Mapping) or not isinstance(saved.get("largest"), int | float):
            raise InputError("this file does not say how images are read.", found=str(saved)[:80], fix="train again")
        return cls(saved["side"], upright=saved["upright"], largest=float(saved["largest"]))

    def to_json(self) -> dict[str, object]:
        """How images are read; none of them."""
        return {"side": self.side, "upright": self.upright, "largest": self.largest}

    def read_all(self, sources: Sequence[str]) -> Tensor:
        """The pixels (B, 3, S, S) of several images."""
        pixels = torch.from_numpy(np.stack([self.bytes_of(source) for source in sources]))  # (B, S, S, 3)
        return pixels.permute(0, 3, 1, 2).contiguous().to(torch.get_default_dtype()) / 127.5 - 1.0

    def bytes_of(self, source: str) -> Pixels:
        """The pixels (S, S, 3) of one image, as bytes."""
        found = self.kept.get(source)
        if found is None:
            found = load_image(source, side=self.side, upright=self.upright, largest=self.largest)
            if (len(self.kept) + 1) * found.nbytes <= self.room:
                self.kept[source] = found
        return found


class Image(ManyToOneInput[str, LabelledBatch, Classifier], EncoderDecoderInput[str], TakesDataRecipe):
    """Sources <-> pixels; an encoded source is its name, and is loaded when its batch is made."""

    kind = "image"
    texts = ""
    has_length = False

    batch = batch_sequences
    align = align_sequence
    trace = trace_sequence

    def __init__(self, images: ImageLoader) -> None:
        self.images = images
        self.notes = (images.note,) if images.note else ()

    @classmethod
    def learn(cls, recipe: TokensRecipe, sources: Sequence[str], *, writes: bool) -> Self:
        """As large as most images of the training part."""
        return cls(ImageLoader.of(sources))

    @classmethod
    def load(cls, saved: Saved) -> Self:
        """What `to_json` wrote."""
        return cls(ImageLoader.load(saved.get("images")))

    def to_json(self) -> dict[str, object]:
        """How images are read."""
        return {"images": self.images.to_json()}

    def bind(self, recipe: DataRecipe) -> Self:
        """The same images, of the size that the recipe names."""
        return type(self)(self.images.bind(recipe))

    @staticmethod
    def check_name(name: ModelName, *, writes: bool) -> None:
        """An image encoder, alone or with a decoder of text."""
        (require_captioner if writes else require_image_classifier)(name)

    def encode(self, source: str) -> str:
        """Its name."""
        return source

    def length(self, encoded: str) -> int:
        """All images count alike."""
        return IMAGE_TOKENS

    def output_length(self, encoded: str) -> int:
        """An image is one item."""
        return 1

    def tensors(self, encoded: Sequence[str]) -> PaddedSources:
        """Pixels (B, 3, S, S) and valid (B, 1): an image has no padding."""
        pixels = self.images.read_all(encoded)
        return PaddedSources(pixels, all_valid(pixels))

    def build(self, recipe: ModelRecipe, head: HeadMaker, width: int) -> Classifier:
        """A classifier of images."""
        return build_image_classifier(recipe, head, width, side=self.images.side)

    def build_translator(self, recipe: ModelRecipe, target: Vocabulary) -> Translator:
        """A captioner."""
        return build_captioner(recipe, len(target), side=self.images.side)

    @torch.no_grad()
    def evidence(
        self, networks: Sequence[Classifier], batch: LabelledBatch, sources: Sequence[str]
    ) -> list[str | None]:
        """The regions that were attended to most, where attention pools."""
        if not all(isinstance(network.pooling, AttentionPooling) for network in networks):
            return [None] * len(sources)
        grid = grid_of(networks[0].encoder, self.images.side)
        every = torch.stack([network.weights(batch) for network in networks]).mean(dim=0)
        return [region_evidence(weights, grid) for weights in every.float().cpu()]

    def view(self, encoder: Encoder, source: str) -> SourceView:
        """Its regions, row by row, with the image as the network read it."""
        grid = grid_of(encoder, self.images.side)
        return SourceView(region_names(grid), png_uri(self.images.bytes_of(source)), grid)

    def trace_source(self, encoder: Encoder, source: str, view: SourceView) -> list[TraceMatrix]:
        """The mean colour of each region, and its features."""
        like = next(encoder.parameters())
        pixels = self.images.read_all([source]).to(like)
        colours = functional.adaptive_avg_pool2d(pixels, view.grid)[0].flatten(1).mT  # (R, 3)
        features = image_encoder(encoder).features(pixels)[0].flatten(1).mT  # (R, channels)
        return [
            trace_matrix(
                "pixels", "the mean colour of each region, from −1 to 1", view.labels, colours, columns=COLOURS
            ),
            trace_matrix("features", "the features of each region", view.labels, features.cpu()),
        ]


def image_encoder(encoder: Encoder) -> ImageEncoder:
    """The encoder of a network that reads images."""
    if not isinstance(encoder, ImageEncoder):
        raise TypeError(f"images are read by an ImageEncoder, not by a {type(encoder).__name__}")
    return encoder


def grid_of(encoder: Encoder, side: int) -> tuple[int, int]:
    """Rows and columns of regions that an encoder makes of an image of this side."""
    return image_encoder(encoder).grid(side)


def region_names(grid: tuple[int, int]) -> list[str]:
    """`1·1` is the upper left corner, `1·2` is right of it."""
    return [f"{row + 1}·{column + 1}" for row in range(grid[0]) for column in range(grid[1])]


def region_evidence(weights: Tensor, grid: tuple[int, int]) -> str:
    """The regions (R,) of the largest weights, in words: `regions 3·5 (61 %), 3·6 (20 %) of 8 × 8`."""
    most, names = weights.topk(min(SHOWN, len(weights))), region_names(grid)
    regions = [
        f"{names[at]} ({share:.0%})" for share, at in zip(most.values.tolist(), most.indices.tolist(), strict=True)
    ]
    return f"regions {', '.join(regions)} of {grid[0]} × {grid[1]}"
