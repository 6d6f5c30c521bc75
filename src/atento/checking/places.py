"""Where a part asks at which place a key stands: there the side of padding must matter, and the contract says so."""

from typing import Any

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.extents import Extent
from atento.attention.scores import Score
from atento.checking.finding import apart
from atento.checking.subject import TIME, chance, exact_copy, widths_that_fit

SHIFT = 3
BY_SCORE = "its score asks at which place a key stands: pad on the right"
BY_EXTENT = "its extent counts places from the left edge: pad on the right"


def why_sided(module: nn.Module, *, ahead: nn.Module | None = None) -> str:
    """Why the side of padding matters to a module; empty: it does not. `ahead`: a decoder that asks a padded source."""
    if any(getattr(part, "by_position", False) for part in module.modules() if isinstance(part, Score)):
        return BY_SCORE
    asked = [] if ahead is None else attentions_over_source(ahead)
    own = [part for part in module.modules() if isinstance(part, Attention) and part not in asked]
    moved = any(moves(one.extent, queries=SHIFT) for one in own) or any(moves(one.extent, queries=0) for one in asked)
    return BY_EXTENT if moved else ""


def attentions_over_source(decoder: nn.Module) -> list[Attention]:
    """Every attention of a decoder but those over what it has written itself."""
    return [
        part for name, part in decoder.named_modules() if isinstance(part, Attention) and "self_attention" not in name
    ]


def moves(extent: Extent, *, queries: int) -> bool:
    """Whether keys moved to the right, and queries by so much, are seen in another way."""
    extent = exact_copy(extent)
    query, key = some_items(extent)
    at = torch.arange(TIME)
    before, after = (
        view_at(extent, query, key, query_at=at + queries * moved, key_at=at + SHIFT * moved) for moved in (0, 1)
    )
    return any(
        apart(spread(one), spread(other)) > 0
        for one, other in zip(before, after, strict=True)
        if one is not None and other is not None
    )


def view_at(extent: Any, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor) -> Any:
    """What the extent shows, nothing being padded."""
    with torch.no_grad():
        return extent(query, key, query_at=query_at, key_at=key_at, valid=None)


def spread(part: Tensor) -> Tensor:
    """A part of a view over all queries and keys, as numbers."""
    return part.expand(*part.shape[:-2], TIME, TIME).double()


def some_items(extent: Any) -> tuple[Tensor, Tensor]:
    """Queries and keys (1, 1, T, D) of a width the extent can read."""

    def attempt(size: int) -> None:
        query = torch.zeros(1, 1, TIME, size, dtype=torch.float64)
        view_at(extent, query, query, query_at=torch.arange(TIME), key_at=torch.arange(TIME))

    (size,) = widths_that_fit(extent, attempt, sizes=1)
    with chance(3):
        return (
            torch.randn(1, 1, TIME, size, dtype=torch.float64),
            torch.randn(1, 1, TIME, size, dtype=torch.float64),
        )
