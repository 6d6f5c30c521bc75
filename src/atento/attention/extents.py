"""Extents: who may look at whom. They combine: `Causal() & Window(128)`."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.errors import InputError

# Axes: Q queries, K keys. Positions are absolute, so a cached step sees what the whole pass sees.


class View(NamedTuple):
    """What an extent lets through. Each part has two axes or more, and broadcasts to (..., Q, K)."""

    visible: Tensor  # True: this query may look at this key
    bias: Tensor | None = None  # added to scores
    factor: Tensor | None = None  # multiplies weights

    def tilt(self, scores: Tensor) -> Tensor:
        """Scores with the bias, where there is one."""
        return scores if self.bias is None else scores + self.bias

    def shade(self, weights: Tensor) -> Tensor:
        """Weights with the factor, where there is one."""
        return weights if self.factor is None else weights * self.factor


class Extent(nn.Module, ABC):
    """query (..., Q, D), key (..., K, D) at positions (Q,), (K,) -> View."""

    @abstractmethod
    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor) -> View:
        """Say what each query may see."""

    def __and__(self, other: "Extent") -> "Extent":
        return Both(self, other)

    def __or__(self, other: "Extent") -> "Extent":
        return Either(self, other)


class Everything(Extent):
    """Every query sees every key."""

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor) -> View:
        """No limit."""
        return View(torch.ones((1, 1), dtype=torch.bool, device=query.device))


class Causal(Extent):
    """A query sees keys at its own position and before."""

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor) -> View:
        """key_at ≤ query_at."""
        return View(key_at.unsqueeze(-2) <= query_at.unsqueeze(-1))


class Window(Extent):
    """A query sees keys at most `reach` positions away, on either side (Luong et al., 2015, sec. 3.2, local-m)."""

    def __init__(self, reach: int) -> None:
        super().__init__()
        if reach < 0:
            raise InputError("Window: reach must not be negative.", found=f"reach={reach}", fix="give 0 or more")
        self.reach = reach

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor) -> View:
        """|key_at − query_at| ≤ reach."""
        return View((key_at.unsqueeze(-2) - query_at.unsqueeze(-1)).abs() <= self.reach)

    def extra_repr(self) -> str:
        """The one number."""
        return str(self.reach)


class Joined(Extent):
    """Two extents seen as one; leaves say how their views are joined."""

    def __init__(self, left: Extent, right: Extent) -> None:
        super().__init__()
        self.left, self.right = left, right

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor) -> View:
        """Look through both, then join."""
        left = self.left(query, key, query_at=query_at, key_at=key_at)
        right = self.right(query, key, query_at=query_at, key_at=key_at)
        return self.join(left, right)

    @abstractmethod
    def join(self, left: View, right: View) -> View:
        """One view of two."""


class Both(Joined):
    """Seen only through both: a & b. Biases add, factors multiply."""

    def join(self, left: View, right: View) -> View:
        """Intersection."""
        bias = right.bias if left.bias is None else right.tilt(left.bias)
        factor = right.factor if left.factor is None else right.shade(left.factor)
        return View(left.visible & right.visible, bias, factor)


class Either(Joined):
    """Seen through at least one: a | b. Only plain extents can be joined so."""

    def join(self, left: View, right: View) -> View:
        """Union."""
        if any(part is not None for part in (*left[1:], *right[1:])):
            raise InputError(
                "`|` joins extents that only show or hide; one of these also adds a bias or a factor.",
                found=f"{self.left} | {self.right}",
                fix="join with `&`, where biases add and factors multiply",
            )
        return View(left.visible | right.visible)
