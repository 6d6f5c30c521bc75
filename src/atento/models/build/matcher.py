"""Matchers by the names of a recipe.

A name is FAMILY[+SCORE][+DISTRIBUTION][+EXTENT][+co]. Without `co` there are two towers: a recurrent one pools its
states by the composition, a Transformer's is its self-attention. With `co` each sequence looks at the other by it, and
a Transformer reads both as one sequence.

Matchers of pictures and questions by the names of a recipe.
A name is ENCODER/READER[+SCORE][+DISTRIBUTION][+co]. `conv/gru` reads both by themselves; in `conv/gru+additive` the
question as a whole asks the picture, and what it finds the question again; in `conv/gru+dot+co` each word looks at the
picture and each region at the question.
"""

from atento.attention.attention import Attention
from atento.attention.presets import Composition, Sizes
from atento.blocks.coattention import AlternatingCoAttention
from atento.errors import InputError
from atento.models.build.encoder_decoder import CELLS, build_encoder, cells_of
from atento.models.build.images import picture_encoder, require_image_encoder
from atento.models.build.one_sided import HeadMaker, attention_pooling, one_part, require_defaults, require_no_linformer
from atento.models.build.recurrent import recurrent_encoder
from atento.models.build.transformer import transformer_body
from atento.models.heads import Head
from atento.models.image_matcher import AskedPicture, CoPicture, PictureMatcher, PictureTowers
from atento.models.matcher import CoMatcher, JointMatcher, Matcher, TwoTowers, Verdict
from atento.models.names import IMAGE_ENCODERS, ModelName, ModelPart, require_family
from atento.recurrent.stack import Stack
from atento.spec import ModelRecipe

CO = "co"


def build_matcher(recipe: ModelRecipe, vocabulary_size: int, head: HeadMaker, width: int) -> Matcher:
    """Reads two sequences of tokens and says `width` outputs of each pair."""
    name = ModelName.parse(recipe.name)
    together = looks_across(name.decoder)
    part = one_part(name.without(CO), "a matcher")
    require_defaults(recipe, "handover", "attend", "characters")
    if not together:
        return two_towers(part, recipe, vocabulary_size, head(recipe.hidden, width))
    require_defaults(recipe, "summary")
    require_no_linformer(part, recipe.name, "two sequences look at each other token by token")
    verdict = Verdict(2 * recipe.hidden, head(recipe.hidden, width), dropout=recipe.dropout)
    if part.family == "transformer":
        body = transformer_body(part.compose(), recipe, vocabulary_size, causal=recipe.directions == 1)
        return JointMatcher(*body, verdict)
    return co_matcher(part, recipe, vocabulary_size, verdict)


def looks_across(part: ModelPart) -> bool:
    """Whether each sequence looks at the other; a part that says so twice is refused."""
    if part.added.count(CO) > 1:
        raise InputError(f"model {str(part)!r} says co twice.", found=str(part), fix="once is enough")
    return CO in part.added


def two_towers(part: ModelPart, recipe: ModelRecipe, vocabulary_size: int, head: Head) -> TwoTowers:
    """One encoder for both."""
    encoder = build_encoder(part, recipe, vocabulary_size)
    pooling = None
    if part.family != "transformer" and part.attention is not None:
        require_no_linformer(part, recipe.name, "a pooling asks once, and there is nothing to save")
        pooling = attention_pooling(part.attention, recipe, encoder.size)
    return TwoTowers(encoder, Verdict(encoder.size, head, dropout=recipe.dropout), pooling=pooling)


def co_matcher(part: ModelPart, recipe: ModelRecipe, vocabulary_size: int, verdict: Verdict) -> CoMatcher:
    """Both directions are as wide as one, before and after the look."""
    composition = part.compose()
    size, cells = recipe.hidden, cells_of(part.family, recipe)
    attention = composition.build(
        Sizes(query=size, key=size, reach=recipe.reach, block=recipe.block, longest=recipe.longest, alpha=recipe.alpha)
    )
    if not attention.extent.between:
        raise InputError(
            f"model {recipe.name!r}: {composition.extent} has a meaning within one sequence only.",
            found=composition.extent,
            fix="take local or local-predictive, leave it out, or name a transformer, which reads both as one",
        )
    encoder = recurrent_encoder(cells, recipe, vocabulary_size)
    after = Stack(cells, size, size // recipe.directions, bidirectional=recipe.directions == 2)
    return CoMatcher(encoder, attention, after, verdict, dropout=recipe.dropout)


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
