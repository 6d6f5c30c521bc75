"""Transformers by the names of a recipe: encoder, decoder, and the stack of an encoder-only or decoder-only model."""

from collections.abc import Callable

from atento.attention.extents.extents import Causal, Everything, Extent
from atento.attention.extents.local import Alibi, RelativeBias
from atento.attention.heads import MultiHead
from atento.attention.linformer import Linformer
from atento.attention.presets import Composition, Sizes
from atento.blocks.initialisation import Layers, t_fixup, xavier
from atento.blocks.transformer import DecoderLayer, EncoderLayer, TransformerStack
from atento.errors import unknown_name
from atento.layers.embeddings import PlacedEmbedding, TokenEmbedding
from atento.layers.feed_forward import FeedForward
from atento.layers.positions import BinaryDigits, Index, Learned, NoPositions, Positions, Rotary, Sinusoidal
from atento.models.backbones.transformer import TransformerDecoder, TransformerEncoder
from atento.models.summaries import find_summary
from atento.spec import ModelRecipe

ADDED: dict[str, Callable[[ModelRecipe], Positions]] = {  # to the tokens' vectors
    "sinusoidal": lambda recipe: Sinusoidal(recipe.hidden),
    "index": lambda recipe: Index(recipe.hidden),
    "binary": lambda recipe: BinaryDigits(recipe.hidden),
    "learned": lambda recipe: Learned(recipe.hidden, longest=recipe.longest),
    "none": lambda recipe: NoPositions(recipe.hidden),
}
TURNED = {"rotary": Rotary}  # queries and keys of self-attention
TILTED: dict[str, Callable[[ModelRecipe], Extent]] = {  # scores of self-attention
    "alibi": lambda recipe: Alibi(recipe.heads),
    "relative": lambda recipe: RelativeBias(recipe.heads, recipe.reach),
}

STARTS: dict[str, Callable[[TokenEmbedding, Layers], None]] = {
    "uniform": lambda embedding, layers: None,
    "xavier": xavier,
    "t-fixup": t_fixup,
}


def transformer_encoder(
    composition: Composition, recipe: ModelRecipe, vocabulary_size: int, *, linformer: bool = False
) -> TransformerEncoder:
    """The encoder of a recipe; one that reads in one direction sees at each token those before it."""
    causal = recipe.directions == 1
    body = transformer_body(composition, recipe, vocabulary_size, causal=causal, linformer=linformer)
    return TransformerEncoder(*body, find_summary(recipe.summary, auto="mean"))


def transformer_decoder(
    composition: Composition, recipe: ModelRecipe, vocabulary_size: int, *, source_size: int, linformer: bool = False
) -> TransformerDecoder:
    """The decoder of a recipe, over an encoder of any kind."""
    layers = [
        DecoderLayer(
            own_heads(composition, recipe, causal=True),
            cross_heads(composition, recipe, source_size=source_size, linformer=linformer),
            feed_forward_of(recipe),
            order=recipe.norm,
            dropout=recipe.dropout,
        )
        for _ in range(recipe.layers)
    ]
    embedding = embedding_of(recipe, vocabulary_size, tied=recipe.tied)
    start_of(recipe)(embedding.tokens, layers)
    return TransformerDecoder(embedding, layers)


def transformer_body(
    composition: Composition,
    recipe: ModelRecipe,
    vocabulary_size: int,
    *,
    causal: bool = False,
    linformer: bool = False,
) -> tuple[PlacedEmbedding, TransformerStack]:
    """Embedding and layers of an encoder-only model; of a decoder-only one where they are causal."""
    layers = own_layers(composition, recipe, causal=causal, linformer=linformer)
    embedding = embedding_of(recipe, vocabulary_size)
    start_of(recipe)(embedding.tokens, layers)
    return embedding, TransformerStack(layers)


def embedding_of(recipe: ModelRecipe, vocabulary_size: int, *, tied: bool = True) -> PlacedEmbedding:
    """Tokens and the positions that are added to them; none where positions stand elsewhere."""
    positions = ADDED.get(recipe.positions, ADDED["none"])(recipe)
    return PlacedEmbedding(vocabulary_size, positions, dropout=recipe.dropout, tied=tied)


def own_layers(
    composition: Composition, recipe: ModelRecipe, *, causal: bool, linformer: bool = False
) -> list[EncoderLayer]:
    """Layers of self-attention, as many as the recipe says."""
    return [
        EncoderLayer(
            own_heads(composition, recipe, causal=causal, linformer=linformer),
            feed_forward_of(recipe),
            order=recipe.norm,
            dropout=recipe.dropout,
        )
        for _ in range(recipe.layers)
    ]


def own_heads(composition: Composition, recipe: ModelRecipe, *, causal: bool, linformer: bool = False) -> MultiHead:
    """Self-attention of the composition, over the past only where it is causal, with positions that stand in it.

    An extent that has no meaning while keys still grow is left to the other attentions, and so is linformer.
    """
    sizes = sizes_of(recipe)
    attention = composition.build(sizes)
    if causal:
        plain = composition.extent in ("everything", "causal") or not attention.extent.within_past
        attention = attention.through(Causal() if plain else Causal() & attention.extent)
    if recipe.positions in TILTED:
        attention = attention.through(attention.extent & TILTED[recipe.positions](recipe))
    if linformer and not causal:
        attention = Linformer(attention, recipe.longest, recipe.compressed)
    rotary = TURNED[recipe.positions](sizes.query) if recipe.positions in TURNED else None
    return MultiHead(recipe.hidden, recipe.heads, attention, rotary=rotary)


def cross_heads(
    composition: Composition, recipe: ModelRecipe, *, source_size: int, linformer: bool = False
) -> MultiHead:
    """Attention over the source; an extent that has a meaning within one sequence only is left to self-attention."""
    attention = composition.build(sizes_of(recipe))
    if not attention.extent.between:
        attention = attention.through(Everything())
    if linformer:
        attention = Linformer(attention, recipe.longest, recipe.compressed)
    return MultiHead(recipe.hidden, recipe.heads, attention, source_size=source_size)


def sizes_of(recipe: ModelRecipe) -> Sizes:
    """What one head sees."""
    size = recipe.hidden // recipe.heads
    return Sizes(
        query=size,
        key=size,
        reach=recipe.reach,
        heads=recipe.heads,
        block=recipe.block,
        longest=recipe.longest,
        alpha=recipe.alpha,
    )


def feed_forward_of(recipe: ModelRecipe) -> FeedForward:
    """Four times as wide inside unless the recipe says otherwise."""
    return FeedForward(recipe.hidden, recipe.feed_forward or 4 * recipe.hidden, dropout=recipe.dropout)


def start_of(recipe: ModelRecipe) -> Callable[[TokenEmbedding, Layers], None]:
    """How the weights start; uniform: as each part draws its own."""
    if recipe.init not in STARTS:
        raise unknown_name("start of a Transformer's weights", recipe.init, STARTS, where="model.init")
    return STARTS[recipe.init]
