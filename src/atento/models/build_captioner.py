"""Captioners by the names of a recipe: `conv/DECODER`, where DECODER is any that writes text.

`conv/lstm+additive` looks softly at regions of the picture, `conv/lstm+additive+hard` at one at a time,
`conv/lstm` knows the picture by one vector.
"""

from atento.errors import InputError
from atento.models.build import build_decoder
from atento.models.build_pictures import picture_encoder, require_image_encoder
from atento.models.names import IMAGE_ENCODERS, ModelName, require_family
from atento.models.translator import Translator
from atento.spec import ModelRecipe


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
