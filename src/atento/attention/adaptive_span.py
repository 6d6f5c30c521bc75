"""Adaptive span: each head learns how far it looks (Sukhbaatar et al., 2019)."""

import math

import torch
from torch import Tensor, nn

from atento.attention.extents import Extent, Piece, View
from atento.attention.local import near
from atento.attention.requirements import require_heads, require_positive
from atento.errors import InputError

# Axes: H heads, Q queries, K keys.


class AdaptiveSpan(Extent):
    """A soft ramp m_z(x) = clip((R + z − x) / R, 0, 1) of the distance x multiplies exp(score) before the sharing out.

    That is a bias of log m_z (Sukhbaatar et al., 2019, eqs. 2 and 3). The span z = `longest` · σ(s) is learned, one a
    head, R = `ramp`; the longest span there is decides how much is computed. Begins with half of `longest`.
    """

    between = False
    biased = True
    by_place = True

    def __init__(self, heads: int, longest: int, ramp: int = 32, *, coefficient: float = 1e-3) -> None:
        super().__init__()
        require_positive("AdaptiveSpan", heads=heads, longest=longest, ramp=ramp)
        if not 0 <= coefficient < math.inf:
            raise InputError(
                "AdaptiveSpan: coefficient must not be negative.", found=f"{coefficient=}", fix="give 0 or more"
            )
        self.heads, self.longest, self.ramp, self.coefficient = heads, longest, ramp, coefficient
        self.logit = nn.Parameter(torch.zeros(heads, 1, 1))

    @property
    def span(self) -> Tensor:
        """z (H, 1, 1), in positions."""
        return self.longest * self.logit.sigmoid()

    def penalty(self) -> Tensor:
        """What the loss pays for long spans: coefficient / H Σ z_h (eq. 4)."""
        return self.coefficient * self.span.mean()

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """m_z > 0, and log m_z."""
        require_heads("AdaptiveSpan", query, self.heads)
        distance = (key_at.unsqueeze(-2) - query_at.unsqueeze(-1)).abs()
        ramp = ((self.ramp + self.span - distance) / self.ramp).clamp(max=1.0)
        visible = ramp > 0
        return View(visible, bias=ramp.masked_fill(~visible, 1.0).log())

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[Piece, ...]:
        """As far as the longest span reaches now."""
        reach = math.ceil(float(self.span.detach().max()) + self.ramp)
        return (near(self, reach, queries, causal=causal),)

    def extra_repr(self) -> str:
        """Its numbers."""
        return f"{self.heads}, longest={self.longest}, ramp={self.ramp}"
