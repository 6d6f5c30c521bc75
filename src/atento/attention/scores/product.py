"""Alignment scores: the base class, and the scores that are one matrix product.

A score has two parts: what depends on the key alone (`prepare`, computed once for a whole decoded sequence) and the
comparison with a query (`compare`)."""

import math
from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.activations import ActivationFn, expansion
from atento.layers.masking import checked_linear, require_width
from atento.layers.products import Linear

# Axes: B batch (any number of leading axes), Q queries, K keys. The last axis is always features.

Kind = Literal["scores", "kernel", "opposed"]  # any numbers; numbers ≥ 0 to be divided by their sum; two matrices


class Score(nn.Module, ABC):
    """An alignment score: query (B, Q, query_size), key (B, K, key_size) -> scores (B, Q, K)."""

    gives: ClassVar[Kind] = "scores"
    by_position: bool = False  # whether it depends on the position of a key instead of its content

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """The scores of every query with every key."""
        return self.compare(query, self.prepare(key))

    def prepare(self, key: Tensor) -> Tensor:
        """The part of the formula that does not depend on the query, (B, K, *)."""
        return key

    @abstractmethod
    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """The scores (B, Q, K) of queries and prepared keys."""


class Dot(Score):
    """Dot product: q . k  (Luong et al., 2015, eq. 8)."""

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """q . k."""
        require_same_width(query, key)
        return query @ key.mT


class ScaledDot(Score):
    """Scaled dot product: q . k / √d  (Vaswani et al., 2017, eq. 1)."""

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """(q / √d) . k: the query is divided, as it is smaller than the scores."""
        require_same_width(query, key)
        return query / math.sqrt(query.size(-1)) @ key.mT


class General(Score):
    """General: q W k  (Luong et al., 2015, eq. 8)."""

    def __init__(self, query_size: int, key_size: int) -> None:
        super().__init__()
        self.weight = Linear(key_size, query_size, bias=False)

    def prepare(self, key: Tensor) -> Tensor:
        """W k."""
        return checked_linear(self.weight, type(self).__name__, "key", key)

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """q . (W k)."""
        require_width("General", "query", query, key.size(-1))
        return query @ key.mT


class BiasedGeneral(Score):
    """Biased general: k (W q + b)  (Sordoni et al., 2016, sec. 3.2)."""

    def __init__(self, query_size: int, key_size: int) -> None:
        super().__init__()
        self.map_query = Linear(query_size, key_size)

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """(W q + b) . k."""
        mapped = checked_linear(self.map_query, "BiasedGeneral", "query", query)
        require_width("BiasedGeneral", "key", key, mapped.size(-1))
        return mapped @ key.mT


class ActivatedGeneral(Score):
    """Activated general: act(q W k + b)  (Ma et al., 2017, sec. 2.2); b is one number."""

    def __init__(self, query_size: int, key_size: int, *, activation: ActivationFn = torch.tanh) -> None:
        super().__init__()
        require_elementwise("ActivatedGeneral", activation)
        self.weight = Linear(key_size, query_size, bias=False)
        self.bias = nn.Parameter(torch.zeros(()))
        self.activation = activation

    def prepare(self, key: Tensor) -> Tensor:
        """W k."""
        return checked_linear(self.weight, type(self).__name__, "key", key)

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """act(q . (W k) + b)."""
        require_width("ActivatedGeneral", "query", query, key.size(-1))
        return self.activation(query @ key.mT + self.bias)


def require_same_width(query: Tensor, key: Tensor) -> None:
    """A dot product needs queries and keys of the same width."""
    if query.size(-1) != key.size(-1):
        raise InputError(
            "query and key must have the same width for a dot product.",
            found=f"query {query.size(-1)}, key {key.size(-1)}",
            fix="use General(query_size, key_size), which learns a linear map between them",
        )


def require_elementwise(name: str, activation: ActivationFn) -> None:
    """An activation of the score itself must be elementwise."""
    if expansion(activation) != 1:
        raise InputError(
            f"{name}: the activation is applied to each score, and must be elementwise.",
            found=f"an activation of {expansion(activation)} inputs per unit",
            fix="give an elementwise one, e.g. torch.tanh",
        )
