"""Generalised kernels: φ(q) . φ(k) ≥ 0 stands for exp(score) and is divided by its sum, with no softmax on top."""

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from atento.attention.scores.product import Kind, Score, require_same_width
from atento.errors import InputError

# Axes: B batch (any number of leading axes), Q queries, K keys, D size, F features.


class FeatureMap(nn.Module, ABC):
    """φ: items (B, T, D) -> features (B, T, F), none negative."""

    @abstractmethod
    def forward(self, items: Tensor) -> Tensor:
        """The features of each item by itself."""

    def of_query(self, query: Tensor) -> Tensor:
        """φ(q) times any positive number a query, which cancels when weights are shared in proportion."""
        features: Tensor = self(query)
        return features


class EluPlusOne(FeatureMap):
    """elu(x) + 1  (Katharopoulos et al., 2020, eq. 7)."""

    def forward(self, items: Tensor) -> Tensor:
        """Positive everywhere, as wide as the items."""
        return functional.elu(items) + 1


class Rectified(FeatureMap):
    """max(x, 0): exact zeros; a query may find that nothing suits it and read zeros."""

    def forward(self, items: Tensor) -> Tensor:
        """As wide as the items."""
        return items.relu()


class Exponential(FeatureMap):
    """exp(x), at each number by itself."""

    def forward(self, items: Tensor) -> Tensor:
        """As wide as the items."""
        return items.exp()


class RandomFeatures(FeatureMap):
    """Positive orthogonal random features: φ(x) . φ(y) estimates exp(x . y / √d)  (Choromanski et al., 2021, lemma 1).

    φ(x)_i = exp(w_i . x − |x|² / 2) / √F on x d^−¼, with w_i normal, and orthogonal within each block of d (sec. 2.4).
    w . x − |x|² / 2 ≤ |w|² / 2, near d / 2: in float32 features of heads up to 64 wide can never overflow.
    Nothing is subtracted that depends on several keys: it would let padding, neighbours and the future in.
    """

    directions: Tensor  # (F, D)

    def __init__(self, size: int, *, count: int = 256, seed: int = 0) -> None:
        super().__init__()
        if size < 1 or count < 1:
            raise InputError(
                "RandomFeatures: size is the width of the items, count how many features they get.",
                found=f"size={size}, count={count}",
                fix="give 1 or more of each",
            )
        self.size, self.count = size, count
        self.register_buffer("directions", torch.empty(count, size))
        self.redraw(seed)

    def redraw(self, seed: int) -> None:
        """Other directions; the same for the same seed."""
        chance = torch.Generator().manual_seed(seed)
        drawn = orthogonal_directions(self.size, self.count, chance)
        self.directions.copy_(drawn)

    def forward(self, items: Tensor) -> Tensor:
        """exp(w . x − |x|² / 2) / √F."""
        return self.exponents(items).exp() / math.sqrt(self.count)

    def of_query(self, query: Tensor) -> Tensor:
        """Divided by the query's largest feature, so that a large query does not vanish."""
        exponents = self.exponents(query)
        return (exponents - exponents.detach().amax(dim=-1, keepdim=True)).exp()

    def exponents(self, items: Tensor) -> Tensor:
        """w . x − |x|² / 2 of the items made smaller by d^−¼."""
        if items.size(-1) != self.size:
            raise InputError(
                "RandomFeatures: the items are of another width.",
                found=f"width {items.size(-1)}, size={self.size}",
                fix=f"RandomFeatures({items.size(-1)})",
            )
        items = items * self.size**-0.25
        return items @ self.directions.mT - items.square().sum(dim=-1, keepdim=True) / 2

    def extra_repr(self) -> str:
        """Its numbers."""
        return f"{self.size}, count={self.count}"


class Kernel(Score):
    """Generalised kernel: φ(q) . φ(k)  (Tsai et al., 2019, eq. 2; Choromanski et al., 2021, sec. 2.2).

    It goes with `Proportional`: the weights are φ(q) . φ(k_i) / Σ φ(q) . φ(k_j).
    """

    gives: ClassVar[Kind] = "kernel"

    def __init__(self, features: FeatureMap) -> None:
        super().__init__()
        self.features = features

    def prepare(self, key: Tensor) -> Tensor:
        """φ(k)."""
        features: Tensor = self.features(key)
        return features

    def ask(self, query: Tensor) -> Tensor:
        """φ(q), up to a positive number a query."""
        return self.features.of_query(query)

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """φ(q) . φ(k), up to a positive number a query."""
        asked = self.ask(query)
        require_same_width(asked, key)
        return asked @ key.mT


def orthogonal_directions(size: int, count: int, chance: torch.Generator) -> Tensor:
    """(count, size) in float64: each row normal by itself, rows of a block of `size` orthogonal."""
    shape = (math.ceil(count / size), size, size)
    drawn, lengths = (torch.randn(shape, generator=chance, dtype=torch.float64) for _ in range(2))
    turned, triangle = torch.linalg.qr(drawn)
    signs = triangle.diagonal(dim1=-2, dim2=-1).sign()  # without them a direction's numbers would lean to one side
    directions = (turned * signs.unsqueeze(-2)).mT * lengths.norm(dim=-1, keepdim=True)
    return directions.flatten(0, 1)[:count]
