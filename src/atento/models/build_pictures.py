"""Encoders of pictures by the names of a recipe, for every task that reads pictures."""

import math

from atento.errors import InputError, unknown_name
from atento.models.names import IMAGE_ENCODERS, ModelName, ModelPart
from atento.models.pictures import PictureEncoder, small_convolutions
from atento.models.summaries import find_summary
from atento.spec import ModelRecipe

REGIONS = 8  # a side, about: fine enough for a region to be a place, few enough to look at one by one


def require_image_encoder(part: ModelPart, name: ModelName) -> None:
    """Refuse a part of `name` that reads no pictures, or whose words name no attention to pool regions by."""
    if part.family not in IMAGE_ENCODERS:
        raise unknown_name("encoder of pictures", part.family, IMAGE_ENCODERS, where=f"model {str(name)!r}")
    part.compose()


def picture_encoder(recipe: ModelRecipe, side: int) -> PictureEncoder:
    """Our own convolutional network for pictures of this side: about 8 × 8 regions, as wide as the recipe says.

    `model.layers` of it look around among the regions, after those that halve the picture.
    """
    if side < REGIONS:
        raise InputError(
            f"pictures must have a side of at least {REGIONS} pixels.",
            found=f"data.pixels={side}",
            fix="--set data.pixels=32",
        )
    halvings = max(1, round(math.log2(side / REGIONS)))
    body = small_convolutions(recipe.hidden, halvings=halvings, deep=recipe.layers)
    summarise = find_summary(recipe.summary, auto="mean")
    return PictureEncoder(body, channels=recipe.hidden, size=recipe.hidden, summarise=summarise, dropout=recipe.dropout)
