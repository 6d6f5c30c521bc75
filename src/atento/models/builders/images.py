"""Models of images from a recipe: encoders, classifiers `conv[+SCORE][+DISTRIBUTION]` and captioners `conv/DECODER`.

`conv` classifies the mean of an image's regions, `conv+additive` an attention pooling of them. `conv/lstm+additive`
attends to the regions at every word, `conv/lstm+additive+hard` to one region at a time, `conv/lstm` has one vector for
the whole image.
"""

import math

from atento.errors import InputError, unknown_name
from atento.models.backbones.images import ImageEncoder, small_convolutions
from atento.models.builders.choices import (
    OF_LANGUAGE_MODELS,
    HeadMaker,
    attention_pooling,
    require_defaults,
    summary_of,
)
from atento.models.builders.encoder_decoder import build_decoder
from atento.models.classifier import Classifier
from atento.models.names import IMAGE_ENCODERS, ModelName, ModelPart, require_family
from atento.models.translator import Translator
from atento.spec import ModelRecipe

REGIONS = 8  # about so many on a side: a region is a place, and they are few enough to attend to


def require_image_encoder(part: ModelPart, name: ModelName) -> None:
    """Refuse a part of `name` that is no image encoder, or whose words name no attention."""
    if part.family not in IMAGE_ENCODERS:
        raise unknown_name("image encoder", part.family, IMAGE_ENCODERS, where=f"model {str(name)!r}")
    part.compose()


def require_image_and_text(name: ModelName, parts: str, *, example: str) -> None:
    """Refuse a name that is not an image encoder without attention and a second part, such as `example`."""
    if name.alone or not str(name.decoder):
        raise InputError(
            f"model {str(name)!r}: {parts}.",
            found=str(name),
            fix=f"write {next(iter(IMAGE_ENCODERS))}/{example if name.encoder.family in IMAGE_ENCODERS else name}",
        )
    require_image_encoder(name.encoder, name)
    if name.encoder.added_attention is not None:
        raise InputError(
            f"model {str(name)!r}: an image encoder has no attention; the other part has.",
            found=str(name.encoder),
            fix=f"write {name.encoder.family}/{name.decoder}",
        )


def build_image_encoder(recipe: ModelRecipe, side: int) -> ImageEncoder:
    """A convolutional encoder of images of this side: about 8 × 8 regions, model.hidden wide.

    It has model.layers convolutions among the regions, after those that halve the image.
    """
    if side < REGIONS:
        raise InputError(
            f"images must have a side of at least {REGIONS} pixels.",
            found=f"data.image_size={side}",
            fix="--set data.image_size=32",
        )
    halvings = max(1, round(math.log2(side / REGIONS)))
    body = small_convolutions(recipe.hidden, halvings=halvings, deep=recipe.layers)
    summarize = summary_of(recipe, auto="mean")
    return ImageEncoder(body, channels=recipe.hidden, size=recipe.hidden, summarize=summarize, dropout=recipe.dropout)


def require_image_classifier(name: ModelName) -> None:
    """Refuse a name that is not one image encoder."""
    if not name.alone:
        raise InputError(
            f"model {str(name)!r}: an image classifier has one part, not ENCODER/DECODER.",
            found=str(name),
            fix=f"write {name.encoder}, or {next(iter(IMAGE_ENCODERS))}+additive",
        )
    require_image_encoder(name.encoder, name)


def build_image_classifier(recipe: ModelRecipe, head: HeadMaker, width: int, *, side: int) -> Classifier:
    """A classifier of images of this side with `width` outputs, e.g. `LabelHead` and the number of labels."""
    name = ModelName.parse(recipe.name)
    require_image_classifier(name)
    require_defaults(recipe, "context", "attend", "characters", "ngrams", *OF_LANGUAGE_MODELS)
    encoder = build_image_encoder(recipe, side)
    attention = name.encoder.added_attention
    pooling = None if attention is None else attention_pooling(attention, recipe, encoder.size)
    return Classifier(encoder, head(encoder.size, width), pooling=pooling)


def require_captioner(name: ModelName) -> None:
    """Refuse a name that is not an image encoder without attention and a decoder of text."""
    parts = "a captioner has two parts, an image encoder and a decoder"
    require_image_and_text(name, parts, example="lstm+additive")
    require_family(name.decoder, name)


def build_captioner(recipe: ModelRecipe, vocabulary_size: int, *, side: int) -> Translator:
    """An encoder of images of this side and a decoder of text."""
    name = ModelName.parse(recipe.name)
    require_captioner(name)
    encoder = build_image_encoder(recipe, side)
    return Translator(encoder, build_decoder(name.decoder, recipe, vocabulary_size, source_size=encoder.size))
