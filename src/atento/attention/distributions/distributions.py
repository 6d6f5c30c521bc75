"""Distributions: functions that turn scores into attention weights."""

import math
from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from atento.attention.fast.entmax import entmax_weights
from atento.attention.requirements import require_heads, require_positive
from atento.attention.scores.product import Kind
from atento.errors import InputError, unknown_name

# Axes: Q queries, K keys, H heads.

SMALLEST_ORDER = 1e-4  # of α − 1: a softmax to four digits; below it the gradient of α is lost in rounding


class Distribution(nn.Module, ABC):
    """Scores (..., Q, K) -> weights (..., Q, K). A query without visible keys gets a row of zeros."""

    takes: ClassVar[Kind] = "scores"
    sums_to_one: ClassVar[bool] = True
    non_negative: ClassVar[bool] = True
    differentiable: ClassVar[bool] = True  # False: its gradient is an estimate

    def forward(self, scores: Tensor, visible: Tensor) -> Tensor:
        """The weights of the visible keys, zero elsewhere; `visible` broadcasts to the scores."""
        recorded = torch.compiler.is_compiling()  # no number can be looked at
        if not recorded and visible.numel() == 1 and visible.device.type == "cpu" and bool(visible):  # hides nothing
            return self.normalize(scores, visible)
        floor = torch.finfo(scores.dtype).min  # -inf would give NaN rows
        weights = self.normalize(scores.masked_fill(~visible, floor), visible)
        return weights.masked_fill(~visible, 0.0)

    @abstractmethod
    def normalize(self, scores: Tensor, visible: Tensor) -> Tensor:
        """The formula over the last axis; hidden keys have the lowest score there is."""


class Softmax(Distribution):
    """exp(s_i) / Σ exp(s_j)."""

    def normalize(self, scores: Tensor, visible: Tensor) -> Tensor:
        """Softmax over the last axis."""
        return scores.softmax(dim=-1)


class Sigmoid(Distribution):
    """1 / (1 + exp(−s_i)), independent of the other keys. A row need not sum to 1."""

    sums_to_one = False

    def normalize(self, scores: Tensor, visible: Tensor) -> Tensor:
        """Sigmoid of each score."""
        return scores.sigmoid()


class Proportional(Distribution):
    """s_i / Σ s_j of non-negative kernel scores φ(q) . φ(k) (Katharopoulos et al., 2020, eq. 4).

    If all scores are 0, so are the weights.
    """

    takes = "kernel"

    def normalize(self, scores: Tensor, visible: Tensor) -> Tensor:
        """Scores divided by their sum; hidden keys count as 0."""
        scores = scores.clamp(min=0.0)
        return divide_safely(scores, scores.sum(dim=-1, keepdim=True))


def divide_safely(parts: Tensor, total: Tensor) -> Tensor:
    """parts / total; zeros, without a gradient, where the total is 0 or too small to divide by."""
    limits = torch.finfo(total.dtype)
    small = total < limits.tiny / limits.eps
    return parts.masked_fill(small, 0.0) / total.masked_fill(small, 1.0)


class Sparsemax(Distribution):
    """Sparsemax: the point of the simplex nearest to the scores, with exact zeros (Martins & Astudillo, 2016)."""

    def normalize(self, scores: Tensor, visible: Tensor) -> Tensor:
        """max(s − τ, 0), with τ such that the weights sum to 1."""
        return entmax_weights(scores, 1.0)


class Entmax(Distribution):
    """α-entmax: max((α − 1) s − τ, 0)^(1 / (α − 1)), summing to 1 (Peters et al., 2019, sec. 3).

    α = 2 is sparsemax, α → 1 softmax. α is fixed, or learned for each head: `Entmax.learned(heads)`.
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
        """α-entmax with a learned α per head, at first `start` (Correia et al., 2019, sec. 3.2)."""
        require_positive("Entmax.learned", heads=heads)
        if not 1.0 < start < 2.0:
            raise InputError(
                "Entmax.learned: start must be between 1 and 2.", found=f"start={start}", fix="give e.g. 1.5"
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
        return self.raw.sigmoid().clamp(min=SMALLEST_ORDER)

    def normalize(self, scores: Tensor, visible: Tensor) -> Tensor:
        """Exact zeros below the threshold."""
        require_heads("Entmax", scores, self.heads)
        return entmax_weights(scores, self.fixed - 1.0 if self.raw is None else self.order())

    def extra_repr(self) -> str:
        """α, or the number of heads that learn it."""
        return f"{self.fixed:g}" if self.raw is None else f"learned for {self.heads} heads"


class DeAttention(Distribution):
    """Compositional de-attention: tanh(E) ⊙ sigmoid(N), E a similarity, N minus a distance (Tay et al., 2019, sec. 2).

    Weights lie in [−1, 1]: values may be subtracted. As N ≤ 0, sigmoid(N) ≤ ½: it is doubled, or N is centred on its
    mean over the visible keys. The scores are (2, ..., Q, K), as `Opposed` gives them.
    """

    takes = "opposed"
    sums_to_one = False
    non_negative = False

    def __init__(self, rescale: Literal["double", "centre"] = "double") -> None:
        super().__init__()
        if rescale not in ("double", "centre"):
            raise unknown_name("rescale", rescale, ("double", "centre"), where="DeAttention")
        self.rescale = rescale

    def normalize(self, scores: Tensor, visible: Tensor) -> Tensor:
        """(2, ..., Q, K) -> (..., Q, K)."""
        similar, near = scores
        if self.rescale == "double":
            return similar.tanh() * (2 * near.sigmoid())
        count = visible.expand_as(near).sum(dim=-1, keepdim=True).clamp(min=1)
        centre = near.masked_fill(~visible, 0.0).sum(dim=-1, keepdim=True) / count
        return similar.tanh() * (near - centre).sigmoid()

    def extra_repr(self) -> str:
        """The rescaling of sigmoid(N)."""
        return self.rescale
