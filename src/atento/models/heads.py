"""Heads: what a model says of a vector. With nothing below it, a head is a linear or a logistic regression."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.losses import Loss, binary_cross_entropy, squared_error, token_cross_entropy

# Axes: D size, C labels, F numbers; leading axes (...) are cases: a sequence each, or a step each.


class Head(nn.Module, ABC):
    """features (..., D) -> outputs (..., width), by one linear map; leaves say how outputs are judged and answered."""

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        for name, number in (("size", size), ("width", width)):
            if number < 1:
                raise InputError(f"a head's {name} must be at least 1.", found=f"{name}={number}", fix="1 or more")
        self.size, self.width = size, width
        self.map = nn.Linear(size, width)

    def forward(self, features: Tensor) -> Tensor:
        """W x + b."""
        outputs: Tensor = self.map(features)
        return outputs

    @abstractmethod
    def loss(self, outputs: Tensor, truth: Tensor, *, smoothing: float = 0.0) -> Loss:
        """How wrong the outputs are; smoothing is a share of each label, where there are labels."""

    @abstractmethod
    def answer(self, outputs: Tensor) -> Tensor:
        """What the outputs say."""


class LabelHead(Head):
    """One of C labels: outputs are logits (..., C); truth (...,) is the label's number.

    `weigh` makes some labels weigh more while learning; what is learned does not carry it.
    """

    weights: Tensor | None

    def __init__(self, size: int, width: int) -> None:
        super().__init__(size, width)
        self.register_buffer("weights", None, persistent=False)

    def weigh(self, weights: Tensor) -> None:
        """A weight (C,) for each label."""
        self.weights = weights.to(self.map.weight)

    def loss(self, outputs: Tensor, truth: Tensor, *, smoothing: float = 0.0) -> Loss:
        """Cross-entropy of the softmax."""
        return token_cross_entropy(outputs, truth, smoothing=smoothing, weights=self.weights)

    def answer(self, outputs: Tensor) -> Tensor:
        """The likeliest label (...,)."""
        return outputs.argmax(dim=-1)


class LabelSetHead(Head):
    """Any of C labels, each a yes or a no by itself: outputs are logits (..., C); truth (..., C) is 0 or 1.

    A label is said where its probability is above its threshold, one half until `settle` says otherwise.
    """

    weights: Tensor | None
    thresholds: Tensor

    def __init__(self, size: int, width: int) -> None:
        super().__init__(size, width)
        self.register_buffer("weights", None, persistent=False)
        self.register_buffer("thresholds", torch.full((width,), 0.5))

    def weigh(self, weights: Tensor) -> None:
        """How much more a yes (C,) of each label weighs than a no while learning."""
        self.weights = weights.to(self.map.weight)

    def settle(self, thresholds: Tensor) -> None:
        """The probability (C,) above which each label is said."""
        self.thresholds.copy_(thresholds)

    def loss(self, outputs: Tensor, truth: Tensor, *, smoothing: float = 0.0) -> Loss:
        """Binary cross-entropy of the sigmoid, label by label; smoothing moves each truth towards one half."""
        truth = truth if not smoothing else (1 - smoothing) * truth + smoothing / 2
        return binary_cross_entropy(outputs, truth, yes=self.weights)

    def answer(self, outputs: Tensor) -> Tensor:
        """Which labels (..., C) are said."""
        return outputs.sigmoid() > self.thresholds


class NumberHead(Head):
    """F numbers: outputs (..., F) are the estimates; truth (..., F)."""

    def loss(self, outputs: Tensor, truth: Tensor, *, smoothing: float = 0.0) -> Loss:
        """Squared error; there is no label to smooth."""
        return squared_error(outputs, truth)

    def answer(self, outputs: Tensor) -> Tensor:
        """The numbers as they are."""
        return outputs
