"""Area attention: whole areas of neighbouring items are attended, not single items only."""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.extents.extents import Everything, Extent, View
from atento.attention.requirements import require_positive
from atento.errors import InputError
from atento.layers.masking import clean, require_items, require_pairs

# Axes: B batch (any number of leading axes), Q queries, K items, A areas, D size, l length of an area.
# Areas stand in the order of their length, then of their start: the first K of them are the items themselves.

AreaFeatures = Callable[[Tensor, int], Tensor]  # items (B, K, D), largest -> (B, A, any)


def over_areas(items: Tensor, largest: int, reduce: Callable[[Tensor], Tensor], *, axis: int = -2) -> Tensor:
    """Every area of up to `largest` items as one entry: K along the axis become A. reduce: (..., l) -> (...)."""
    longest = min(largest, items.size(axis))
    return torch.cat([reduce(items.unfold(axis, length, 1)) for length in range(1, longest + 1)], dim=axis)


def means(items: Tensor, largest: int) -> Tensor:
    """The mean of each area (Li et al., 2019, sec. 3)."""
    return over_areas(items, largest, lambda area: area.mean(dim=-1))


def sums(items: Tensor, largest: int) -> Tensor:
    """The sum of each area (Li et al., 2019, sec. 3)."""
    return over_areas(items, largest, lambda area: area.sum(dim=-1))


def spreads(items: Tensor, largest: int) -> Tensor:
    """The standard deviation within each area, feature by feature (Li et al., 2019, sec. 3)."""
    return over_areas(items, largest, spread)


def spread(area: Tensor) -> Tensor:
    """√(Σ (x − mean)² / l), with a gradient of 0 where all items are equal."""
    centred = area - area.mean(dim=-1, keepdim=True)
    return torch.linalg.vector_norm(centred, dim=-1) / math.sqrt(area.size(-1))


def means_and_spreads(items: Tensor, largest: int) -> Tensor:
    """[mean; spread] of each area, for a feature-based score, which takes them apart again."""
    return torch.cat([means(items, largest), spreads(items, largest)], dim=-1)


def mean_of(key: Tensor) -> Tensor:
    """φ₁: the mean within [mean; spread]."""
    return key.chunk(2, dim=-1)[0]


def spread_of(key: Tensor) -> Tensor:
    """φ₂: the spread within [mean; spread]."""
    return key.chunk(2, dim=-1)[1]


class AreaWeights(NamedTuple):
    """How much of each area, and where it is."""

    weights: Tensor  # (B, Q, A)
    start: Tensor  # (A,)
    length: Tensor  # (A,)

    def on_items(self) -> Tensor:
        """How much of each item (B, Q, K), all areas that hold it together."""
        at = torch.arange(int(self.start.max()) + 1, device=self.start.device)
        inside = (self.start.unsqueeze(-1) <= at) & (at < (self.start + self.length).unsqueeze(-1))
        return self.weights @ inside.to(self.weights.dtype)


class AreaAttention(nn.Module):
    """Attention over all areas of up to `largest` neighbouring items (Li et al., 2019): the key of an area is made of
    its items' keys by `features`, its value is the sum of theirs. An area that touches padding, or an item that the
    attention's extent hides, is hidden.

    query (B, Q, *), key (B, K, *), value (B, K, D) -> (B, Q, D)
    """

    def __init__(self, attention: Attention, *, largest: int, features: AreaFeatures = means) -> None:
        super().__init__()
        require_positive("AreaAttention", largest=largest)
        if attention.score.by_position:
            raise InputError(
                "AreaAttention: this score asks where a key stands, and an area stands in many places.",
                found=f"score {type(attention.score).__name__}",
                fix="give a score of the keys themselves, e.g. ScaledDot()",
            )
        self.attention, self.largest, self.features = attention, largest, features

    def forward(self, query: Tensor, key: Tensor, value: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """The context of each query; valid (B, K)."""
        require_items("value", value, valid)
        require_pairs(key, value)
        value = sums(clean(value, valid), self.largest)
        context: Tensor = self.over_areas_of(key, valid)(query, self.keys(key, valid), value, valid=self.whole(valid))
        return context

    def weights(
        self, query: Tensor, key: Tensor, *, valid: Tensor | None = None, rows: slice = slice(None)
    ) -> AreaWeights:
        """The weights of the asked rows, with each area's place."""
        attention, keys = self.over_areas_of(key, valid), self.keys(key, valid)
        weights = attention.weights(query, keys, valid=self.whole(valid), rows=rows)
        place = torch.arange(key.size(-2), device=key.device)
        start = over_areas(place, self.largest, lambda area: area[..., 0], axis=-1)
        length = over_areas(place, self.largest, lambda area: torch.full_like(area[..., 0], area.size(-1)), axis=-1)
        return AreaWeights(weights, start, length)

    def keys(self, key: Tensor, valid: Tensor | None) -> Tensor:
        """One key an area: (B, A, *)."""
        require_items("key", key, valid)
        return self.features(clean(key, valid), self.largest)

    def whole(self, valid: Tensor | None) -> Tensor | None:
        """Which areas hold real items only: (B, K) -> (B, A)."""
        return None if valid is None else over_areas(valid, self.largest, lambda area: area.all(dim=-1), axis=-1)

    def over_areas_of(self, key: Tensor, valid: Tensor | None) -> Attention:
        """The attention, with an extent that speaks of areas."""
        if type(self.attention.extent) is Everything:
            return self.attention
        return self.attention.through(OverAreas(self.attention.extent, key, valid, self.largest))


class OverAreas(Extent):
    """What another extent shows of the items, by area: all of it or nothing; of a bias or a factor the mean."""

    def __init__(self, extent: Extent, key: Tensor, valid: Tensor | None, largest: int) -> None:
        super().__init__()
        self.extent, self.key, self.valid, self.largest = extent, key, valid, largest
        self.between, self.within_past, self.biased = extent.between, extent.within_past, extent.biased

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """The view of the items (..., Q, K) as one of their areas (..., Q, A)."""
        at = torch.arange(self.key.size(-2), device=key.device)
        view: View = self.extent(query, self.key, query_at=query_at, key_at=at, valid=self.valid)
        return View(
            self.by_area(view.visible, lambda area: area.all(dim=-1)),
            None if view.bias is None else self.by_area(view.bias, lambda area: area.mean(dim=-1)),
            None if view.factor is None else self.by_area(view.factor, lambda area: area.mean(dim=-1)),
        )

    def by_area(self, part: Tensor, reduce: Callable[[Tensor], Tensor]) -> Tensor:
        """A part of a view, one column an area; a part that is the same for all keys is written out first."""
        return over_areas(part.expand(*part.shape[:-1], self.key.size(-2)), self.largest, reduce, axis=-1)
