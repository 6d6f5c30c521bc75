"""Scores: how well a key answers a query. Here those that are one product.

A score splits into what depends on the key alone (`prepare`, done once for a whole decoded sentence)
and the comparison with a query (`compare`)."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.masking import mapped, require_width

# Axes: B batch (any number of leading axes), Q queries, K keys. The last axis is always features.

Kind = Literal["scores", "kernel", "opposed"]  # any numbers; numbers ≥ 0 to be divided by their sum; two matrices
Bend = Callable[[Tensor], Tensor]  # an activation


class Score(nn.Module, ABC):
    """query (B, Q, query_size), key (B, K, key_size) -> scores (B, Q, K)."""

    gives: ClassVar[Kind] = "scores"
    by_position: bool = False  # whether it asks where a key stands instead of what it is

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """Compare every query with every key."""
        return self.compare(query, self.prepare(key))

    def prepare(self, key: Tensor) -> Tensor:
        """The part of the formula that no query changes, (B, K, *)."""
        return key

    @abstractmethod
    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """Scores of queries against prepared keys."""


class Dot(Score):
    """Dot product: q . k  (Luong et al., 2015, eq. 8)."""

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """One product."""
        require_same_width(query, key)
        return query @ key.mT


class ScaledDot(Score):
    """Scaled dot product: q . k / √d  (Vaswani et al., 2017, eq. 1)."""

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """One product; the query is divided, as it is smaller."""
        require_same_width(query, key)
        return query / math.sqrt(query.size(-1)) @ key.mT


class General(Score):
    """General: q W k  (Luong et al., 2015, eq. 8)."""

    def __init__(self, query_size: int, key_size: int) -> None:
        super().__init__()
        self.weight = nn.Linear(key_size, query_size, bias=False)

    def prepare(self, key: Tensor) -> Tensor:
        """W k."""
        return mapped(self.weight, type(self).__name__, "key", key)

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """q . (W k)."""
        require_width("General", "query", query, key.size(-1))
        return query @ key.mT


class BiasedGeneral(Score):
    """Biased general: k (W q + b)  (Sordoni et al., 2016, sec. 3.2)."""

    def __init__(self, query_size: int, key_size: int) -> None:
        super().__init__()
        self.map_query = nn.Linear(query_size, key_size)

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """The query as a key would be, then a product."""
        asked = mapped(self.map_query, "BiasedGeneral", "query", query)
        require_width("BiasedGeneral", "key", key, asked.size(-1))
        return asked @ key.mT


class ActivatedGeneral(Score):
    """Activated general: act(q W k + b)  (Ma et al., 2017, sec. 2.2); b is one number."""

    def __init__(self, query_size: int, key_size: int, *, activation: Bend = torch.tanh) -> None:
        super().__init__()
        require_narrow("ActivatedGeneral", activation)
        self.weight = nn.Linear(key_size, query_size, bias=False)
        self.bias = nn.Parameter(torch.zeros(()))
        self.activation = activation

    def prepare(self, key: Tensor) -> Tensor:
        """W k."""
        return mapped(self.weight, type(self).__name__, "key", key)

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """act(q . (W k) + b)."""
        require_width("ActivatedGeneral", "query", query, key.size(-1))
        return self.activation(query @ key.mT + self.bias)


def require_same_width(query: Tensor, key: Tensor) -> None:
    """A plain comparison needs queries and keys of one width."""
    if query.size(-1) != key.size(-1):
        raise InputError(
            "query and key must have the same width for a dot product.",
            found=f"query {query.size(-1)}, key {key.size(-1)}",
            fix="use General(query_size, key_size), which learns a map between them",
        )


def wider(activation: Bend) -> int:
    """How many times as wide as its units an activation's input is: 1, but for maxout."""
    return int(getattr(activation, "wider", 1))


def require_narrow(name: str, activation: Bend) -> None:
    """An activation of the score itself gives a number for a number."""
    if wider(activation) != 1:
        raise InputError(
            f"{name}: the activation bends each score by itself.",
            found=f"an activation that reads {wider(activation)} numbers a unit",
            fix="give one that reads one, e.g. torch.tanh",
        )
