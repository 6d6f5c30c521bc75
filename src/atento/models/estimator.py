"""Numbers in, numbers out: encoders of numeric sequences, and the estimator that judges what they read.

A name is FAMILY[+SCORE][+DISTRIBUTION][+EXTENT] as in `atento.models.names`. In a Transformer the composition is its
self-attention; a recurrent estimator pools its states by it, and without one judges its summary.
"""

import torch
from torch import Tensor, nn

from atento.blocks.stack import TransformerStack
from atento.errors import InputError
from atento.layers.padding import clean
from atento.layers.positions import Positions
from atento.models.build import cells_of
from atento.models.build_one_sided import attention_pooling, one_part, require_defaults
from atento.models.build_transformer import ADDED, own_layers
from atento.models.classifier import Classifier
from atento.models.heads import NumberHead
from atento.models.names import ModelName, ModelPart
from atento.models.protocols import Encoded, Encoder
from atento.models.summaries import Summary, end_states, find_summary
from atento.recurrent.stack import Stack
from atento.spec import ModelRecipe

# Axes: B batch, N time, C channels, D size.


class RecurrentNumbers(Encoder):
    """Walks over numbers (B, N, C) as they are; the summary is made of the states."""

    def __init__(self, stack: Stack, summarise: Summary, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.stack, self.summarise, self.size = stack, summarise, stack.output_size
        self.dropout = nn.Dropout(dropout)

    def encode(self, values: Tensor, valid: Tensor) -> Encoded:
        """One state a step."""
        states: Tensor = self.stack(values, valid=valid).outputs
        return Encoded(self.dropout(states), valid, self.dropout(self.summarise(states, valid)))


class TransformerNumbers(Encoder):
    """Maps numbers (B, N, C) to vectors, adds positions, passes the layers."""

    def __init__(
        self,
        channels: int,
        positions: Positions,
        stack: TransformerStack,
        summarise: Summary,
        *,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.read = nn.Linear(channels, stack.size)
        self.positions, self.stack, self.summarise, self.size = positions, stack, summarise, stack.size
        self.dropout = nn.Dropout(dropout)

    def encode(self, values: Tensor, valid: Tensor) -> Encoded:
        """All steps at once."""
        states: Tensor = self.stack(self.place(values, valid), valid=valid)
        return Encoded(states, valid, self.summarise(states, valid))

    def place(self, values: Tensor, valid: Tensor) -> Tensor:
        """Vectors (B, N, D); the real steps count from 0, whatever the side of the padding."""
        vectors = self.read(clean(values, valid))
        places = self.positions(torch.arange(values.size(1), device=values.device))  # (N, D)
        placed: Tensor = self.dropout(vectors + places.to(vectors.dtype)[(valid.cumsum(dim=-1) - 1).clamp(min=0)])
        return placed


def build_estimator(recipe: ModelRecipe, channels: int) -> Classifier:
    """Reads numeric sequences and gives one number for each."""
    part = one_part(ModelName.parse(recipe.name), "an estimator")
    require_defaults(recipe, "handover", "attend")
    if part.linformer:
        raise InputError(
            f"model {recipe.name!r}: linformer needs the longest length, which numbers do not have yet.",
            found="linformer",
            fix="leave it out",
        )
    encoder = build_number_encoder(part, recipe, channels)
    pooling = None
    if part.family != "transformer" and part.attention is not None:
        pooling = attention_pooling(part.attention, recipe, encoder.size)
    return Classifier(encoder, NumberHead(encoder.size, 1), pooling=pooling)


def build_number_encoder(part: ModelPart, recipe: ModelRecipe, channels: int) -> Encoder:
    """An encoder of any family over so many channels."""
    both, size = recipe.directions == 2, recipe.hidden
    if part.family == "transformer":
        layers = own_layers(part.compose(), recipe, causal=not both)
        positions = ADDED.get(recipe.positions, ADDED["none"])(recipe)
        summarise = find_summary(recipe.summary, auto="mean")
        return TransformerNumbers(channels, positions, TransformerStack(layers), summarise, dropout=recipe.dropout)
    if both and size % 2:
        raise InputError(
            "model.hidden must be even: an encoder reads in both directions, each half as wide.",
            found=f"model.hidden={size}",
            fix=f"--set model.hidden={size + 1}, or --set model.directions=1",
        )
    stack = Stack(
        cells_of(part.family, recipe),
        channels,
        size // recipe.directions,
        layers=recipe.layers,
        bidirectional=both,
        dropout=recipe.dropout,
    )
    summarise = end_states if both and recipe.summary in ("auto", "last") else find_summary(recipe.summary, auto="last")
    return RecurrentNumbers(stack, summarise, dropout=recipe.dropout)
