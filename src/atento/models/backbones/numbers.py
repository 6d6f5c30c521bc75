"""Encoders of numeric sequences (B, N, C): recurrent, Transformer, and either of them over patches of several steps."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from atento.blocks.transformer_stack import TransformerStack
from atento.errors import InputError
from atento.layers.dropout import Dropout
from atento.layers.masking import clean, valid_first
from atento.layers.positions import Positions
from atento.layers.products import Linear
from atento.models.protocols import Encoded, Encoder
from atento.models.summaries import Summary
from atento.recurrent.stack import Stack

# Axes: B batch, N time, C channels, D size, P steps of a patch, M patches.


class RecurrentNumberEncoder(Encoder):
    """A recurrent stack over numbers (B, N, C), without an embedding; the summary is a function of the states."""

    def __init__(self, stack: Stack, summarize: Summary, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.stack, self.summarize, self.size = stack, summarize, stack.output_size
        self.dropout = Dropout(dropout)

    def encode(self, values: Tensor, valid: Tensor) -> Encoded:
        """One state for each step."""
        states: Tensor = self.stack(values, valid=valid).outputs
        return Encoded(self.dropout(states), valid, self.dropout(self.summarize(states, valid)))


class TransformerNumberEncoder(Encoder):
    """Numbers (B, N, C) mapped to vectors, with positions added, through layers of self-attention."""

    def __init__(
        self,
        channels: int,
        positions: Positions,
        stack: TransformerStack,
        summarize: Summary,
        *,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.read = Linear(channels, stack.size)
        self.positions, self.stack, self.summarize, self.size = positions, stack, summarize, stack.size
        self.dropout = Dropout(dropout)

    def encode(self, values: Tensor, valid: Tensor) -> Encoded:
        """One state for each step, all in parallel."""
        states: Tensor = self.stack(self.place(values, valid), valid=valid)
        return Encoded(states, valid, self.summarize(states, valid))

    def place(self, values: Tensor, valid: Tensor) -> Tensor:
        """Vectors with positions (B, N, D); real steps count from 0, on whichever side the padding is."""
        vectors = self.read(clean(values, valid))
        return self.dropout(vectors + self.positions.along(vectors, valid))


class PatchedNumberEncoder(Encoder):
    """Cuts numbers (B, N, C) into patches of P steps and encodes each patch as one step of P · C numbers.

    Patches start at the first real step, on whichever side the padding is; the last one is filled up with zeros. The
    states are those of the patches: (B, M, D) with M = ⌈N / P⌉.
    """

    def __init__(self, channels: int, patch: int, encoder: Encoder) -> None:
        super().__init__()
        if patch < 1:
            raise InputError("PatchedNumberEncoder: patch must be positive.", found=f"patch={patch}", fix="1 or more")
        self.channels, self.patch, self.encoder, self.size = channels, patch, encoder, encoder.size

    def encode(self, values: Tensor, valid: Tensor) -> Encoded:
        """One state for each patch."""
        return self.encoder.encode(*self.cut(values, valid))

    def cut(self, values: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
        """Patches (B, M, P · C), and which of them hold a real step (B, M); in an exported graph an empty one follows,
        because a graph is recorded for one patch or for several.
        """
        order = valid_first(valid)  # (B, N)
        steps = clean(values, valid).gather(1, order.unsqueeze(-1).expand_as(values))
        rows, length, channels = steps.shape
        patches = (length + self.patch - 1) // self.patch + torch.compiler.is_exporting()
        missing = patches * self.patch - length
        steps, real = functional.pad(steps, (0, 0, 0, missing)), functional.pad(valid.gather(1, order), (0, missing))
        return steps.reshape(rows, patches, self.patch * channels), real.reshape(rows, patches, self.patch).any(dim=2)


def patch_labels(encoder: nn.Module, steps: Sequence[str]) -> list[str]:
    """A label for each state: the steps themselves, or for patches the numbers of their first and last step."""
    if not isinstance(encoder, PatchedNumberEncoder):
        return list(steps)
    firsts = range(0, len(steps), encoder.patch)
    return [f"{first + 1}–{min(first + encoder.patch, len(steps))}" for first in firsts]
