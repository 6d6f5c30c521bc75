"""Distributions: how scores become weights."""

import math
from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from atento.attention.fast.kernels import entmax_weights
from atento.attention.requirements import require_heads, require_positive
from atento.attention.scores.product import Kind
from atento.errors import InputError, unknown_name

# Axes: Q queries, K keys, H heads.

SOFTEST = 1e-4  # α − 1 of a softmax to four digits; nearer to 0 the gradient of α would be lost in rounding


class Distribution(nn.Module, ABC):
    """Scores (..., Q, K) to weights. A query that sees nothing gives a row of zeros."""

    takes: ClassVar[Kind] = "scores"
    sums_to_one: ClassVar[bool] = True
    non_negative: ClassVar[bool] = True
    differentiable: ClassVar[bool] = True  # else its gradient is an estimate

    def forward(self, scores: Tensor, visible: Tensor) -> Tensor:
        """Share weight among the visible keys; `visible` broadcasts to the scores."""
        if visible.numel() == 1 and visible.device.type == "cpu" and bool(visible):  # nothing is hidden: no work for it
            return self.normalise(scores, visible)
        floor = torch.finfo(scores.dtype).min  # -inf would give NaN rows
        weights = self.normalise(scores.masked_fill(~visible, floor), visible)
        return weights.masked_fill(~visible, 0.0)

    @abstractmethod
    def normalise(self, scores: Tensor, visible: Tensor) -> Tensor:
        """The formula, over the last axis; what is hidden scores the least there is."""


class Softmax(Distribution):
    """exp(s_i) / Σ exp(s_j)."""

    def normalise(self, scores: Tensor, visible: Tensor) -> Tensor:
        """Every visible key gets some weight."""
        return scores.softmax(dim=-1)


class Sigmoid(Distribution):
    """1 / (1 + exp(−s_i)): each key judged by itself, in [0, 1]. A row need not sum to 1."""

    sums_to_one = False

    def normalise(self, scores: Tensor, visible: Tensor) -> Tensor:
        """No key takes weight from another."""
        return scores.sigmoid()


class Proportional(Distribution):
    """s_i / Σ s_j of scores that are never negative: kernels φ(q) . φ(k) (Katharopoulos et al., 2020, eq. 4).

    Where the scores are all 0 the weights are too.
    """

    takes = "kernel"

    def normalise(self, scores: Tensor, visible: Tensor) -> Tensor:
        """What is hidden counts 0."""
        scores = scores.clamp(min=0.0)
        return in_proportion(scores, scores.sum(dim=-1, keepdim=True))


def in_proportion(parts: Tensor, total: Tensor) -> Tensor:
    """parts / total; zeros, without a gradient, where the total is nothing or too small to divide by."""
    limits = torch.finfo(total.dtype)
    nothing = total < limits.tiny / limits.eps
    return parts.masked_fill(nothing, 0.0) / total.masked_fill(nothing, 1.0)


class Sparsemax(Distribution):
    """The point of the simplex nearest to the scores (Martins & Astudillo, 2016, eq. 1): exact zeros."""

    def normalise(self, scores: Tensor, visible: Tensor) -> Tensor:
        """max(s − τ, 0), with τ such that the weights sum to 1."""
        return entmax_weights(scores, torch.ones(()))


class Entmax(Distribution):
    """max((α − 1) s − τ, 0)^(1 / (α − 1)), summing to 1 (Peters et al., 2019, sec. 3): softer than sparsemax.

    α = 2 is sparsemax, α towards 1 softmax. α is fixed, or learned for each head: `Entmax.learned(heads)`.
    """

    raw: nn.Parameter | None  # (H, 1, 1), with α = 1 + sigmoid(raw); None: α is fixed

    def __init__(self, alpha: float = 1.5) -> None:
        super().__init__()
        if not 1.0 < alpha <= 2.0:
            raise InputError(
                "Entmax: alpha must be over 1 and at most 2.",
                found=f"alpha={alpha}",
                fix="give e.g. 1.5; for alpha=1 take Softmax()",
            )
        self.fixed, self.heads = alpha, 1
        self.register_parameter("raw", None)

    @classmethod
    def learned(cls, heads: int = 1, *, start: float = 1.5) -> "Entmax":
        """α of its own for each head, from `start` on (Correia et al., 2019, sec. 3.2)."""
        require_positive("Entmax.learned", heads=heads)
        if not 1.0 < start < 2.0:
            raise InputError(
                "Entmax.learned: alpha starts between 1 and 2.", found=f"start={start}", fix="give e.g. 1.5"
            )
        made = cls(start)
        made.heads, made.raw = heads, nn.Parameter(torch.full((heads, 1, 1), math.log((start - 1) / (2 - start))))
        return made

    def alpha(self) -> Tensor:
        """One number, or (H, 1, 1)."""
        return 1 + self.order()

    def order(self) -> Tensor:
        """α − 1."""
        if self.raw is None:
            return torch.tensor(self.fixed - 1.0, dtype=torch.float64)
        return self.raw.sigmoid().clamp(min=SOFTEST)

    def normalise(self, scores: Tensor, visible: Tensor) -> Tensor:
        """Exact zeros below the threshold."""
        require_heads("Entmax", scores, self.heads)
        return entmax_weights(scores, self.order())

    def extra_repr(self) -> str:
        """α, or how many are learned."""
        return f"{self.fixed:g}" if self.raw is None else f"learned for {self.heads} heads"


class DeAttention(Distribution):
    """Compositional de-attention: tanh(E) ⊙ sigmoid(N) (Tay et al., 2019, sec. 2), E a similarity, N minus a distance.

    Weights lie in [−1, 1]: a key is added, left out, or subtracted. As N ≤ 0, sigmoid(N) ≤ ½: it is doubled, or N is
    centred on its mean over the visible keys. Scores are (2, ..., Q, K), made by `Opposed`.
    """

    takes = "opposed"
    sums_to_one = False
    non_negative = False

    def __init__(self, rescale: Literal["double", "centre"] = "double") -> None:
        super().__init__()
        if rescale not in ("double", "centre"):
            raise unknown_name("rescale", rescale, ("double", "centre"), where="DeAttention")
        self.rescale = rescale

    def normalise(self, scores: Tensor, visible: Tensor) -> Tensor:
        """(2, ..., Q, K) -> (..., Q, K)."""
        similar, near = scores
        if self.rescale == "double":
            return similar.tanh() * (2 * near.sigmoid())
        count = visible.expand_as(near).sum(dim=-1, keepdim=True).clamp(min=1)
        centre = near.masked_fill(~visible, 0.0).sum(dim=-1, keepdim=True) / count
        return similar.tanh() * (near - centre).sigmoid()

    def extra_repr(self) -> str:
        """How sigmoid(N) is rescaled."""
        return self.rescale
