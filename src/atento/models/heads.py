"""Heads: what a model says of a vector. With nothing below it, a head is a linear or a logistic regression."""

from abc import ABC, abstractmethod

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
    def loss(self, outputs: Tensor, truth: Tensor) -> Loss:
        """How wrong the outputs are."""

    @abstractmethod
    def answer(self, outputs: Tensor) -> Tensor:
        """What the outputs say."""


class LabelHead(Head):
    """One of C labels: outputs are logits (..., C); truth (...,) is the label's number."""

    def loss(self, outputs: Tensor, truth: Tensor) -> Loss:
        """Cross-entropy of the softmax."""
        return token_cross_entropy(outputs, truth)

    def answer(self, outputs: Tensor) -> Tensor:
        """The likeliest label (...,)."""
        return outputs.argmax(dim=-1)


class LabelSetHead(Head):
    """Any of C labels, each a yes or a no by itself: outputs are logits (..., C); truth (..., C) is 0 or 1."""

    def loss(self, outputs: Tensor, truth: Tensor) -> Loss:
        """Binary cross-entropy of the sigmoid, label by label."""
        return binary_cross_entropy(outputs, truth)

    def answer(self, outputs: Tensor) -> Tensor:
        """Which labels (..., C) are likelier than not."""
        return outputs > 0


class NumberHead(Head):
    """F numbers: outputs (..., F) are the estimates; truth (..., F)."""

    def loss(self, outputs: Tensor, truth: Tensor) -> Loss:
        """Squared error."""
        return squared_error(outputs, truth)

    def answer(self, outputs: Tensor) -> Tensor:
        """The numbers as they are."""
        return outputs
