"""Number sequences and the number of each, on scales of their own: mean 0 and spread 1 over the training part."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from atento.data.number_sequences import require_steps
from atento.data.records import counted
from atento.errors import InputError
from atento.spec import TokensRecipe

MOST_CHANNELS = 10_000


class EncodedSequence(NamedTuple):
    """Scaled numbers."""

    values: Tensor  # (T, C)
    target: float


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


class NumberCodec:
    """Texts of numbers <-> tensors."""

    def __init__(self, channels: Sequence[Scale], target: Scale, *, notes: tuple[str, ...] = ()) -> None:
        self.channels, self.target, self.notes = tuple(channels), target, notes

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[tuple[str, str]]) -> "NumberCodec":
        """Scales from the training part alone."""
        width = len(require_steps(pairs[0][0])[0])
        steps = torch.tensor(
            [step for source, _ in pairs for step in require_steps(source, channels=width)], dtype=torch.float64
        )  # (all steps, C)
        targets = torch.tensor([float(target) for _, target in pairs], dtype=torch.float64)
        channels, target = [Scale.of(channel) for channel in steps.mT], Scale.of(targets)
        note = (
            f"{counted(width, 'channel')}, {len(steps) / len(pairs):.0f} steps a sequence; targets of mean "
            f"{target.mean:.3g} and standard deviation {target.spread:.3g}"
        )
        return cls(channels, target, notes=(note,))

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> "NumberCodec":
        """What `to_json` wrote."""
        channels, target = saved.get("channels"), saved.get("target")
        known = isinstance(channels, list) and 1 <= len(channels) <= MOST_CHANNELS
        if not known or not all(map(is_scale, [*channels, target])):  # type: ignore[misc]
            raise InputError("this file holds no scales of numbers.", found=str(saved)[:80], fix="train again")
        return cls([Scale(*channel) for channel in channels or ()], Scale(*target or ()))

    def to_json(self) -> dict[str, Any]:
        """Mean and spread of each channel and of the target."""
        return {"channels": [list(channel) for channel in self.channels], "target": list(self.target)}

    def encode(self, pair: tuple[str, str]) -> EncodedSequence:
        """A training example."""
        return EncodedSequence(self.read(pair[0]), self.target.to(float(pair[1])))

    def read(self, source: str) -> Tensor:
        """The scaled numbers (T, C) of a text."""
        steps = torch.tensor(require_steps(source, channels=len(self.channels)), dtype=torch.float64)
        means, spreads = torch.tensor(self.channels, dtype=torch.float64).unbind(dim=1)
        return ((steps - means) / spreads).to(torch.get_default_dtype())

    def write(self, number: float) -> str:
        """An answer as a person reads it."""
        return f"{self.target.back(number):.6g}"


def is_scale(saved: Any) -> bool:
    """Two finite numbers, the second above zero."""
    return (
        isinstance(saved, list)
        and len(saved) == 2
        and all(isinstance(number, int | float) and math.isfinite(number) for number in saved)
        and saved[1] > 0
    )
