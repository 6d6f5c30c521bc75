"""Classifiers of pictures by the names of a recipe.

A name is ENCODER[+SCORE][+DISTRIBUTION]: `conv` judges the mean of a picture's regions, `conv+additive` what one
learned query takes of each, `conv+additive+sparsemax` of the few that matter.
"""

from atento.errors import InputError
from atento.models.build_one_sided import HeadMaker, attention_pooling, require_defaults
from atento.models.build_pictures import picture_encoder, require_image_encoder
from atento.models.classifier import Classifier
from atento.models.names import IMAGE_ENCODERS, ModelName
from atento.spec import ModelRecipe


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
