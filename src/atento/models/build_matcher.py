"""Matchers by the names of a recipe.

A name is FAMILY[+SCORE][+DISTRIBUTION][+EXTENT][+co]. Without `co` there are two towers: a recurrent one pools its
states by the composition, a Transformer's is its self-attention. With `co` each sequence looks at the other by it, and
a Transformer reads both as one sequence.
"""

from atento.attention.presets import Sizes
from atento.errors import InputError
from atento.models.build import build_encoder, cells_of
from atento.models.build_one_sided import (
    HeadMaker,
    attention_pooling,
    one_part,
    require_defaults,
    require_no_linformer,
)
from atento.models.build_recurrent import recurrent_encoder
from atento.models.build_transformer import transformer_body
from atento.models.heads import Head
from atento.models.joint_matcher import JointMatcher
from atento.models.matcher import CoMatcher, Matcher, TwoTowers, Verdict
from atento.models.names import ModelName, ModelPart
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
