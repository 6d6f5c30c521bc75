"""Transformers from a recipe: encoder, decoder, and the layers of encoder-only and decoder-only models.

The extent of a name applies to self-attention, in a decoder together with the causal one. Attention over the source has
it only where it has a meaning between two sequences, and a decoder's self-attention only where it has a meaning while
keys are still added; elsewhere all keys are visible. Linformer is left out of a decoder's self-attention.
"""

from collections.abc import Callable

from atento.attention.extents.extents import Causal, Everything, Extent
from atento.attention.extents.local import Alibi, RelativeBias
from atento.attention.heads import MultiHead
from atento.attention.linformer import Linformer
from atento.attention.presets import Composition, Sizes
from atento.blocks.initialization import Layers, t_fixup, xavier
from atento.blocks.transformer import TransformerDecoderLayer, TransformerEncoderLayer, TransformerStack
from atento.errors import InputError, unknown_name
from atento.layers.embeddings import PositionedEmbedding, TokenEmbedding
from atento.layers.feed_forward import FeedForward
from atento.layers.positions import (
    BinaryPositions,
    IndexPositions,
    LearnedPositions,
    NoPositions,
    Positions,
    Rotary,
    SinusoidalPositions,
)
from atento.models.backbones.transformer import TransformerDecoder, TransformerEncoder
from atento.models.builders.choices import attention_sizes, require_defaults, summary_of
from atento.spec import ModelRecipe

POSITIONS: dict[str, Callable[[ModelRecipe], Positions]] = {  # added to the embeddings
    "sinusoidal": lambda recipe: SinusoidalPositions(recipe.hidden),
    "index": lambda recipe: IndexPositions(recipe.hidden),
    "binary": lambda recipe: BinaryPositions(recipe.hidden),
    "learned": lambda recipe: LearnedPositions(recipe.hidden, max_length=recipe.max_length),
    "none": lambda recipe: NoPositions(recipe.hidden),
}
ROTATIONS = {"rotary": Rotary}  # of the queries and keys of self-attention
POSITION_BIASES: dict[str, Callable[[ModelRecipe], Extent]] = {  # added to the scores of self-attention
    "alibi": lambda recipe: Alibi(recipe.heads),
    "relative": lambda recipe: RelativeBias(recipe.heads, recipe.window),
}
WEIGHT_INITS: dict[str, Callable[[TokenEmbedding, Layers], None]] = {
    "uniform": lambda embedding, layers: None,
    "xavier": xavier,
    "t-fixup": t_fixup,
}


def transformer_encoder(
    composition: Composition, recipe: ModelRecipe, vocabulary_size: int, *, linformer: bool = False
) -> TransformerEncoder:
    """An encoder of tokens; with model.directions=1 each token sees those before it alone."""
    causal = recipe.directions == 1
    body = transformer_body(composition, recipe, vocabulary_size, causal=causal, linformer=linformer)
    return TransformerEncoder(*body, summary_of(recipe, auto="mean"))


def transformer_decoder(
    composition: Composition, recipe: ModelRecipe, vocabulary_size: int, *, source_size: int, linformer: bool = False
) -> TransformerDecoder:
    """A decoder over an encoder of any kind."""
    why = "a Transformer's decoder attends to the states of the source"
    require_defaults(recipe, "pooling", "context", "attend", why=why)
    layers = [
        TransformerDecoderLayer(
            self_attention_heads(composition, recipe, causal=True),
            cross_attention_heads(composition, recipe, source_size=source_size, linformer=linformer),
            feed_forward_of(recipe),
            order=recipe.norm,
            dropout=recipe.dropout,
        )
        for _ in range(recipe.layers)
    ]
    embedding = embedding_of(recipe, vocabulary_size, tied=recipe.tied_embeddings)
    initialize(recipe, embedding, layers)
    return TransformerDecoder(embedding, layers)


def transformer_body(
    composition: Composition,
    recipe: ModelRecipe,
    vocabulary_size: int,
    *,
    causal: bool = False,
    linformer: bool = False,
) -> tuple[PositionedEmbedding, TransformerStack]:
    """Embedding and layers of an encoder-only model, or where they are causal of a decoder-only one."""
    layers = self_attention_layers(composition, recipe, causal=causal, linformer=linformer)
    embedding = embedding_of(recipe, vocabulary_size)
    initialize(recipe, embedding, layers)
    return embedding, TransformerStack(layers)


def embedding_of(recipe: ModelRecipe, vocabulary_size: int, *, tied: bool = True) -> PositionedEmbedding:
    """Token embeddings with positions."""
    return PositionedEmbedding(vocabulary_size, positions_of(recipe), dropout=recipe.dropout, tied=tied)


def positions_of(recipe: ModelRecipe, *, otherwise: str = "none") -> Positions:
    """The positions that are added to embeddings; `otherwise` where model.positions names a part of attention."""
    return POSITIONS.get(recipe.positions, POSITIONS[otherwise])(recipe)


def self_attention_layers(
    composition: Composition, recipe: ModelRecipe, *, causal: bool, linformer: bool = False
) -> list[TransformerEncoderLayer]:
    """Layers of self-attention and feed-forward, as many as model.layers."""
    return [
        TransformerEncoderLayer(
            self_attention_heads(composition, recipe, causal=causal, linformer=linformer),
            feed_forward_of(recipe),
            order=recipe.norm,
            dropout=recipe.dropout,
        )
        for _ in range(recipe.layers)
    ]


def self_attention_heads(
    composition: Composition, recipe: ModelRecipe, *, causal: bool, linformer: bool = False
) -> MultiHead:
    """Self-attention of the composition, causal where asked, with positions that act inside attention."""
    sizes = head_sizes(recipe)
    attention = composition.build(sizes)
    if causal:
        plain = composition.extent in ("everything", "causal") or not attention.extent.causal_safe
        attention = attention.with_extent(Causal() if plain else Causal() & attention.extent)
    if recipe.positions in POSITION_BIASES:
        attention = attention.with_extent(attention.extent & POSITION_BIASES[recipe.positions](recipe))
    if linformer and not causal:
        attention = Linformer(attention, recipe.max_length, recipe.linformer_rank)
    rotary = ROTATIONS[recipe.positions](sizes.query) if recipe.positions in ROTATIONS else None
    return MultiHead(recipe.hidden, recipe.heads, attention, rotary=rotary)


def cross_attention_heads(
    composition: Composition, recipe: ModelRecipe, *, source_size: int, linformer: bool = False
) -> MultiHead:
    """Attention over the source, without an extent that has a meaning within one sequence only."""
    attention = composition.build(head_sizes(recipe))
    if not attention.extent.crosses_sequences:
        attention = attention.with_extent(Everything())
    if linformer:
        attention = Linformer(attention, recipe.max_length, recipe.linformer_rank)
    return MultiHead(recipe.hidden, recipe.heads, attention, source_size=source_size)


def head_sizes(recipe: ModelRecipe) -> Sizes:
    """The sizes of one head; the heads share model.hidden equally."""
    size, rest = divmod(recipe.hidden, recipe.heads)
    if rest:
        fitting = [str(heads) for heads in range(1, min(recipe.hidden, 16) + 1) if recipe.hidden % heads == 0]
        raise InputError(
            "model.heads must divide model.hidden.",
            found=f"model.heads={recipe.heads}, model.hidden={recipe.hidden}",
            fix=f"heads that fit: {', '.join(fitting)}",
        )
    if recipe.positions in ROTATIONS and size % 2:
        raise InputError(
            f"model.positions={recipe.positions} turns pairs of features: model.hidden / model.heads must be even.",
            found=f"model.heads={recipe.heads}, model.hidden={recipe.hidden}",
            fix=f"--set model.hidden={2 * recipe.hidden}, or other positions",
        )
    return attention_sizes(recipe, size, size, heads=recipe.heads)


def feed_forward_of(recipe: ModelRecipe) -> FeedForward:
    """Four times as wide inside unless model.feed_forward says otherwise."""
    return FeedForward(recipe.hidden, recipe.feed_forward or 4 * recipe.hidden, dropout=recipe.dropout)


def initialize(recipe: ModelRecipe, embedding: PositionedEmbedding, layers: Layers) -> None:
    """Initialize the weights as model.init says; uniform: as each part does by itself."""
    if recipe.init not in WEIGHT_INITS:
        raise unknown_name("initialization of a Transformer's weights", recipe.init, WEIGHT_INITS, where="model.init")
    WEIGHT_INITS[recipe.init](embedding.tokens, layers)
