"""Area attention (Li et al., 2019): queries attend to areas of neighbouring items, not to single items only.

The features of an area are made of its items' keys (`means`, or `means_and_stds` for a feature-based score), its value
is the sum of theirs.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.extents.extents import Everything, Extent, View
from atento.attention.requirements import require_positive
from atento.errors import InputError
from atento.layers.masking import clean, require_items, require_same_items

# Axes: B batch (any number of leading axes), Q queries, K items, A areas, D size, l length of an area.
# Areas stand in the order of their length, then of their start: the first K of them are the items themselves.

AreaFeatures = Callable[[Tensor, int], Tensor]  # items (B, K, D), largest -> (B, A, any)


def reduce_areas(items: Tensor, largest: int, reduce: Callable[[Tensor], Tensor], *, axis: int = -2) -> Tensor:
    """Reduce every area of up to `largest` items to one entry: K along the axis become A. reduce: (..., l) -> (...)."""
    longest = min(largest, items.size(axis))
    return torch.cat([reduce(items.unfold(axis, length, 1)) for length in range(1, longest + 1)], dim=axis)


def means(items: Tensor, largest: int) -> Tensor:
    """The mean of each area (Li et al., 2019, sec. 3)."""
    return reduce_areas(items, largest, lambda area: area.mean(dim=-1))


def sums(items: Tensor, largest: int) -> Tensor:
    """The sum of each area (Li et al., 2019, sec. 3)."""
    return reduce_areas(items, largest, lambda area: area.sum(dim=-1))


def std(area: Tensor) -> Tensor:
    """√(Σ (x − mean)² / l), with a gradient of 0 where all items are equal."""
    centred = area - area.mean(dim=-1, keepdim=True)
    return torch.linalg.vector_norm(centred, dim=-1) / math.sqrt(area.size(-1))


def means_and_stds(items: Tensor, largest: int) -> Tensor:
    """[mean; standard deviation] of each area, feature by feature, for a feature-based score, which splits them again
    (Li et al., 2019, sec. 3).
    """
    return torch.cat([means(items, largest), reduce_areas(items, largest, std)], dim=-1)


def mean_of(key: Tensor) -> Tensor:
    """φ₁: the mean within [mean; standard deviation]."""
    return key.chunk(2, dim=-1)[0]


def std_of(key: Tensor) -> Tensor:
    """φ₂: the standard deviation within [mean; standard deviation]."""
    return key.chunk(2, dim=-1)[1]


class AreaWeights(NamedTuple):
    """The attention weights of areas, and where each area is."""

    weights: Tensor  # (B, Q, A)
    start: Tensor  # (A,)
    length: Tensor  # (A,)

    def on_items(self) -> Tensor:
        """The weight of each item (B, Q, K), summed over all areas that hold it."""
        at = torch.arange(int(self.start.max()) + 1, device=self.start.device)
        inside = (self.start.unsqueeze(-1) <= at) & (at < (self.start + self.length).unsqueeze(-1))
        return self.weights @ inside.to(self.weights.dtype)


class AreaAttention(nn.Module):
    """Attention over all areas of up to `largest` neighbouring items (Li et al., 2019, sec. 3).

    The key of an area is made of its items' keys by `features`. An area that holds padding, or an item that the
    attention's extent hides, is hidden.

    query (B, Q, *), key (B, K, *), value (B, K, D) -> (B, Q, D)
    """

    def __init__(self, attention: Attention, *, largest: int, features: AreaFeatures = means) -> None:
        super().__init__()
        require_positive("AreaAttention", largest=largest)
        if attention.score.by_position:
            raise InputError(
                "AreaAttention: this score depends on the position of a key, and an area has several positions.",
                found=f"score {type(attention.score).__name__}",
                fix="give a score of the keys themselves, e.g. ScaledDot()",
            )
        self.attention, self.largest, self.features = attention, largest, features

    def forward(self, query: Tensor, key: Tensor, value: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """The context of each query; valid (B, K)."""
        require_items("value", value, valid)
        require_same_items(key, value)
        value = sums(clean(value, valid), self.largest)
        return self.area_attention(key, valid)(query, self.keys(key, valid), value, valid=self.valid_areas(valid))

    def weights(
        self, query: Tensor, key: Tensor, *, valid: Tensor | None = None, rows: slice = slice(None)
    ) -> AreaWeights:
        """The weights of some queries, with the place of each area."""
        attention, keys = self.area_attention(key, valid), self.keys(key, valid)
        weights = attention.weights(query, keys, valid=self.valid_areas(valid), rows=rows)
        place = torch.arange(key.size(-2), device=key.device)
        start = reduce_areas(place, self.largest, lambda area: area[..., 0], axis=-1)
        length = reduce_areas(place, self.largest, lambda area: torch.full_like(area[..., 0], area.size(-1)), axis=-1)
        return AreaWeights(weights, start, length)

    def keys(self, key: Tensor, valid: Tensor | None) -> Tensor:
        """The key of each area: (B, A, *)."""
        require_items("key", key, valid)
        return self.features(clean(key, valid), self.largest)

    def valid_areas(self, valid: Tensor | None) -> Tensor | None:
        """Which areas hold no padding: (B, K) -> (B, A)."""
        return None if valid is None else reduce_areas(valid, self.largest, lambda area: area.all(dim=-1), axis=-1)

    def area_attention(self, key: Tensor, valid: Tensor | None) -> Attention:
        """The attention, with its extent applied to areas."""
        if type(self.attention.extent) is Everything:
            return self.attention
        return self.attention.with_extent(AreaExtent(self.attention.extent, key, valid, self.largest))


class AreaExtent(Extent):
    """Another extent applied to areas: an area is visible if all its items are; biases and factors are averaged."""

    def __init__(self, extent: Extent, key: Tensor, valid: Tensor | None, largest: int) -> None:
        super().__init__()
        self.extent, self.key, self.valid, self.largest = extent, key, valid, largest
        self.crosses_sequences, self.causal_safe, self.biased = (
            extent.crosses_sequences,
            extent.causal_safe,
            extent.biased,
        )

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """The view of the areas (..., Q, A), from that of the items (..., Q, K)."""
        at = torch.arange(self.key.size(-2), device=key.device)
        view: View = self.extent(query, self.key, query_at=query_at, key_at=at, valid=self.valid)
        return View(
            self.by_area(view.visible, lambda area: area.all(dim=-1)),
            None if view.bias is None else self.by_area(view.bias, lambda area: area.mean(dim=-1)),
            None if view.factor is None else self.by_area(view.factor, lambda area: area.mean(dim=-1)),
        )

    def by_area(self, part: Tensor, reduce: Callable[[Tensor], Tensor]) -> Tensor:
        """A part of a view with a column for each area; a part that is the same for all keys is expanded first."""
        return reduce_areas(part.expand(*part.shape[:-1], self.key.size(-2)), self.largest, reduce, axis=-1)
