"""Kernel scores φ(q) . φ(k) ≥ 0, which stand for exp(score) and are divided by their sum, without a softmax."""

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
    """A feature map φ: items (B, T, D) -> non-negative features (B, T, F)."""

    @abstractmethod
    def forward(self, items: Tensor) -> Tensor:
        """The features of each item."""

    def of_query(self, query: Tensor) -> Tensor:
        """φ(q) up to a positive factor per query, which cancels when weights are divided by their sum."""
        return self(query)


class EluPlusOne(FeatureMap):
    """elu(x) + 1  (Katharopoulos et al., 2020, eq. 7)."""

    def forward(self, items: Tensor) -> Tensor:
        """Positive everywhere, as wide as the items."""
        return functional.elu(items) + 1


class Rectified(FeatureMap):
    """max(x, 0), with exact zeros: the context of a query without any positive product is zero."""

    def forward(self, items: Tensor) -> Tensor:
        """As wide as the items."""
        return items.relu()


class Exponential(FeatureMap):
    """exp(x), elementwise."""

    def forward(self, items: Tensor) -> Tensor:
        """As wide as the items."""
        return items.exp()


class RandomFeatures(FeatureMap):
    """Positive orthogonal random features: φ(x) . φ(y) estimates exp(x . y / √d)  (Choromanski et al., 2021, lemma 1).

    φ(x)_i = exp(w_i . x − |x|² / 2) / √F of x d^−¼, with w_i normal, and orthogonal within each block of d (sec. 2.4).
    As w . x − |x|² / 2 ≤ |w|² / 2, near d / 2, features of heads up to 64 wide cannot overflow in float32. Nothing that
    depends on several keys is subtracted: padding, other rows and the future would leak in. Exponents are computed at
    least in float32, under autocast too, where three digits of an exponent would be none of a feature.
    """

    def __init__(self, size: int, *, count: int = 256, seed: int = 0) -> None:
        super().__init__()
        if size < 1 or count < 1:
            raise InputError(
                "RandomFeatures: size, the width of the items, and count, the number of features, must be positive.",
                found=f"size={size}, count={count}",
                fix="give 1 or more of each",
            )
        self.size, self.count = size, count
        self.directions = nn.Buffer(torch.empty(count, size))  # (F, D)
        self.redraw(seed)

    def redraw(self, seed: int) -> None:
        """Draw new directions from a seed."""
        generator = torch.Generator().manual_seed(seed)
        self.directions.copy_(orthogonal_directions(self.size, self.count, generator))

    def forward(self, items: Tensor) -> Tensor:
        """exp(w . x − |x|² / 2) / √F."""
        return as_wide_as(items, self.exponents(items).exp() / math.sqrt(self.count))

    def of_query(self, query: Tensor) -> Tensor:
        """φ(q) divided by its largest feature, so that a large query does not underflow."""
        exponents = self.exponents(query)
        return as_wide_as(query, (exponents - exponents.detach().amax(dim=-1, keepdim=True)).exp())

    def exponents(self, items: Tensor) -> Tensor:
        """w . x − |x|² / 2 of the items times d^−¼."""
        if items.size(-1) != self.size:
            raise InputError(
                "RandomFeatures: the items are of another width than it was made for.",
                found=f"width {items.size(-1)}, size={self.size}",
                fix=f"RandomFeatures({items.size(-1)})",
            )
        precise = torch.promote_types(items.dtype, torch.float32)
        with torch.autocast(items.device.type, enabled=False):
            items = items.to(precise) * self.size**-0.25
            return items @ self.directions.to(precise).mT - items.square().sum(dim=-1, keepdim=True) / 2

    def extra_repr(self) -> str:
        """Its arguments."""
        return f"{self.size}, count={self.count}"


def as_wide_as(items: Tensor, features: Tensor) -> Tensor:
    """Features in the dtype of the items; in bfloat16 for float16, which holds no large exponential."""
    return features.to(torch.bfloat16 if items.dtype == torch.float16 else items.dtype)


class Kernel(Score):
    """Generalized kernel: φ(q) . φ(k)  (Tsai et al., 2019, eq. 2; Choromanski et al., 2021, sec. 2.2).

    It is used with `Proportional`: the weights are φ(q) . φ(k_i) / Σ φ(q) . φ(k_j).
    """

    gives: ClassVar[Kind] = "kernel"

    def __init__(self, features: FeatureMap) -> None:
        super().__init__()
        self.features = features

    def prepare(self, key: Tensor) -> Tensor:
        """φ(k)."""
        return self.features(key)

    def query_features(self, query: Tensor) -> Tensor:
        """φ(q), up to a positive factor per query."""
        return self.features.of_query(query)

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """φ(q) . φ(k), up to a positive factor per query."""
        features = self.query_features(query)
        require_same_width(features, key)
        return features @ key.mT


def orthogonal_directions(size: int, count: int, generator: torch.Generator) -> Tensor:
    """Random directions (count, size) in float64: each row is normal, rows within a block of `size` are orthogonal."""
    shape = (math.ceil(count / size), size, size)
    drawn, lengths = (torch.randn(shape, generator=generator, dtype=torch.float64) for _ in range(2))
    turned, triangle = torch.linalg.qr(drawn)
    signs = triangle.diagonal(dim1=-2, dim2=-1).sign()  # without them the directions would be biased
    directions = (turned * signs.unsqueeze(-2)).mT * lengths.norm(dim=-1, keepdim=True)
    return directions.flatten(0, 1)[:count]
