"""Number sequences and the number of each, on scales of their own: mean 0 and spread 1 over the training part."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from atento.data.records import counted
from atento.errors import InputError
from atento.spec import TokensRecipe
from atento.tasks.channels import Channels, Scale, is_scale


class EncodedSequence(NamedTuple):
    """Scaled numbers."""

    values: Tensor  # (T, C)
    target: float


class NumberCodec:
    """Texts of numbers <-> tensors."""

    def __init__(self, channels: Channels, target: Scale, *, notes: tuple[str, ...] = ()) -> None:
        self.channels, self.target, self.notes = channels, target, notes

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[tuple[str, str]]) -> "NumberCodec":
        """Scales from the training part alone."""
        channels, steps = Channels.learn([source for source, _ in pairs])
        target = Scale.of(torch.tensor([float(target) for _, target in pairs], dtype=torch.float64))
        note = (
            f"{counted(len(channels), 'channel')}, {steps / len(pairs):.0f} steps a sequence; targets of mean "
            f"{target.mean:.3g} and standard deviation {target.spread:.3g}"
        )
        return cls(channels, target, notes=(note,))

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> "NumberCodec":
        """What `to_json` wrote."""
        target = saved.get("target")
        if not is_scale(target):
            raise InputError("this file holds no scales of numbers.", found=str(saved)[:80], fix="train again")
        return cls(Channels.load(saved.get("channels")), Scale(*target or ()))

    def to_json(self) -> dict[str, Any]:
        """Mean and spread of each channel and of the target."""
        return {"channels": self.channels.to_json(), "target": list(self.target)}

    def encode(self, pair: tuple[str, str]) -> EncodedSequence:
        """A training example."""
        return EncodedSequence(self.read(pair[0]), self.target.to(float(pair[1])))

    def read(self, source: str) -> Tensor:
        """The scaled numbers (T, C) of a text."""
        return self.channels.read(source)

    def write(self, number: float) -> str:
        """An answer as a person reads it."""
        return f"{self.target.back(number):.6g}"
