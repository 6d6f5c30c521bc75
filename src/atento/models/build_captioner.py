"""Captioners by the names of a recipe: `conv/DECODER`, where DECODER is any that writes text.

`conv/lstm+additive` looks softly at regions of the picture, `conv/lstm+additive+hard` at one at a time,
`conv/lstm` knows the picture by one vector.
"""

from atento.errors import InputError
from atento.models.build import EYES, Half, build_decoder, parse_half
from atento.models.build_pictures import parse_eye, picture_encoder
from atento.models.translator import Translator
from atento.spec import ModelRecipe


def parse_captioner(name: str) -> tuple[Half, Half]:
    """The half that sees and the half that writes."""
    seeing, _, writing = name.partition("/")
    if not writing:
        raise InputError(
            f"model {name!r}: a captioner has two halves, one that sees and one that writes.",
            found=name,
            fix=f"write {next(iter(EYES))}/{'lstm+additive' if seeing in EYES else name}",
        )
    eye = parse_eye(seeing, name)
    if eye.attention is not None:
        raise InputError(
            f"model {name!r}: an encoder of pictures has no attention; its decoder has.",
            found=seeing,
            fix=f"write {eye.family}/{writing}",
        )
    return eye, parse_half(writing, name)


def build_captioner(recipe: ModelRecipe, vocabulary_size: int, *, side: int) -> Translator:
    """Reads pictures of this side, writes tokens of this vocabulary."""
    _, writing = parse_captioner(recipe.name)
    encoder = picture_encoder(recipe, side)
    return Translator(encoder, build_decoder(writing, recipe, vocabulary_size, source_size=encoder.size))
