"""Heads: a linear map from features to outputs, with the loss and the predictions of a task.

Directly above the inputs, a head is a linear or a logistic regression.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import log
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from atento.errors import InputError
from atento.layers.losses import Loss, at_least_float32, binary_cross_entropy, squared_error, token_cross_entropy
from atento.layers.products import Linear

# Axes: D size, C labels, F numbers, M networks; leading axes (...) are cases: a sequence each, or a step each.


class Head(nn.Module, ABC):
    """features (..., D) -> outputs (..., width), by one linear map. Subclasses define the loss and the predictions."""

    mean_formula: ClassVar[str]  # how `mean` is made of the outputs of several networks

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        for name, number in (("size", size), ("width", width)):
            if number < 1:
                raise InputError(f"Head: {name} must be positive.", found=f"{name}={number}", fix="1 or more")
        self.size, self.width = size, width
        self.map = Linear(size, width)

    def forward(self, features: Tensor) -> Tensor:
        """W x + b."""
        return self.map(features)

    @abstractmethod
    def loss(self, outputs: Tensor, truth: Tensor, *, smoothing: float = 0.0) -> Loss:
        """The loss of outputs against the truth; `smoothing` is label smoothing, where there are labels."""

    @abstractmethod
    def predict(self, outputs: Tensor) -> Tensor:
        """The predictions that outputs stand for."""

    @staticmethod
    @abstractmethod
    def mean(outputs: Sequence[Tensor]) -> Tensor:
        """The outputs (..., width) of several networks -> outputs that stand for their mean prediction."""


class WeightedHead(Head):
    """A head whose loss can weigh labels differently; the weights are not part of the state dict."""

    weights: Tensor | None

    def __init__(self, size: int, width: int) -> None:
        super().__init__(size, width)
        self.register_buffer("weights", None, persistent=False)

    def set_class_weights(self, weights: Tensor) -> None:
        """A weight (C,) for each label; where any number are true, that of a positive relative to a negative."""
        self.weights = weights.to(self.map.weight)


class LabelHead(WeightedHead):
    """One of C labels: outputs are logits (..., C); truth (...,) is the label's index."""

    mean_formula = "ln of the mean of softmax(outputs)"

    def loss(self, outputs: Tensor, truth: Tensor, *, smoothing: float = 0.0) -> Loss:
        """Cross-entropy of the softmax."""
        return token_cross_entropy(outputs, truth, smoothing=smoothing, weights=self.weights)

    def predict(self, outputs: Tensor) -> Tensor:
        """The argmax (...,) of the logits."""
        return outputs.argmax(dim=-1)

    @staticmethod
    def mean(outputs: Sequence[Tensor]) -> Tensor:
        """The logarithm of the mean probability of each label."""
        return mean_log_probabilities(outputs)


class MultiLabelHead(WeightedHead):
    """Any number of C labels, each decided by itself: outputs are logits (..., C); truth (..., C) is 0 or 1.

    A label is predicted where its probability is above its threshold, one half until `set_thresholds` is called.
    """

    mean_formula = "ln(p / (1 − p)) of the mean p of sigmoid(outputs)"

    def __init__(self, size: int, width: int) -> None:
        super().__init__(size, width)
        self.thresholds = nn.Buffer(torch.full((width,), 0.5))

    def set_thresholds(self, thresholds: Tensor) -> None:
        """The probability (C,) above which each label is predicted."""
        self.thresholds.copy_(thresholds)

    def loss(self, outputs: Tensor, truth: Tensor, *, smoothing: float = 0.0) -> Loss:
        """Binary cross-entropy of the sigmoid for each label; smoothing moves each truth towards one half."""
        truth = truth if not smoothing else (1 - smoothing) * truth + smoothing / 2
        return binary_cross_entropy(outputs, truth, positive_weight=self.weights)

    def predict(self, outputs: Tensor) -> Tensor:
        """Which labels (..., C) are above their thresholds."""
        return outputs.sigmoid() > self.thresholds

    @staticmethod
    def mean(outputs: Sequence[Tensor]) -> Tensor:
        """The logit of the mean probability of each label; ln Σ p − ln Σ (1 − p) is exact where p rounds to 0 or 1."""
        logits = torch.stack([at_least_float32(one) for one in outputs])  # (M, ..., C)
        return logsigmoid(logits).logsumexp(dim=0) - logsigmoid(-logits).logsumexp(dim=0)


class RegressionHead(Head):
    """F numbers: outputs (..., F) are the estimates; truth (..., F)."""

    mean_formula = "the mean of the outputs"

    def loss(self, outputs: Tensor, truth: Tensor, *, smoothing: float = 0.0) -> Loss:
        """Squared error; `smoothing` has no effect, as there are no labels."""
        return squared_error(outputs, truth)

    def predict(self, outputs: Tensor) -> Tensor:
        """The outputs themselves."""
        return outputs

    @staticmethod
    def mean(outputs: Sequence[Tensor]) -> Tensor:
        """The mean of the estimates."""
        return torch.stack(list(outputs)).mean(dim=0)


def mean_log_probabilities(logits: Sequence[Tensor]) -> Tensor:
    """The logarithm of the mean probability (..., C) that several networks' logits (..., C) stand for."""
    logs = torch.stack([at_least_float32(one).log_softmax(dim=-1) for one in logits])  # (M, ..., C)
    return torch.as_tensor(logs.logsumexp(dim=0) - log(len(logits)))
