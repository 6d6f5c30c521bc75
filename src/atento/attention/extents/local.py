"""Local extents: a window around the query's position, fixed, predicted or learned; and biases by distance."""

import math

import torch
from torch import Tensor, nn

from atento.attention.extents.extents import Extent, GroupPair, View
from atento.attention.extents.groups import Blocks, Neighbourhoods
from atento.attention.requirements import require_heads, require_not_negative, require_positive
from atento.errors import InputError
from atento.layers.products import Linear

# Axes: H heads, Q queries, K keys. Biases are (..., H, Q, K).

SMALLEST_BLOCK = 32  # queries in a group; with fewer, matrix products are too thin to be fast


def offsets(query_at: Tensor, key_at: Tensor) -> Tensor:
    """key_at − query_at: (..., Q), (..., K) -> (..., Q, K)."""
    return key_at.unsqueeze(-2) - query_at.unsqueeze(-1)


class Window(Extent):
    """Keys at most `reach` positions away are visible, on either side (Luong et al., 2015, sec. 3.2, local-m)."""

    position_only = True

    def __init__(self, reach: int) -> None:
        super().__init__()
        require_not_negative("Window", reach=reach)
        self.reach = reach

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """|key_at − query_at| ≤ reach."""
        return View(offsets(query_at, key_at).abs() <= self.reach)

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[GroupPair, ...]:
        """Blocks of queries, each with its neighbouring keys."""
        return (nearby(self, self.reach, queries, causal=causal),)

    def extra_repr(self) -> str:
        """The reach."""
        return str(self.reach)


def nearby(extent: Extent, reach: int, queries: int, *, causal: bool) -> GroupPair:
    """Blocks of queries, each with all keys at most `reach` away."""
    blocks = Blocks.over(queries, max(reach, SMALLEST_BLOCK))
    before = -(-reach // blocks.size)
    keys = Neighbourhoods.around(blocks, before=before, after=0 if causal else before)
    return GroupPair(blocks, keys, extent)


class PredictiveLocal(Extent):
    """A window around a predicted position p = n σ(v · tanh(W q)): keys at most D = `reach` away are visible.

    A Gaussian of standard deviation D/2 around p multiplies the weights, which are not renormalized
    (Luong et al., 2015, eqs. 9 and 10, local-p). n is the number of real keys of a row, at positions 0 ... n − 1.
    """

    causal_safe = False

    def __init__(self, query_size: int, hidden_size: int, reach: int) -> None:
        super().__init__()
        require_positive("PredictiveLocal", query_size=query_size, hidden_size=hidden_size, reach=reach)
        self.reach = reach
        self.project = Linear(query_size, hidden_size, bias=False)
        self.collapse = Linear(hidden_size, 1, bias=False)

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """|position − p| ≤ D, and exp(−(position − p)² / 2σ²)."""
        if valid is None:
            valid = torch.ones_like(key_at, dtype=torch.bool)
        distance = (valid.cumsum(dim=-1) - 1).unsqueeze(-2) - self.centre(query, valid).unsqueeze(-1)
        visible = (distance.abs() <= self.reach) & valid.unsqueeze(-2)
        factor = torch.exp(-2 * (distance / self.reach).square())  # σ = D/2
        return View(visible, factor=factor.to(query.dtype))

    def centre(self, query: Tensor, valid: Tensor) -> Tensor:
        """p (..., Q), at least in float32: bfloat16 knows every 64th of 16,384 positions."""
        logits = self.collapse(torch.tanh(self.project(query))).squeeze(-1)
        relative = torch.sigmoid(logits.to(torch.promote_types(logits.dtype, torch.float32)))
        return valid.sum(dim=-1, keepdim=True) * relative

    def extra_repr(self) -> str:
        """The reach."""
        return f"reach={self.reach}"


class AdaptiveSpan(Extent):
    """Adaptive span: a window whose size each head learns (Sukhbaatar et al., 2019).

    A soft ramp m_z(x) = clip((R + z − x) / R, 0, 1) of the distance x multiplies exp(score): a bias of log m_z (eqs. 2
    and 3). The span of a head is z = `max_span` · σ(s), at first half of `max_span`, and R = `ramp`. The largest span
    of all heads decides how much is computed.
    """

    crosses_sequences = False
    biased = True
    position_only = True

    def __init__(self, heads: int, max_span: int, ramp: int = 32, *, coefficient: float = 1e-3) -> None:
        super().__init__()
        require_positive("AdaptiveSpan", heads=heads, max_span=max_span, ramp=ramp)
        if not 0 <= coefficient < math.inf:
            raise InputError(
                "AdaptiveSpan: coefficient must not be negative.", found=f"{coefficient=}", fix="give 0 or more"
            )
        self.heads, self.max_span, self.ramp, self.coefficient = heads, max_span, ramp, coefficient
        self.logit = nn.Parameter(torch.zeros(heads, 1, 1))

    @property
    def span(self) -> Tensor:
        """z (H, 1, 1), in positions."""
        return self.max_span * self.logit.sigmoid()

    def penalty(self) -> Tensor:
        """The penalty of long spans in the loss: coefficient / H Σ z_h (eq. 4)."""
        return self.coefficient * self.span.mean()

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """m_z > 0, and log m_z."""
        require_heads("AdaptiveSpan", query, self.heads)
        distance = offsets(query_at, key_at).abs()
        ramp = ((self.ramp + self.span - distance) / self.ramp).clamp(max=1.0)
        visible = ramp > 0
        return View(visible, bias=ramp.masked_fill(~visible, 1.0).log())

    def cover(self, queries: int, keys: int, *, causal: bool) -> tuple[GroupPair, ...]:
        """Blocks of queries, with keys as far as the largest current span reaches, or any span while it is recorded."""
        recorded = torch.compiler.is_compiling()
        reach = math.ceil((self.max_span if recorded else float(self.span.detach().max())) + self.ramp)
        return (nearby(self, reach, queries, causal=causal),)

    def extra_repr(self) -> str:
        """Its arguments."""
        return f"{self.heads}, max_span={self.max_span}, ramp={self.ramp}"


class Alibi(Extent):
    """ALiBi: a bias −m_h |key_at − query_at| with slopes m_h = 2^(−8h/H) (Press et al., 2022, sec. 3).

    If H is not a power of two, slopes between those of the next lower power are added, as in the authors' code.
    """

    crosses_sequences = False
    biased = True
    position_only = True

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
        offset = offsets(query_at, key_at)
        return View(torch.ones_like(offset, dtype=torch.bool), bias=-self.slopes * offset.abs())

    def extra_repr(self) -> str:
        """The number of heads."""
        return str(self.heads)


class RelativeBias(Extent):
    """Relative position bias: a learned number for each head and offset, offsets clipped at ±`reach`.

    Clipping as in Shaw et al. (2018, sec. 3.2), one number per head as in Raffel et al. (2020, sec. 2.1).
    """

    crosses_sequences = False
    biased = True
    position_only = True

    def __init__(self, heads: int, reach: int) -> None:
        super().__init__()
        require_positive("RelativeBias", heads=heads, reach=reach)
        self.heads, self.reach = heads, reach
        self.table = nn.Parameter(torch.zeros(2 * reach + 1, heads))

    def forward(self, query: Tensor, key: Tensor, *, query_at: Tensor, key_at: Tensor, valid: Tensor | None) -> View:
        """table[clip(key_at − query_at)]."""
        require_heads(type(self).__name__, query, self.heads)
        offset = offsets(query_at, key_at)
        place = offset.clamp(-self.reach, self.reach) + self.reach
        bias = nn.functional.embedding(place if place.dim() == 2 else place.squeeze(-3), self.table).movedim(-1, -3)
        return View(torch.ones_like(offset, dtype=torch.bool), bias=bias)

    def extra_repr(self) -> str:
        """Its arguments."""
        return f"{self.heads}, reach={self.reach}"
