"""Recurrent models from a recipe: stacks, encoders, decoders, and what single tasks are built of."""

from collections.abc import Callable
from functools import partial
from typing import Any

from atento.attention.attention import Attention
from atento.attention.presets import Composition
from atento.blocks.hierarchical import StackEncoder
from atento.errors import InputError, unknown_name
from atento.layers.activations import ACTIVATIONS
from atento.layers.embeddings import TokenEmbedding
from atento.layers.initialization import INITIALIZERS
from atento.layers.regularization import ActivationPenalty
from atento.models.autoencoder import RecurrentWindowDecoder, WindowSizes
from atento.models.backbones.copy_decoder import CopyDecoder
from atento.models.backbones.marginal_decoder import MarginalDecoder
from atento.models.backbones.numbers import RecurrentNumberEncoder
from atento.models.backbones.recurrent import (
    Handover,
    NoContext,
    RecurrentDecoder,
    RecurrentEncoder,
    ZeroState,
    as_both,
    as_input,
    as_state,
)
from atento.models.backbones.recurrent_decoders import BahdanauDecoder, FixedVectorDecoder, LuongDecoder
from atento.models.builders.choices import (
    attention_sizes,
    patch_of,
    require_defaults,
    summary_of,
    with_linformer,
)
from atento.models.forecast_networks import (
    AttentiveRecurrentNetwork,
    HorizonQueries,
    LastStateNetwork,
    ParallelRecurrentNetwork,
    PatchEmbedding,
    PatchHead,
)
from atento.models.forecaster import ForecastNetwork, SeriesSizes
from atento.models.matcher import CoAttentionMatcher, PairHead
from atento.models.names import ALIGNMENTS, COPY, HARD_MONOTONIC, ModelName, ModelPart
from atento.models.summaries import Summary, end_states
from atento.recurrent import (
    Cell,
    ElmanCell,
    GRUCell,
    GRUResetBeforeCell,
    JordanCell,
    LSTMCell,
    MGUCell,
    MinGRUCell,
    MinLSTMCell,
)
from atento.recurrent.stack import CellMaker, Stack
from atento.spec import ModelRecipe

CELLS: dict[str, type[Cell[Any]]] = {
    "rnn": ElmanCell,
    "jordan": JordanCell,
    "gru": GRUCell,
    "gru-before": GRUResetBeforeCell,
    "mgu": MGUCell,
    "mingru": MinGRUCell,
    "lstm": LSTMCell,
    "minlstm": MinLSTMCell,
}
HANDOVERS: dict[str, Callable[[int, int], Handover]] = {"state": as_state, "input": as_input, "both": as_both}
PATCHES_OF_A_WINDOW = 14  # where model.patch is not given
ATTENTIVE: dict[str, type[LuongDecoder] | type[BahdanauDecoder]] = {
    "luong": LuongDecoder,
    "bahdanau": BahdanauDecoder,
}


def cells_of(family: str, recipe: ModelRecipe) -> CellMaker:
    """Cells of a family with the activation and the initialization of the recipe."""
    for key, known in (("activation", ["auto", *ACTIVATIONS]), ("init", list(INITIALIZERS))):
        if getattr(recipe, key) not in known:
            raise unknown_name(key, getattr(recipe, key), known, where=f"model.{key}")
    others = ModelName.parse(recipe.name).parts
    if not any([has_matrices(family), *(one.self_attentive or has_matrices(one.family) for one in others)]):
        require_defaults(recipe, "init", why=f"{family} has no recurrent matrices")
    cell = partial(CELLS[family], initializer=INITIALIZERS[recipe.init])
    return cell if recipe.activation == "auto" else partial(cell, activation=ACTIVATIONS[recipe.activation])


def has_matrices(family: str) -> bool:
    """Whether a family is recurrent, and multiplies its state by matrices."""
    return family in CELLS and CELLS[family].has_recurrent_weights


def encoder_stack(family: str, recipe: ModelRecipe, input_size: int) -> Stack:
    """A stack in one or both directions, model.hidden wide in all, so that every family's states are equally wide."""
    if recipe.directions == 2 and recipe.hidden % 2:
        raise InputError(
            "model.hidden must be even: an encoder reads in both directions, each half as wide.",
            found=f"model.hidden={recipe.hidden}",
            fix=f"--set model.hidden={recipe.hidden + 1}, or --set model.directions=1",
        )
    return Stack(
        cells_of(family, recipe),
        input_size,
        recipe.hidden // recipe.directions,
        layers=recipe.layers,
        bidirectional=recipe.directions == 2,
        dropout=recipe.dropout,
    )


def decoder_stack(family: str, recipe: ModelRecipe, input_size: int) -> Stack:
    """A stack in one direction, model.hidden wide."""
    cells = cells_of(family, recipe)
    return Stack(cells, input_size, recipe.hidden, layers=recipe.layers, dropout=recipe.dropout)


def encoder_summary(recipe: ModelRecipe) -> Summary:
    """The summary of a recurrent encoder: by default the last state, of both directions where there are two."""
    if recipe.directions == 2 and recipe.pooling in ("auto", "last"):
        return end_states
    return summary_of(recipe, auto="last")


def recurrent_encoder(part: ModelPart, recipe: ModelRecipe, vocabulary_size: int) -> RecurrentEncoder:
    """An encoder of tokens."""
    embedding = TokenEmbedding(vocabulary_size, recipe.hidden, dropout=recipe.dropout)
    stack = encoder_stack(part.family, recipe, recipe.hidden)
    return RecurrentEncoder(embedding, stack, encoder_summary(recipe), dropout=recipe.dropout)


def recurrent_number_encoder(part: ModelPart, recipe: ModelRecipe, channels: int) -> RecurrentNumberEncoder:
    """An encoder of steps of so many channels."""
    stack = encoder_stack(part.family, recipe, channels)
    return RecurrentNumberEncoder(stack, encoder_summary(recipe), dropout=recipe.dropout)


def recurrent_reader(part: ModelPart, recipe: ModelRecipe, *, scaled: bool) -> StackEncoder:
    """One level of a hierarchical encoder; a recurrent one takes embeddings as they are, `scaled` or not."""
    return StackEncoder(encoder_stack(part.family, recipe, recipe.hidden))


def recurrent_decoder(
    part: ModelPart, recipe: ModelRecipe, vocabulary_size: int, *, source_size: int
) -> RecurrentDecoder | MarginalDecoder | CopyDecoder:
    """A decoder with the attention that the part adds; without one it receives the summary of the source alone."""
    uses = [word for word in part.added if word in ALIGNMENTS or word == COPY]
    part = part.without(*uses)
    composition = part.added_attention
    if uses and (composition is None or len(uses) > 1):
        raise InputError(
            f"model {recipe.name!r}: {' and '.join(uses)} needs one attention, and is one way to use it.",
            found=recipe.name,
            fix=f"for example lstm+additive+{uses[0]}",
        )
    embedding = TokenEmbedding(vocabulary_size, recipe.hidden, dropout=recipe.dropout, tied=recipe.tied_embeddings)
    if composition is None:
        require_defaults(recipe, "attend", why="a recurrent decoder without attention attends to nothing")
        stack, handover = stack_and_handover(part.family, recipe, source_size, auto="both", context_size=0)
        return FixedVectorDecoder(embedding, stack, handover, dropout=recipe.dropout)
    attention = with_linformer(attention_over(composition, recipe, recipe.hidden, source_size), part, recipe)
    if uses and uses[0] in ALIGNMENTS:
        require_defaults(recipe, "attend", why=f"{uses[0]} sums over outputs, not over contexts")
        stack, handover = stack_and_handover(part.family, recipe, source_size, auto="state", context_size=0)
        monotonic = uses[0] == HARD_MONOTONIC
        return MarginalDecoder(
            embedding,
            stack,
            handover,
            attention,
            source_size=source_size,
            monotonic=monotonic,
            dropout=recipe.dropout,
        )
    context_size = source_size if recipe.attend == "bahdanau" else 0
    stack, handover = stack_and_handover(part.family, recipe, source_size, auto="state", context_size=context_size)
    made = ATTENTIVE[recipe.attend]
    decoder = made(embedding, stack, handover, attention, source_size=source_size, dropout=recipe.dropout)
    return CopyDecoder(decoder, source_size=source_size) if uses else decoder


def stack_and_handover(
    family: str, recipe: ModelRecipe, source_size: int, *, auto: str, context_size: int
) -> tuple[Stack, Handover]:
    """A decoder's stack, and how it receives the summary: by `auto` where model.context leaves it open."""
    how = auto if recipe.context == "auto" else recipe.context
    added = source_size if how in ("input", "both") else 0
    stack = decoder_stack(family, recipe, recipe.hidden + added + context_size)
    return stack, HANDOVERS[how](source_size, stack.output_size * recipe.layers)


def attention_over(composition: Composition, recipe: ModelRecipe, query: int, key: int) -> Attention:
    """An attention of these widths from one sequence to another, whose positions are unrelated."""
    attention = composition.build(attention_sizes(recipe, query, key))
    if not attention.extent.crosses_sequences:
        raise InputError(
            f"model {recipe.name!r}: the extent {composition.extent} has a meaning within one sequence only, and this "
            "attention goes from one sequence to another.",
            found=composition.extent,
            fix="take local or local-predictive, leave it out, or name a transformer, which has self-attention",
        )
    return attention


def recurrent_language_model(part: ModelPart, recipe: ModelRecipe, vocabulary_size: int) -> FixedVectorDecoder:
    """A decoder without a source, which starts from zeros."""
    if not has_matrices(part.family):
        require_defaults(recipe, "recurrent_dropout", why=f"{part.family} has no recurrent matrices")
    dropout, locked = recipe.dropout, recipe.locked_dropout
    stack = Stack(
        cells_of(part.family, recipe),
        recipe.hidden,
        recipe.hidden,
        layers=recipe.layers,
        dropout=dropout,
        locked=locked,
        recurrent_dropout=recipe.recurrent_dropout,
    )
    embedding = TokenEmbedding(
        vocabulary_size,
        recipe.hidden,
        dropout=dropout,
        tied=recipe.tied_embeddings,
        word_dropout=recipe.embedding_dropout,
        locked=locked,
    )
    handover = Handover(ZeroState(stack.output_size * recipe.layers), NoContext())
    penalized = bool(recipe.activation_penalty or recipe.temporal_penalty)
    penalty = ActivationPenalty(recipe.activation_penalty, recipe.temporal_penalty) if penalized else None
    return FixedVectorDecoder(embedding, stack, handover, dropout=dropout, locked=locked, activation_penalty=penalty)


def coattention_matcher(
    part: ModelPart, recipe: ModelRecipe, vocabulary_size: int, pair_head: PairHead
) -> CoAttentionMatcher:
    """A recurrent encoder, co-attention by the composition, and another recurrent stack."""
    attention = attention_over(part.compose(), recipe, recipe.hidden, recipe.hidden)
    encoder = recurrent_encoder(part, recipe, vocabulary_size)
    return CoAttentionMatcher(encoder, attention, stack_after(part, recipe), pair_head, dropout=recipe.dropout)


def stack_after(part: ModelPart, recipe: ModelRecipe) -> Stack:
    """One recurrent layer over the compared states, as wide as they are."""
    size = recipe.hidden // recipe.directions
    return Stack(cells_of(part.family, recipe), recipe.hidden, size, bidirectional=recipe.directions == 2)


def recurrent_forecast_network(
    name: ModelName, recipe: ModelRecipe, sizes: SeriesSizes, *, quantiles: int
) -> ForecastNetwork:
    """A recurrent network over steps or patches; with a composition, with attention over the window."""
    part, size, patch = name.decoder, recipe.hidden, patch_of(recipe, sizes, patches=PATCHES_OF_A_WINDOW)
    composition = part.added_attention
    if composition is None:
        require_defaults(recipe, "pooling")
    if composition is None and patch == 1:
        stack = decoder_stack(part.family, recipe, sizes.channels + sizes.covariates)
        return LastStateNetwork(stack, sizes, quantiles=quantiles, dropout=recipe.dropout)
    embedding, queries = PatchEmbedding(sizes, patch, size), HorizonQueries(sizes, patch, size)
    head = PatchHead(sizes, patch, size, quantiles=quantiles, dropout=recipe.dropout)
    decoder = decoder_stack(part.family, recipe, size)
    if composition is None:
        return ParallelRecurrentNetwork(embedding, decoder, queries, head)
    encoder = encoder_stack(part.family, recipe, size)
    attention = attention_over(composition, recipe, size, size)
    return AttentiveRecurrentNetwork(embedding, encoder, encoder_summary(recipe), queries, decoder, attention, head)


def recurrent_window_decoder(
    part: ModelPart, recipe: ModelRecipe, sizes: WindowSizes, latent: int
) -> RecurrentWindowDecoder:
    """The decoder of an autoencoder."""
    stack = decoder_stack(part.family, recipe, latent)
    return RecurrentWindowDecoder(stack, sizes.channels, sizes.look_back)
