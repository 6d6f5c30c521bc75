"""Classifiers of pictures by the names of a recipe.

A name is EYE[+SCORE][+DISTRIBUTION]: `conv` judges the mean of a picture's regions, `conv+additive` what one learned
query takes of each, `conv+additive+sparsemax` of the few that matter.
"""

from atento.errors import InputError
from atento.models.build import EYES, Half
from atento.models.build_one_sided import HeadMaker, attention_pooling, require_defaults
from atento.models.build_pictures import parse_eye, picture_encoder
from atento.models.classifier import Classifier
from atento.spec import ModelRecipe


def parse_picture_classifier(name: str) -> Half:
    """The one half of a name: it sees."""
    if "/" in name:
        raise InputError(
            f"model {name!r}: a classifier of pictures has one half.",
            found=name,
            fix=f"write {name.partition('/')[0]}, or {next(iter(EYES))}+additive",
        )
    return parse_eye(name, name)


def build_picture_classifier(recipe: ModelRecipe, head: HeadMaker, width: int, *, side: int) -> Classifier:
    """Reads pictures of this side and says `width` outputs of each, e.g. `LabelHead` and the number of labels."""
    half = parse_picture_classifier(recipe.name)
    require_defaults(recipe, "handover", "attend", "characters", "runs")
    encoder = picture_encoder(recipe, side)
    pooling = None if half.attention is None else attention_pooling(half.attention, recipe, encoder.size)
    return Classifier(encoder, head(encoder.size, width), pooling=pooling)
