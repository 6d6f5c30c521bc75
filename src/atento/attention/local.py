"""Local extents: a window around the query's position, or around a place that the query predicts."""

import torch
from torch import Tensor, nn

from atento.attention.extents import Extent, Piece, View
from atento.attention.groups import Blocks, Neighbourhoods
from atento.attention.requirements import require_not_negative, require_positive

SMALLEST_BLOCK = 32  # queries in a group; fewer make products too thin to be fast


class Window(Extent):
    """A query sees keys at most `reach` positions away, on either side (Luong et al., 2015, sec. 3.2, local-m)."""

    by_place = True

    def __init__(self, reach: int) -> None:
        super().__init__()
        require_not_negative("Window", reach=reach)
        self.reach = reach

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """|key_at − query_at| ≤ reach."""
        return View((key_at.unsqueeze(-2) - query_at.unsqueeze(-1)).abs() <= self.reach)

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[Piece, ...]:
        """Blocks of queries, each with the neighbouring keys."""
        return (near(self, self.reach, queries, causal=causal),)

    def extra_repr(self) -> str:
        """The one number."""
        return str(self.reach)


def near(extent: Extent, reach: int, queries: int, *, causal: bool) -> Piece:
    """The piece that holds all keys at most `reach` away from a query."""
    blocks = Blocks.over(queries, max(reach, SMALLEST_BLOCK))
    before = -(-reach // blocks.size)
    keys = Neighbourhoods.around(blocks, before=before, after=0 if causal else before)
    return Piece(blocks, keys, extent)


class PredictiveLocal(Extent):
    """A query predicts where to look: p = n σ(v · tanh(W q)), and sees keys at most D = `reach` away from there.

    A Gaussian of deviation D/2 around p multiplies the weights, which are not shared out again
    (Luong et al., 2015, eqs. 9 and 10, local-p). n counts the real keys of a row, whose places are 0 ... n − 1.
    """

    within_past = False

    def __init__(self, query_size: int, hidden_size: int, reach: int) -> None:
        super().__init__()
        require_positive("PredictiveLocal", query_size=query_size, hidden_size=hidden_size, reach=reach)
        self.reach = reach
        self.project = nn.Linear(query_size, hidden_size, bias=False)
        self.collapse = nn.Linear(hidden_size, 1, bias=False)

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """|place − p| ≤ D, and exp(−(place − p)² / 2σ²)."""
        if valid is None:
            valid = torch.ones_like(key_at, dtype=torch.bool)
        distance = (valid.cumsum(dim=-1) - 1).unsqueeze(-2) - self.centre(query, valid).unsqueeze(-1)
        visible = (distance.abs() <= self.reach) & valid.unsqueeze(-2)
        return View(visible, factor=torch.exp(-2 * (distance / self.reach).square()))  # σ = D/2

    def centre(self, query: Tensor, valid: Tensor) -> Tensor:
        """p (..., Q)."""
        share = torch.sigmoid(self.collapse(torch.tanh(self.project(query)))).squeeze(-1)
        return valid.sum(dim=-1, keepdim=True) * share

    def extra_repr(self) -> str:
        """The one number."""
        return f"reach={self.reach}"
