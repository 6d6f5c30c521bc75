"""Matchers from a recipe: of two texts, and of an image and a question.

Two texts: FAMILY[+SCORE][+DISTRIBUTION][+EXTENT][+co]. Without `co` there are two towers: the composition of a
recurrent name pools the states, that of a Transformer is its self-attention. With `co` each sequence attends to the
other by the composition, and a Transformer reads both as one sequence.

Image and question: ENCODER/READER[+SCORE][+DISTRIBUTION][+co]. `conv/gru` encodes both alone; in `conv/gru+additive`
the question as a whole attends to the image, and the result to the question; in `conv/gru+dot+co` each word attends to
the image and each region to the question.
"""

from atento.attention.attention import Attention
from atento.attention.presets import Composition
from atento.blocks.coattention import AlternatingCoAttention
from atento.errors import InputError
from atento.models.builders.choices import (
    OF_LANGUAGE_MODELS,
    HeadMaker,
    attention_sizes,
    one_part,
    require_defaults,
    require_no_linformer,
    state_pooling,
)
from atento.models.builders.encoder_decoder import build_encoder, family_of
from atento.models.builders.images import build_image_encoder, require_image_and_text
from atento.models.builders.recurrent import CELLS, stack_after
from atento.models.image_matcher import (
    AlternatingImageMatcher,
    CoAttentionImageMatcher,
    ImageMatcher,
    ImageTwoTowers,
)
from atento.models.matcher import Matcher, PairHead, TwoTowers
from atento.models.names import ModelName, ModelPart, require_family
from atento.spec import ModelRecipe

CO = "co"


def build_matcher(recipe: ModelRecipe, vocabulary_size: int, head: HeadMaker, width: int) -> Matcher:
    """A matcher of two token sequences with `width` outputs for each pair."""
    name = ModelName.parse(recipe.name)
    together = has_coattention(name.decoder)
    part = one_part(name.without(CO), "a matcher")
    require_defaults(recipe, "context", "attend", "characters", *OF_LANGUAGE_MODELS)
    if together:
        require_defaults(recipe, "pooling")
        require_no_linformer(part, recipe.name, "two sequences attend to each other token by token")
        pair_head = PairHead(2 * recipe.hidden, head(recipe.hidden, width), dropout=recipe.dropout)
        return family_of(part).matcher(part, recipe, vocabulary_size, pair_head)
    inner = head(recipe.hidden, width)
    encoder = build_encoder(part, recipe, vocabulary_size)  # one for both sequences
    pooling = state_pooling(part, recipe, encoder.size)
    return TwoTowers(encoder, PairHead(encoder.size, inner, dropout=recipe.dropout), pooling=pooling)


def has_coattention(part: ModelPart) -> bool:
    """Whether the part has the suffix `co`; twice is refused."""
    if part.added.count(CO) > 1:
        raise InputError(f"model {str(part)!r} says co twice.", found=str(part), fix="once is enough")
    return CO in part.added


def require_image_matcher(name: ModelName) -> None:
    """Refuse a name that is not an image encoder without attention and a recurrent reader of questions."""
    encoder, reader = name.encoder, name.decoder
    parts = "a matcher of images and questions has two parts, ENCODER/READER"
    require_image_and_text(name, parts, example="gru+dot+co")
    has_coattention(reader)
    require_family(name.without(CO).decoder, name)
    if reader.family not in CELLS:
        raise InputError(
            f"model {str(name)!r}: questions are read by a recurrent network.",
            found=reader.family,
            fix=f"take one of {', '.join(CELLS)}: {encoder}/gru+dot+co",
        )


def build_image_matcher(
    recipe: ModelRecipe, vocabulary_size: int, head: HeadMaker, width: int, *, side: int
) -> ImageMatcher:
    """A matcher of images of this side and questions of this vocabulary, with `width` outputs for each pair."""
    name = ModelName.parse(recipe.name)
    require_image_matcher(name)
    part, together = name.without(CO).decoder, name.has(CO)
    require_defaults(recipe, "context", "attend", "characters", "ngrams", *OF_LANGUAGE_MODELS)
    require_no_linformer(part, recipe.name, "regions are few, so that linformer would save nothing")
    encoder = build_image_encoder(recipe, side)
    reader = build_encoder(ModelPart(part.family), recipe, vocabulary_size)
    size = recipe.hidden
    if not together and part.added_attention is None:
        return ImageTwoTowers(encoder, reader, PairHead(size, head(size, width), dropout=recipe.dropout))
    require_defaults(recipe, "pooling")
    composition = part.compose()
    if not together:
        opening, across, closing = (attention_across(composition, recipe) for _ in range(3))
        coattention = AlternatingCoAttention(size, size, opening=opening, across=across, closing=closing)
        pair_head = PairHead(size, head(size, width), dropout=recipe.dropout)
        return AlternatingImageMatcher(encoder, reader, coattention, pair_head)
    attention, back = attention_across(composition, recipe), attention_across(composition, recipe)
    after = stack_after(part, recipe)
    pair_head = PairHead(2 * size, head(size, width), dropout=recipe.dropout)
    return CoAttentionImageMatcher(encoder, reader, attention, back, after, pair_head, dropout=recipe.dropout)


def attention_across(composition: Composition, recipe: ModelRecipe) -> Attention:
    """An attention between words and regions; regions have no order, so that an extent is refused."""
    if composition.extent != "everything":
        raise InputError(
            f"model {recipe.name!r}: the regions of an image have no order for an extent.",
            found=f"the extent {composition.extent}",
            fix=f"leave {composition.extent!r} out",
        )
    return composition.build(attention_sizes(recipe, recipe.hidden, recipe.hidden))
