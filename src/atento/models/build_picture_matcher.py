"""Matchers of pictures and questions by the names of a recipe.

A name is ENCODER/READER[+SCORE][+DISTRIBUTION][+co]. `conv/gru` reads both by themselves; in `conv/gru+additive` the
question as a whole asks the picture, and what it finds the question again; in `conv/gru+dot+co` each word looks at the
picture and each region at the question.
"""

from atento.attention.attention import Attention
from atento.attention.presets import Composition, Sizes
from atento.blocks.coattention import AlternatingCoAttention
from atento.errors import InputError
from atento.models.build import CELLS, build_encoder, cells_of
from atento.models.build_matcher import CO, looks_across
from atento.models.build_one_sided import HeadMaker, require_defaults, require_no_linformer
from atento.models.build_pictures import picture_encoder, require_image_encoder
from atento.models.matcher import Verdict
from atento.models.names import IMAGE_ENCODERS, ModelName, ModelPart, require_family
from atento.models.picture_matcher import AskedPicture, CoPicture, PictureMatcher, PictureTowers
from atento.recurrent.stack import Stack
from atento.spec import ModelRecipe


def require_picture_matcher(name: ModelName) -> None:
    """Refuse a name that is not an encoder of pictures without attention and a recurrent reader of questions."""
    encoder, reader = name.encoder, name.decoder
    if name.alone or not str(reader):
        raise InputError(
            f"model {str(name)!r}: one half sees the picture and one reads the question.",
            found=str(name),
            fix=f"write {next(iter(IMAGE_ENCODERS))}/{'gru+dot+co' if encoder.family in IMAGE_ENCODERS else name}",
        )
    require_image_encoder(encoder, name)
    if encoder.attention is not None:
        raise InputError(
            f"model {str(name)!r}: what sees has no attention; what reads has.",
            found=str(encoder),
            fix=f"write {encoder.family}/{reader}",
        )
    looks_across(reader)
    require_family(name.without(CO).decoder, name)
    if reader.family not in CELLS:
        raise InputError(
            f"model {str(name)!r}: questions are read by a recurrent network.",
            found=reader.family,
            fix=f"take one of {', '.join(CELLS)}: {encoder}/gru+dot+co",
        )


def build_picture_matcher(
    recipe: ModelRecipe, vocabulary_size: int, head: HeadMaker, width: int, *, side: int
) -> PictureMatcher:
    """Reads pictures of this side and questions of this vocabulary, and says `width` outputs of each pair."""
    name = ModelName.parse(recipe.name)
    require_picture_matcher(name)
    part, together = name.without(CO).decoder, name.has(CO)
    require_defaults(recipe, "handover", "attend", "characters", "runs")
    require_no_linformer(part, recipe.name, "there are few regions, and nothing to save")
    encoder = picture_encoder(recipe, side)
    reader = build_encoder(ModelPart(part.family), recipe, vocabulary_size)
    size = recipe.hidden
    if not together and part.attention is None:
        return PictureTowers(encoder, reader, Verdict(size, head(size, width), dropout=recipe.dropout))
    require_defaults(recipe, "summary")
    composition = part.compose()
    if not together:
        opening, across, closing = (between(composition, recipe) for _ in range(3))
        asked = AlternatingCoAttention(size, size, opening=opening, across=across, closing=closing)
        return AskedPicture(encoder, reader, asked, Verdict(size, head(size, width), dropout=recipe.dropout))
    looks, back = between(composition, recipe), between(composition, recipe)
    after = Stack(cells_of(part.family, recipe), size, size // recipe.directions, bidirectional=recipe.directions == 2)
    verdict = Verdict(2 * size, head(size, width), dropout=recipe.dropout)
    return CoPicture(encoder, reader, looks, back, after, verdict, dropout=recipe.dropout)


def between(composition: Composition, recipe: ModelRecipe) -> Attention:
    """An attention from one side at the other; regions stand in no line, so no extent has a meaning."""
    if composition.extent != "everything":
        raise InputError(
            f"model {recipe.name!r}: a picture's regions stand in no line to look along.",
            found=f"the extent {composition.extent}",
            fix=f"leave {composition.extent!r} out",
        )
    sizes = Sizes(query=recipe.hidden, key=recipe.hidden, longest=recipe.longest, alpha=recipe.alpha)
    return composition.build(sizes)
