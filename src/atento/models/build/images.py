"""Encoders of pictures by the names of a recipe, for every task that reads pictures.

Classifiers of pictures by the names of a recipe.
A name is ENCODER[+SCORE][+DISTRIBUTION]: `conv` judges the mean of a picture's regions, `conv+additive` what one
learned query takes of each, `conv+additive+sparsemax` of the few that matter.
Captioners by the names of a recipe: `conv/DECODER`, where DECODER is any that writes text.
`conv/lstm+additive` looks softly at regions of the picture, `conv/lstm+additive+hard` at one at a time,
`conv/lstm` knows the picture by one vector.
"""

import math

from atento.errors import InputError, unknown_name
from atento.models.backbones.images import PictureEncoder, small_convolutions
from atento.models.build.encoder_decoder import build_decoder
from atento.models.build.one_sided import HeadMaker, attention_pooling, require_defaults
from atento.models.classifier import Classifier
from atento.models.names import IMAGE_ENCODERS, ModelName, ModelPart, require_family
from atento.models.summaries import find_summary
from atento.models.translator import Translator
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


def require_picture_classifier(name: ModelName) -> None:
    """Refuse a name that is not one encoder of pictures."""
    if not name.alone:
        raise InputError(
            f"model {str(name)!r}: a classifier of pictures has one half.",
            found=str(name),
            fix=f"write {name.encoder}, or {next(iter(IMAGE_ENCODERS))}+additive",
        )
    require_image_encoder(name.encoder, name)


def build_picture_classifier(recipe: ModelRecipe, head: HeadMaker, width: int, *, side: int) -> Classifier:
    """Reads pictures of this side and says `width` outputs of each, e.g. `LabelHead` and the number of labels."""
    name = ModelName.parse(recipe.name)
    require_picture_classifier(name)
    require_defaults(recipe, "handover", "attend", "characters", "runs")
    encoder = picture_encoder(recipe, side)
    attention = name.encoder.attention
    pooling = None if attention is None else attention_pooling(attention, recipe, encoder.size)
    return Classifier(encoder, head(encoder.size, width), pooling=pooling)


def require_captioner(name: ModelName) -> None:
    """Refuse a name that is not an encoder of pictures without attention and a decoder of text."""
    encoder, decoder = name.encoder, name.decoder
    if name.alone or not str(decoder):
        raise InputError(
            f"model {str(name)!r}: a captioner has two halves, one that sees and one that writes.",
            found=str(name),
            fix=f"write {next(iter(IMAGE_ENCODERS))}/{'lstm+additive' if str(encoder) in IMAGE_ENCODERS else name}",
        )
    require_image_encoder(encoder, name)
    if encoder.attention is not None:
        raise InputError(
            f"model {str(name)!r}: an encoder of pictures has no attention; its decoder has.",
            found=str(encoder),
            fix=f"write {encoder.family}/{decoder}",
        )
    require_family(decoder, name)


def build_captioner(recipe: ModelRecipe, vocabulary_size: int, *, side: int) -> Translator:
    """Reads pictures of this side, writes tokens of this vocabulary."""
    name = ModelName.parse(recipe.name)
    require_captioner(name)
    encoder = picture_encoder(recipe, side)
    return Translator(encoder, build_decoder(name.decoder, recipe, vocabulary_size, source_size=encoder.size))
