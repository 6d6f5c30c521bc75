"""Models of one half by the names of a recipe: a classifier and a tagger only read, a language model only writes.

A name is FAMILY[+SCORE][+DISTRIBUTION][+EXTENT] as in `atento.models.build`. In a Transformer the composition is its
self-attention; a recurrent classifier pools its states by it; elsewhere a recurrent model has none.
"""

from collections.abc import Callable
from typing import Any

from atento.attention.presets import Composition, Sizes
from atento.blocks.pooling import AttentionPooling
from atento.errors import InputError
from atento.layers.embeddings import TokenEmbedding
from atento.models.build import Half, build_encoder, cells_of, parse_half
from atento.models.build_transformer import sizes_of, transformer_body
from atento.models.classifier import Classifier, OneEach
from atento.models.fixed_vector import FixedVectorDecoder
from atento.models.handover import Alone, Handover, Silence
from atento.models.heads import Head
from atento.models.language_model import CausalTransformer, LanguageModel
from atento.models.protocols import Decoder
from atento.models.tagger import Tagger
from atento.recurrent.stack import Stack
from atento.spec import ModelRecipe

HeadMaker = Callable[[int, int], Head]  # size of a vector, width of the outputs -> head


def build_classifier(recipe: ModelRecipe, vocabulary_size: int, head: HeadMaker, width: int) -> Classifier:
    """Reads sequences of tokens and says `width` outputs of each, e.g. `LabelHead` and the number of labels."""
    half = parse_one(recipe.name, "a classifier")
    require_defaults(recipe, "handover", "attend")
    encoder = build_encoder(half, recipe, vocabulary_size)
    pooling = None
    if half.family != "transformer" and half.attention is not None:
        require_no_linformer(half, recipe.name, "a pooling asks once, and there is nothing to save")
        pooling = attention_pooling(half.attention, recipe, encoder.size)
    return Classifier(encoder, head(encoder.size, width), pooling=pooling)


def build_one_each(recipe: ModelRecipe, vocabulary_size: int, head: HeadMaker, width: int) -> OneEach:
    """A classifier of its own for each of the outputs, to compare with one for all."""
    return OneEach([build_classifier(recipe, vocabulary_size, head, 1) for _ in range(width)])


def build_tagger(recipe: ModelRecipe, vocabulary_size: int, head: HeadMaker, width: int) -> Tagger:
    """Reads sequences of tokens and says `width` outputs of each step."""
    half = parse_one(recipe.name, "a tagger")
    require_no_attention(half, recipe.name, "a recurrent tagger says of each step what its state says")
    require_defaults(recipe, "summary", "handover", "attend")
    encoder = build_encoder(half, recipe, vocabulary_size)
    return Tagger(encoder, head(encoder.size, width))


def build_language_model(recipe: ModelRecipe, vocabulary_size: int) -> LanguageModel:
    """Writes tokens, each from those before it."""
    half = parse_one(recipe.name, "a language model")
    require_no_attention(half, recipe.name, "a recurrent language model remembers by its state alone")
    require_defaults(recipe, "directions", "summary", "handover", "attend")
    return LanguageModel(writer_of(half, recipe, vocabulary_size))


def writer_of(half: Half, recipe: ModelRecipe, vocabulary_size: int) -> Decoder[Any]:
    """A decoder with nothing to read."""
    if half.family == "transformer":
        composition = half.attention or Composition("scaled-dot")
        require_no_linformer(half, recipe.name, "linformer mixes all positions, what is still to be said among them")
        require_past(composition, recipe)
        return CausalTransformer(*transformer_body(composition, recipe, vocabulary_size, causal=True))
    size = recipe.hidden
    stack = Stack(cells_of(half.family, recipe), size, size, layers=recipe.layers, dropout=recipe.dropout)
    embedding = TokenEmbedding(vocabulary_size, size, dropout=recipe.dropout)
    handover = Handover(Silence(stack.output_size * recipe.layers), Alone())
    return FixedVectorDecoder(embedding, stack, handover, dropout=recipe.dropout)


def attention_pooling(composition: Composition, recipe: ModelRecipe, size: int) -> AttentionPooling:
    """One learned query over all states; it stands nowhere, so no extent has a meaning for it."""
    require_defaults(recipe, "summary")
    if composition.extent != "everything":
        raise InputError(
            f"model {recipe.name!r}: a pooling looks at the whole sequence.",
            found=f"the extent {composition.extent}",
            fix=f"leave {composition.extent!r} out",
        )
    sizes = Sizes(query=size, key=size, longest=recipe.longest, alpha=recipe.alpha)
    return AttentionPooling(size, composition.build(sizes))


def parse_one(name: str, kind: str) -> Half:
    """The one half of a name."""
    if "/" in name:
        raise InputError(
            f"model {name!r}: {kind} has one half.", found=name, fix=f"write {name.partition('/')[0]} alone"
        )
    return parse_half(name, name)


def require_no_attention(half: Half, name: str, why: str) -> None:
    """A recurrent model that does not attend refuses a composition."""
    if half.family != "transformer" and half.attention is not None:
        raise InputError(f"model {name!r}: {why}.", found=name, fix=f"write {half.family}, or transformer")


def require_no_linformer(half: Half, name: str, why: str) -> None:
    """Keys are pressed together where many queries ask all of them."""
    if half.linformer:
        raise InputError(f"model {name!r}: {why}.", found="linformer", fix="leave 'linformer' out")


def require_past(composition: Composition, recipe: ModelRecipe) -> None:
    """An extent that must know the whole sequence has no meaning while it is being written."""
    if not composition.build(sizes_of(recipe)).extent.within_past:
        raise InputError(
            f"model {recipe.name!r}: this extent needs to know where the sequence ends.",
            found=f"the extent {composition.extent}",
            fix=f"leave {composition.extent!r} out",
        )


def require_defaults(recipe: ModelRecipe, *keys: str) -> None:
    """A choice that would change nothing is refused."""
    for key in keys:
        chosen = getattr(recipe, key)
        if chosen != ModelRecipe.model_fields[key].default:
            raise InputError(
                f"model.{key} has no meaning for {recipe.name!r} here.",
                found=f"model.{key}={chosen}",
                fix=f"leave model.{key} out",
            )
