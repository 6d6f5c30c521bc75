"""Sequences of numbers as an input, of one or many channels: each channel standardised over the training part."""

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn

from atento.data.records import counted
from atento.data.tables.number_lists import require_numbers
from atento.data.text.vocabulary import Vocabulary
from atento.errors import InputError
from atento.layers.masking import valid_from_lengths
from atento.models.backbones.numbers import patch_labels
from atento.models.builders.choices import HeadMaker
from atento.models.builders.numbers import build_estimator, build_series_classifier, build_transcriber
from atento.models.classifier import Classifier, LabelledBatch
from atento.models.protocols import Encoder
from atento.models.translator import Translator
from atento.spec import ModelRecipe, TokensRecipe
from atento.tasks.inputs.input import (
    EncoderDecoderInput,
    ManyToOneInput,
    PaddedSources,
    SourceView,
    align_sequence,
    batch_sequences,
    trace_sequence,
)
from atento.tasks.leaks import require_training_scale
from atento.tasks.task import Saved
from atento.tasks.traces import TraceMatrix, trace_matrix

# Axes: B batch, T time, C channels.

MOST_CHANNELS = 10_000


class Standardization(NamedTuple):
    """x -> (x − mean) / std; numbers that never change are only moved."""

    mean: float
    std: float

    @classmethod
    def of(cls, numbers: Tensor) -> "Standardization":
        """From the training part's numbers."""
        mean, std = float(numbers.mean()), float(numbers.std(correction=0))
        return cls(mean, std if std > 1e-12 * max(1.0, abs(mean)) else 1.0)

    @classmethod
    def load(cls, saved: object) -> "Standardization":
        """Two finite numbers, the second above zero."""
        if (
            isinstance(saved, list)
            and len(saved) == 2
            and all(isinstance(number, int | float) and math.isfinite(number) for number in saved)
            and saved[1] > 0
        ):
            return cls(*saved)
        raise InputError("this file holds no scales of numbers.", found=str(saved)[:80], fix="train again")

    def to(self, number: float) -> float:
        """Onto the scale."""
        return (number - self.mean) / self.std

    def back(self, number: float) -> float:
        """Off the scale."""
        return number * self.std + self.mean


class Numbers(ManyToOneInput[Tensor, LabelledBatch, Classifier], EncoderDecoderInput[Tensor]):
    """Texts of numbers <-> standardised sequences (T, C)."""

    kind = "numbers"
    has_tokens = False
    texts = "sequences"
    at_once = 32_768

    batch = batch_sequences
    align = align_sequence
    trace = trace_sequence

    def __init__(self, channels: Sequence[Standardization], *, notes: tuple[str, ...] = ()) -> None:
        self.channels, self.notes = tuple(channels), notes

    def require_training_scale(self, sources: Sequence[str]) -> None:
        """Refuse scales of channels that are not those of the training sources."""
        scales = np.array(self.channels, dtype=np.float64)  # (C, 2)
        names = [f"channel {number + 1}" for number in range(len(self.channels))]
        require_training_scale(names, scales[:, 0], scales[:, 1], (require_numbers(source) for source in sources))

    @classmethod
    def learn(cls, recipe: TokensRecipe, sources: Sequence[str], *, writes: bool) -> Self:
        """The scale of each channel from the training part, whose sequences are all as wide as the first."""
        first = require_numbers(sources[0])
        rows = [first, *(require_numbers(source, channels=first.shape[1]) for source in sources[1:])]
        steps = torch.from_numpy(np.concatenate(rows))  # (all steps, C)
        channels = [Standardization.of(channel) for channel in steps.mT]
        note = f"{counted(len(channels), 'channel')}, {len(steps) / len(sources):.0f} steps per sequence"
        return cls(channels, notes=(note,))

    @classmethod
    def load(cls, saved: Saved) -> Self:
        """What `to_json` wrote."""
        channels = saved.get("channels")
        if not isinstance(channels, list) or not 1 <= len(channels) <= MOST_CHANNELS:
            raise InputError("this file holds no scales of numbers.", found=str(saved)[:80], fix="train again")
        return cls([Standardization.load(channel) for channel in channels])

    def to_json(self) -> dict[str, object]:
        """Mean and standard deviation of each channel."""
        return {"channels": [list(channel) for channel in self.channels]}

    def encode(self, source: str) -> Tensor:
        """The standardised numbers (T, C) of a text."""
        steps = torch.from_numpy(require_numbers(source, channels=len(self.channels)))
        means, stds = torch.tensor(self.channels, dtype=torch.float64).unbind(dim=1)
        return ((steps - means) / stds).to(torch.get_default_dtype())

    def length(self, encoded: Tensor) -> int:
        """How many steps."""
        return len(encoded)

    def output_length(self, encoded: Tensor) -> None:
        """A long recording may hold a short text: the source bounds nothing."""

    def tensors(self, encoded: Sequence[Tensor]) -> PaddedSources:
        """(T, C) each -> values (B, T, C), zeros on the right, and valid (B, T)."""
        values = nn.utils.rnn.pad_sequence(list(encoded), batch_first=True)
        valid = valid_from_lengths(torch.tensor([len(row) for row in encoded]), values.size(1))
        return PaddedSources(values, valid)

    def build(self, recipe: ModelRecipe, head: HeadMaker, width: int) -> Classifier:
        """A classifier of numeric sequences."""
        return build_series_classifier(recipe, len(self.channels), head, width)

    def build_estimator(self, recipe: ModelRecipe) -> Classifier:
        """An estimator reads every step, never patches."""
        return build_estimator(recipe, len(self.channels))

    def build_translator(self, recipe: ModelRecipe, target: Vocabulary) -> Translator:
        """A transcriber of numeric sequences."""
        return build_transcriber(recipe, len(self.channels), len(target))

    def view(self, encoder: Encoder, source: str) -> SourceView:
        """The numbers of each step, or the steps of each patch."""
        return SourceView(patch_labels(encoder, source.split()))

    def trace_source(self, encoder: Encoder, source: str, view: SourceView) -> list[TraceMatrix]:
        """The standardised numbers."""
        names = [f"x{number + 1}" for number in range(len(self.channels))]
        formula = "(x − mean) / std of the training part"
        return [trace_matrix("numbers", formula, source.split(), self.encode(source), columns=names)]
