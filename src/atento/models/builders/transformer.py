"""Transformers from a recipe: layers, encoders, decoders, and what single tasks are built of.

The extent of a name applies to self-attention, in a decoder together with the causal one. Attention over the source has
it only where it has a meaning between two sequences, and a decoder's self-attention only where it has a meaning while
keys are still added; elsewhere all keys are visible. Linformer is left out of a decoder's self-attention.
"""

from collections.abc import Callable

from atento.attention.extents.extents import Causal, Everything, Extent
from atento.attention.extents.local import Alibi, RelativeBias
from atento.attention.heads import MultiHead
from atento.attention.presets import Sizes
from atento.blocks.initialization import Layers, t_fixup, xavier
from atento.blocks.transformer import TransformerDecoderLayer, TransformerEncoderLayer
from atento.blocks.transformer_stack import TransformerStack
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
from atento.models.autoencoder import TransformerWindowDecoder, WindowSizes
from atento.models.backbones.hierarchical import TransformerReader
from atento.models.backbones.numbers import TransformerNumberEncoder
from atento.models.backbones.transformer import CausalTransformer, TransformerDecoder, TransformerEncoder
from atento.models.builders.choices import (
    attention_sizes,
    patch_of,
    require_defaults,
    require_no_linformer,
    summary_of,
    with_linformer,
)
from atento.models.forecast_networks import (
    HorizonQueries,
    PatchEmbedding,
    PatchHead,
    PatchTransformer,
    StepTransformer,
)
from atento.models.forecaster import ForecastNetwork, SeriesSizes
from atento.models.matcher import JointMatcher, PairHead
from atento.models.names import ModelName, ModelPart
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
PATCHES = "patches"  # the suffix of a forecaster that reads patches
PATCHES_OF_A_WINDOW = 7  # where model.patch is not given
WEIGHT_INITS: dict[str, Callable[[TokenEmbedding, Layers], None]] = {
    "uniform": lambda embedding, layers: None,
    "xavier": xavier,
    "t-fixup": t_fixup,
}


def transformer_encoder(part: ModelPart, recipe: ModelRecipe, vocabulary_size: int) -> TransformerEncoder:
    """An encoder of tokens; with model.directions=1 each token sees those before it alone."""
    body = transformer_body(part, recipe, vocabulary_size, causal=recipe.directions == 1)
    return TransformerEncoder(*body, summary_of(recipe, auto="mean"))


def transformer_number_encoder(part: ModelPart, recipe: ModelRecipe, channels: int) -> TransformerNumberEncoder:
    """An encoder of steps of so many channels."""
    stack = transformer_stack(part, recipe, causal=recipe.directions == 1)
    summarize = summary_of(recipe, auto="mean")
    return TransformerNumberEncoder(channels, positions_of(recipe), stack, summarize, dropout=recipe.dropout)


def transformer_reader(part: ModelPart, recipe: ModelRecipe, *, scaled: bool) -> TransformerReader:
    """One level of a hierarchical encoder; embeddings of words are scaled as in any Transformer."""
    stack = transformer_stack(part, recipe, causal=recipe.directions == 1)
    return TransformerReader(positions_of(recipe), stack, scale=recipe.hidden**0.5 if scaled else 1.0)


def transformer_decoder(
    part: ModelPart, recipe: ModelRecipe, vocabulary_size: int, *, source_size: int
) -> TransformerDecoder:
    """A decoder over an encoder of any kind."""
    why = "a Transformer's decoder attends to the states of the source"
    require_defaults(recipe, "pooling", "context", "attend", why=why)
    layers = [
        TransformerDecoderLayer(
            self_attention_heads(part, recipe, causal=True),
            cross_attention_heads(part, recipe, source_size=source_size),
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
    part: ModelPart, recipe: ModelRecipe, vocabulary_size: int, *, causal: bool = False
) -> tuple[PositionedEmbedding, TransformerStack]:
    """Embedding and layers of an encoder-only model, or where they are causal of a decoder-only one."""
    layers = self_attention_layers(part, recipe, causal=causal)
    embedding = embedding_of(recipe, vocabulary_size, word_dropout=recipe.embedding_dropout)
    initialize(recipe, embedding, layers)
    return embedding, TransformerStack(layers)


def transformer_stack(part: ModelPart, recipe: ModelRecipe, *, causal: bool) -> TransformerStack:
    """Layers over vectors of any kind, which keep the initial weights that they have by themselves."""
    return TransformerStack(self_attention_layers(part, recipe, causal=causal))


def embedding_of(
    recipe: ModelRecipe, vocabulary_size: int, *, tied: bool = True, word_dropout: float = 0.0
) -> PositionedEmbedding:
    """Token embeddings with positions."""
    positions = positions_of(recipe)
    return PositionedEmbedding(vocabulary_size, positions, dropout=recipe.dropout, tied=tied, word_dropout=word_dropout)


def positions_of(recipe: ModelRecipe, *, otherwise: str = "none") -> Positions:
    """The positions that are added to embeddings; `otherwise` where model.positions names a part of attention."""
    return POSITIONS.get(recipe.positions, POSITIONS[otherwise])(recipe)


def self_attention_layers(part: ModelPart, recipe: ModelRecipe, *, causal: bool) -> list[TransformerEncoderLayer]:
    """Layers of self-attention and feed-forward, as many as model.layers."""
    return [
        TransformerEncoderLayer(
            self_attention_heads(part, recipe, causal=causal),
            feed_forward_of(recipe),
            order=recipe.norm,
            dropout=recipe.dropout,
        )
        for _ in range(recipe.layers)
    ]


def self_attention_heads(part: ModelPart, recipe: ModelRecipe, *, causal: bool) -> MultiHead:
    """Self-attention of the composition, causal where asked, with positions that act inside attention."""
    sizes, composition = head_sizes(recipe), part.compose()
    attention = composition.build(sizes)
    if causal:
        plain = composition.extent in ("everything", "causal") or not attention.extent.causal_safe
        attention = attention.with_extent(Causal() if plain else Causal() & attention.extent)
    if recipe.positions in POSITION_BIASES:
        attention = attention.with_extent(attention.extent & POSITION_BIASES[recipe.positions](recipe))
    if not causal:
        attention = with_linformer(attention, part, recipe)
    rotary = ROTATIONS[recipe.positions](sizes.query) if recipe.positions in ROTATIONS else None
    return MultiHead(recipe.hidden, recipe.heads, attention, rotary=rotary)


def cross_attention_heads(part: ModelPart, recipe: ModelRecipe, *, source_size: int) -> MultiHead:
    """Attention over the source, without an extent that has a meaning within one sequence only."""
    attention = part.compose().build(head_sizes(recipe))
    if not attention.extent.crosses_sequences:
        attention = attention.with_extent(Everything())
    attention = with_linformer(attention, part, recipe)
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


def causal_transformer(part: ModelPart, recipe: ModelRecipe, vocabulary_size: int) -> CausalTransformer:
    """A decoder without a source; an extent that depends on the whole sequence is refused."""
    require_no_linformer(part, recipe.name, "linformer mixes all positions, those still to predict among them")
    recurrent = ("locked_dropout", "recurrent_dropout", "activation_penalty", "temporal_penalty")
    require_defaults(recipe, *recurrent, why="a Transformer has no recurrent state")
    composition = part.compose()
    if not composition.build(head_sizes(recipe)).extent.causal_safe:
        raise InputError(
            f"model {recipe.name!r}: this extent needs to know where the sequence ends.",
            found=f"the extent {composition.extent}",
            fix=f"leave {composition.extent!r} out",
        )
    return CausalTransformer(*transformer_body(part, recipe, vocabulary_size, causal=True))


def joint_matcher(part: ModelPart, recipe: ModelRecipe, vocabulary_size: int, pair_head: PairHead) -> JointMatcher:
    """A Transformer over both sequences as one."""
    body = transformer_body(part, recipe, vocabulary_size, causal=recipe.directions == 1)
    return JointMatcher(*body, pair_head)


def transformer_forecast_network(
    name: ModelName, recipe: ModelRecipe, sizes: SeriesSizes, *, quantiles: int
) -> ForecastNetwork:
    """A stack of self-attention over patches, or over single steps."""
    require_defaults(recipe, "pooling")
    stack = transformer_stack(name.without(PATCHES).decoder, recipe, causal=recipe.directions == 1)
    positions, size, dropout = positions_of(recipe), recipe.hidden, recipe.dropout
    if name.has(PATCHES):
        embedding = PatchEmbedding(sizes, patch_of(recipe, sizes, patches=PATCHES_OF_A_WINDOW), size)
        return PatchTransformer(embedding, positions, stack, sizes, quantiles=quantiles, dropout=dropout)
    patch = recipe.patch or 1
    embedding, queries = PatchEmbedding(sizes, patch, size), HorizonQueries(sizes, patch, size)
    head = PatchHead(sizes, patch, size, quantiles=quantiles)
    return StepTransformer(embedding, queries, positions, stack, head, dropout=dropout)


def transformer_window_decoder(
    part: ModelPart, recipe: ModelRecipe, sizes: WindowSizes, latent: int
) -> TransformerWindowDecoder:
    """The decoder of an autoencoder."""
    stack, positions = transformer_stack(part, recipe, causal=False), positions_of(recipe, otherwise="sinusoidal")
    return TransformerWindowDecoder(latent, positions, stack, sizes.channels, sizes.look_back)
