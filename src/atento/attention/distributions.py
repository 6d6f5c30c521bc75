"""Distributions: how scores become weights."""

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import Tensor, nn


class Distribution(nn.Module, ABC):
    """Scores (..., Q, K) to weights. A query that sees nothing gives a row of zeros."""

    sums_to_one: ClassVar[bool] = True
    non_negative: ClassVar[bool] = True

    def forward(self, scores: Tensor, visible: Tensor) -> Tensor:
        """Share weight among the visible keys; `visible` broadcasts to the scores."""
        floor = torch.finfo(scores.dtype).min  # -inf would give NaN rows
        weights = self.normalise(scores.masked_fill(~visible, floor))
        return weights.masked_fill(~visible, 0.0)

    @abstractmethod
    def normalise(self, scores: Tensor) -> Tensor:
        """The formula, over the last axis."""


class Softmax(Distribution):
    """exp(s_i) / Σ exp(s_j)."""

    def normalise(self, scores: Tensor) -> Tensor:
        """Every visible key gets some weight."""
        return scores.softmax(dim=-1)


class Sparsemax(Distribution):
    """The point of the simplex nearest to the scores (Martins & Astudillo, 2016, eq. 1): exact zeros."""

    def normalise(self, scores: Tensor) -> Tensor:
        """max(s − τ, 0), with τ such that the weights sum to 1."""
        scores = scores - scores.amax(dim=-1, keepdim=True)
        support = self.support(scores.detach())
        kept = scores.masked_fill(~support, 0.0).sum(dim=-1, keepdim=True)
        threshold = (kept - 1) / support.sum(dim=-1, keepdim=True)  # τ, differentiable through `kept`
        return (scores - threshold).clamp(min=0.0)

    @staticmethod
    def support(scores: Tensor) -> Tensor:
        """Which keys get weight: the largest k for which 1 + k s_(k) > Σ_{j≤k} s_(j)."""
        ordered = scores.sort(dim=-1, descending=True).values
        rank = torch.arange(1, scores.size(-1) + 1, device=scores.device, dtype=scores.dtype)
        inside = 1 + rank * ordered > ordered.cumsum(dim=-1)
        count = inside.sum(dim=-1, keepdim=True).clamp(min=1)  # 0 only in a row with NaN, which stays NaN
        smallest = ordered.gather(-1, count - 1)
        return scores >= smallest
