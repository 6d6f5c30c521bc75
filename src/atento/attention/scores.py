"""Scores: how well a key answers a query.

A score splits into what depends on the key alone (`prepare`, done once for a whole decoded sentence)
and the comparison with a query (`compare`).
"""

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from atento.attention.kernels.additive import additive_scores
from atento.errors import InputError

# Axes: B batch (any number of leading axes), Q queries, K keys, H hidden. The last axis is always features.


class Score(nn.Module, ABC):
    """query (B, Q, query_size), key (B, K, key_size) -> scores (B, Q, K)."""

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """Compare every query with every key."""
        return self.compare(query, self.prepare(key))

    def prepare(self, key: Tensor) -> Tensor:
        """The part of the formula that no query changes."""
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
        """One product, divided."""
        require_same_width(query, key)
        return query @ key.mT / math.sqrt(query.size(-1))


class General(Score):
    """General: q W k  (Luong et al., 2015, eq. 8)."""

    def __init__(self, query_size: int, key_size: int) -> None:
        super().__init__()
        self.weight = nn.Linear(key_size, query_size, bias=False)

    def prepare(self, key: Tensor) -> Tensor:
        """W k."""
        prepared: Tensor = self.weight(key)
        return prepared

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """q . (W k)."""
        return query @ key.mT


class Additive(Score):
    """Additive alignment: v . tanh(W q + U k)  (Bahdanau et al., 2015, app. A.1.2)."""

    def __init__(self, query_size: int, key_size: int, *, hidden_size: int) -> None:
        super().__init__()
        self.project_query = nn.Linear(query_size, hidden_size, bias=False)
        self.project_key = nn.Linear(key_size, hidden_size, bias=False)
        self.collapse = nn.Linear(hidden_size, 1, bias=False)

    def prepare(self, key: Tensor) -> Tensor:
        """U k."""
        prepared: Tensor = self.project_key(key)
        return prepared

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """v . tanh(W q + U k)."""
        query = self.project_query(query)
        if query.device.type == "cpu":
            return additive_scores(query, key, self.collapse.weight.squeeze(0))
        query = query.unsqueeze(-2)  # (B, Q, 1, H)
        mixed = torch.tanh(query + key.unsqueeze(-3))  # (B, Q, K, H)
        return mixed @ self.collapse.weight.squeeze(0)


def require_same_width(query: Tensor, key: Tensor) -> None:
    """A plain product needs queries and keys of one width."""
    if query.size(-1) != key.size(-1):
        raise InputError(
            "query and key must have the same width for a dot product.",
            found=f"query {query.size(-1)}, key {key.size(-1)}",
            fix="use General(query_size, key_size), which learns a map between them",
        )
