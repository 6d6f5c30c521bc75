"""Model names become modules here and nowhere else.

A name is FAMILY[+SCORE][+DISTRIBUTION][+EXTENT], or ENCODER/DECODER of two such names: `lstm+additive+sparsemax`,
`transformer`, `transformer/gru+dot`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from torch import nn

from atento.attention.extents import Causal
from atento.attention.heads import MultiHead
from atento.attention.presets import DISTRIBUTIONS, EXTENTS, SCORES, Composition, Sizes, compose
from atento.blocks.transformer import DecoderLayer, EncoderLayer
from atento.errors import InputError, unknown_name
from atento.layers.embeddings import PlacedEmbedding, TokenEmbedding
from atento.layers.feed_forward import FeedForward
from atento.models.protocols import Decoder, Encoder
from atento.models.recurrent import RecurrentDecoder, RecurrentEncoder
from atento.models.transformer import TransformerDecoder, TransformerEncoder
from atento.models.translator import Translator
from atento.recurrent.cells import GRU, LSTM, Cell, Elman
from atento.recurrent.stack import Stack
from atento.spec import ModelRecipe

CELLS: dict[str, Callable[[int, int], Cell[Any]]] = {"rnn": Elman, "gru": GRU, "lstm": LSTM}

FAMILIES: dict[str, str] = {
    "rnn": "plain recurrent network (Elman 1990)",
    "gru": "gated recurrent unit (Cho et al. 2014)",
    "lstm": "long short-term memory (Hochreiter & Schmidhuber 1997; Gers et al. 2000)",
    "transformer": "attention only (Vaswani et al. 2017)",
}


class Half(NamedTuple):
    """An encoder or a decoder by its names; a recurrent one without attention has no composition."""

    family: str
    attention: Composition | None


class Vocabularies(NamedTuple):
    """How many tokens there are on each side."""

    source: int
    target: int


def parse(name: str) -> tuple[Half, Half]:
    """The encoder's and the decoder's half of a model name."""
    halves = [parse_half(half, name) for half in name.split("/")]
    if len(halves) > 2:
        raise InputError(f"model {name!r} has more than two halves.", found=name, fix="write ENCODER/DECODER")
    if len(halves) == 2 and halves[0].family != "transformer" and halves[0].attention is not None:
        raise InputError(
            f"model {name!r}: a recurrent encoder has no attention; its decoder has.",
            found=name.split("/")[0],
            fix=f"write {halves[0].family}/{name.split('/')[1]}",
        )
    return halves[0], halves[-1]


def parse_half(name: str, whole: str) -> Half:
    """`lstm+additive` -> its family and its attention."""
    family, *parts = name.split("+")
    if family not in FAMILIES:
        raise unknown_name("model", family, FAMILIES, where=f"model {whole!r}" if whole != family else "")
    if family == "transformer":
        return Half(family, compose(parts, default_score="scaled-dot"))
    known = [*SCORES, *DISTRIBUTIONS, *EXTENTS]
    if parts and not any(part in SCORES for part in parts) and all(part in known for part in parts):
        raise InputError(
            f"model {whole!r} names no score.",
            found=", ".join(parts),
            fix=f"add one, e.g. {family}+dot+{'+'.join(parts)} (scores: {', '.join(SCORES)})",
        )
    return Half(family, compose(parts, default_score="dot") if parts else None)


def build_translator(recipe: ModelRecipe, vocabularies: Vocabularies) -> Translator:
    """The whole model of a recipe."""
    encoder_half, decoder_half = parse(recipe.name)
    encoder = build_encoder(encoder_half, recipe, vocabularies.source)
    decoder = build_decoder(decoder_half, recipe, vocabularies.target, source_size=encoder.size)
    return Translator(encoder, decoder)


def build_encoder(half: Half, recipe: ModelRecipe, vocabulary_size: int) -> Encoder:
    """Recurrent encoders read in both directions, each half as wide, so that every family's states are equally wide."""
    size = recipe.hidden
    if half.family != "transformer":
        if size % 2:
            raise InputError(
                "model.hidden must be even: an encoder reads in both directions, each half as wide.",
                found=f"model.hidden={size}",
                fix=f"--set model.hidden={size + 1}",
            )
        embedding = TokenEmbedding(vocabulary_size, size, dropout=recipe.dropout)
        cells = CELLS[half.family]
        stack = Stack(cells, size, size // 2, layers=recipe.layers, bidirectional=True, dropout=recipe.dropout)
        return RecurrentEncoder(embedding, stack, dropout=recipe.dropout)
    layers = [
        EncoderLayer(heads_of(half, recipe), feed_forward_of(recipe), order=recipe.norm, dropout=recipe.dropout)
        for _ in range(recipe.layers)
    ]
    return TransformerEncoder(PlacedEmbedding(vocabulary_size, size, dropout=recipe.dropout), layers)


def build_decoder(half: Half, recipe: ModelRecipe, vocabulary_size: int, *, source_size: int) -> Decoder[Any]:
    """A decoder over an encoder of any kind."""
    size = recipe.hidden
    if half.family != "transformer":
        embedding = TokenEmbedding(vocabulary_size, size, dropout=recipe.dropout)
        sizes = Sizes(query=size, key=source_size, reach=recipe.reach)
        attention = None if half.attention is None else half.attention.build(sizes)
        input_size = size if attention is not None else size + source_size
        stack = Stack(CELLS[half.family], input_size, size, layers=recipe.layers, dropout=recipe.dropout)
        return RecurrentDecoder(
            embedding,
            stack,
            attention,
            source_size=source_size,
            dropout=recipe.dropout,
        )
    layers = [
        DecoderLayer(
            heads_of(half, recipe, causal=True),
            heads_of(half, recipe, source_size=source_size),
            feed_forward_of(recipe),
            order=recipe.norm,
            dropout=recipe.dropout,
        )
        for _ in range(recipe.layers)
    ]
    return TransformerDecoder(PlacedEmbedding(vocabulary_size, size, dropout=recipe.dropout), layers)


def heads_of(half: Half, recipe: ModelRecipe, *, causal: bool = False, source_size: int = 0) -> MultiHead:
    """Multi-head attention of the half's composition; in a decoder's own past also causal."""
    size_of_head = recipe.hidden // recipe.heads if recipe.heads else 0
    composition = half.attention or Composition("scaled-dot")
    attention = composition.build(Sizes(query=size_of_head, key=size_of_head, reach=recipe.reach))
    if causal:
        plain = composition.extent in ("everything", "causal")
        attention.extent = Causal() if plain else Causal() & attention.extent
    return MultiHead(recipe.hidden, recipe.heads, attention, source_size=source_size)


def feed_forward_of(recipe: ModelRecipe) -> FeedForward:
    """Four times as wide inside unless the recipe says otherwise."""
    return FeedForward(recipe.hidden, recipe.feed_forward or 4 * recipe.hidden, dropout=recipe.dropout)


def count_parameters(module: nn.Module) -> int:
    """How many numbers are learned."""
    return sum(parameter.numel() for parameter in module.parameters())
