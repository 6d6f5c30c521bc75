"""Numbers in, numbers out: encoders of numeric sequences, and the estimator that judges what they read.

A name is FAMILY[+SCORE][+DISTRIBUTION][+EXTENT] as in `atento.models.names`. In a Transformer the composition is its
self-attention; a recurrent estimator pools its states by it, and without one judges its summary.

Long numeric sequences in pieces: several steps are read together, so that an encoder has fewer to walk over.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from atento.blocks.transformer import TransformerStack
from atento.errors import InputError
from atento.layers.masking import clean
from atento.layers.positions import Positions
from atento.models.build.encoder_decoder import cells_of
from atento.models.build.one_sided import attention_pooling, one_part, require_defaults
from atento.models.build.transformer import ADDED, own_layers
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


# Axes: B batch, N time, C channels, P steps a patch, M patches.


class PatchedNumbers(Encoder):
    """Cuts numbers (B, N, C) into patches of P steps and hands each on as one step of P · C numbers.

    A patch begins at the first real step, whatever the side of the padding; what the last one lacks is zeros. The
    states are those of the patches: (B, M, D) with M = ⌈N / P⌉.
    """

    def __init__(self, channels: int, patch: int, encoder: Encoder) -> None:
        super().__init__()
        if patch < 1:
            raise InputError("a patch has one step at least.", found=f"patch={patch}", fix="patch=1, or more")
        self.channels, self.patch, self.encoder, self.size = channels, patch, encoder, encoder.size

    def encode(self, values: Tensor, valid: Tensor) -> Encoded:
        """One state a patch."""
        return self.encoder.encode(*self.cut(values, valid))

    def cut(self, values: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
        """Patches (B, M, P · C), and which of them hold a real step (B, M)."""
        order = valid.int().argsort(dim=1, descending=True, stable=True)  # (B, N) real steps first
        steps = clean(values, valid).take_along_dim(order.unsqueeze(-1), dim=1)
        real, lack = valid.gather(1, order), -values.size(1) % self.patch
        steps, real = functional.pad(steps, (0, 0, 0, lack)), functional.pad(real, (0, lack))
        rows, channels = len(steps), steps.size(-1)
        return steps.reshape(rows, -1, self.patch * channels), real.reshape(rows, -1, self.patch).any(dim=2)


def steps_together(encoder: nn.Module, steps: Sequence[str]) -> list[str]:
    """What each state was read from: the steps as they are; of patches, the numbers of the first and the last."""
    if not isinstance(encoder, PatchedNumbers):
        return list(steps)
    firsts = range(0, len(steps), encoder.patch)
    return [f"{first + 1}–{min(first + encoder.patch, len(steps))}" for first in firsts]
