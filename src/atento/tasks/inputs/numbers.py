"""The channels of numeric sequences, each on a scale of its own: mean 0 and spread 1 over the training part."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from atento.data.tables.number_lists import require_numbers
from atento.errors import InputError
from atento.layers.masking import valid_from_lengths

# Axes: B batch, T time, C channels.

MOST_CHANNELS = 10_000


class Scale(NamedTuple):
    """x -> (x − mean) / spread; a channel that never changes is only moved."""

    mean: float
    spread: float

    @classmethod
    def of(cls, numbers: Tensor) -> "Scale":
        """From the training part's numbers."""
        mean, spread = float(numbers.mean()), float(numbers.std(correction=0))
        return cls(mean, spread if spread > 1e-12 * max(1.0, abs(mean)) else 1.0)

    def to(self, number: float) -> float:
        """Onto the scale."""
        return (number - self.mean) / self.spread

    def back(self, number: float) -> float:
        """Off the scale."""
        return number * self.spread + self.mean


class Channels(tuple[Scale, ...]):
    """The scale of each channel of a sequence."""

    __slots__ = ()

    @classmethod
    def learn(cls, sources: Sequence[str]) -> tuple["Channels", int]:
        """From the training part's sequences, all as wide as the first; and how many steps they have together."""
        first = require_numbers(sources[0])
        rows = [first, *(require_numbers(source, channels=first.shape[1]) for source in sources[1:])]
        steps = torch.from_numpy(np.concatenate(rows))  # (all steps, C)
        return cls(Scale.of(channel) for channel in steps.mT), len(steps)

    @classmethod
    def load(cls, saved: Any) -> "Channels":
        """What `to_json` wrote."""
        known = isinstance(saved, list) and 1 <= len(saved) <= MOST_CHANNELS
        if not known or not all(map(is_scale, saved)):
            raise InputError("this file holds no scales of numbers.", found=str(saved)[:80], fix="train again")
        return cls(Scale(*channel) for channel in saved)

    def to_json(self) -> list[list[float]]:
        """Mean and spread of each channel."""
        return [list(channel) for channel in self]

    def read(self, source: str) -> Tensor:
        """The scaled numbers (T, C) of a text."""
        steps = torch.from_numpy(require_numbers(source, channels=len(self)))
        means, spreads = torch.tensor(self, dtype=torch.float64).unbind(dim=1)
        return ((steps - means) / spreads).to(torch.get_default_dtype())


def is_scale(saved: Any) -> bool:
    """Two finite numbers, the second above zero."""
    return (
        isinstance(saved, list)
        and len(saved) == 2
        and all(isinstance(number, int | float) and math.isfinite(number) for number in saved)
        and saved[1] > 0
    )


def pad_sequences(rows: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """(T, C) each -> values (B, T, C), zeros on the right, and valid (B, T)."""
    values = nn.utils.rnn.pad_sequence(list(rows), batch_first=True)
    return values, valid_from_lengths(torch.tensor([len(row) for row in rows]), values.size(1))


def pad_for(module: nn.Module, rows: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """The same where the module is, in its precision."""
    like = next(module.parameters())
    values, valid = pad_sequences(rows)
    return values.to(like), valid.to(like.device)
