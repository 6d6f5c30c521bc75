"""Position biases: scores tilted by how far a key is, one slope or table a head."""

import torch
from torch import Tensor, nn

from atento.attention.extents import Extent, View
from atento.attention.requirements import require_heads, require_positive

# Axes: H heads, Q queries, K keys. Biases are (..., H, Q, K).


class Alibi(Extent):
    """Scores less m_h |key_at − query_at|, slopes m_h = 2^(−8h/H) (Press et al., 2022, sec. 3).

    Where H is no power of two, the slopes between those of the next lower power fill up, as the authors' code does.
    """

    between = False
    biased = True
    by_place = True

    def __init__(self, heads: int) -> None:
        super().__init__()
        require_positive("Alibi", heads=heads)
        self.heads = heads
        lower = 1 << (heads.bit_length() - 1)  # the largest power of two not above
        slopes = [2 ** (-8 * (head + 1) / lower) for head in range(lower)]
        slopes += [2 ** (-4 * (2 * extra + 1) / lower) for extra in range(heads - lower)]
        self.slopes = nn.Buffer(torch.tensor(slopes).view(-1, 1, 1), persistent=False)

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """−m_h |key_at − query_at|."""
        require_heads(type(self).__name__, query, self.heads)
        offset = key_at.unsqueeze(-2) - query_at.unsqueeze(-1)
        return View(torch.ones_like(offset, dtype=torch.bool), bias=-self.slopes * offset.abs())

    def extra_repr(self) -> str:
        """The one number."""
        return str(self.heads)


class RelativeBias(Extent):
    """Scores plus a learned number for each head and offset, offsets clipped at ±`reach`.

    Clipping as in Shaw et al. (2018, sec. 3.2), a number a head as in Raffel et al. (2020, sec. 2.1).
    """

    between = False
    biased = True
    by_place = True

    def __init__(self, heads: int, reach: int) -> None:
        super().__init__()
        require_positive("RelativeBias", heads=heads, reach=reach)
        self.heads, self.reach = heads, reach
        self.table = nn.Parameter(torch.zeros(2 * reach + 1, heads))

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """table[clip(key_at − query_at)]."""
        require_heads(type(self).__name__, query, self.heads)
        offset = key_at.unsqueeze(-2) - query_at.unsqueeze(-1)
        place = offset.clamp(-self.reach, self.reach) + self.reach
        bias = nn.functional.embedding(place if place.dim() == 2 else place.squeeze(-3), self.table).movedim(-1, -3)
        return View(torch.ones_like(offset, dtype=torch.bool), bias=bias)

    def extra_repr(self) -> str:
        """Heads, and the offset from which all are alike."""
        return f"{self.heads}, reach={self.reach}"
