"""Continuous attention: a density over the sequence laid out on [0, 1], instead of a weight for each item."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.linformer import Linformer
from atento.attention.requirements import require_positive
from atento.errors import InputError
from atento.layers.masking import clean, require_items, require_pairs

# Axes: B batch, Q queries, K items, N basis functions, D size. t is a place in the sequence: item l of L is at l / L.


class GaussianBasis(nn.Module):
    """ψ_j(t) = N(t; c_j, w_j²): `count` centres evenly over [0, 1] for each of the widths. t (...) -> (..., N)."""

    def __init__(self, count: int, widths: Sequence[float]) -> None:
        super().__init__()
        require_positive("GaussianBasis", count=count)
        if not widths or min(widths) <= 0:
            raise InputError("GaussianBasis: widths must be above 0.", found=f"widths={widths}", fix="e.g. (0.1, 0.5)")
        self.centres: Tensor
        self.widths: Tensor
        self.register_buffer("centres", torch.linspace(0, 1, count).repeat(len(widths)), persistent=False)
        self.register_buffer("widths", torch.tensor(widths).repeat_interleave(count), persistent=False)

    def forward(self, place: Tensor) -> Tensor:
        """Every function at every place."""
        return bell(place.unsqueeze(-1) - self.centres, self.widths.square())


def bell(distance: Tensor, variance: Tensor) -> Tensor:
    """N(distance; 0, variance)."""
    return torch.exp(-distance.square() / (2 * variance)) / (2 * math.pi * variance).sqrt()


class Density(nn.Module, ABC):
    """Weight over the real line, by a score −(t − μ)² / 2σ² (Martins et al., 2020, sec. 2.4); μ and σ² of any shape."""

    @abstractmethod
    def forward(self, place: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
        """p(t), all three broadcast."""

    @abstractmethod
    def expect(self, basis: GaussianBasis, mean: Tensor, variance: Tensor) -> Tensor:
        """∫ p(t) ψ_j(t) dt, in closed form: (..., N)."""


class GaussianDensity(Density):
    """Continuous softmax: exp(−(t − μ)² / 2σ²), divided by its integral."""

    def forward(self, place: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
        """Some weight everywhere."""
        return bell(place - mean, variance)

    def expect(self, basis: GaussianBasis, mean: Tensor, variance: Tensor) -> Tensor:
        """The product of two bells is a bell: N(μ; c_j, σ² + w_j²)."""
        return bell(mean.unsqueeze(-1) - basis.centres, variance.unsqueeze(-1) + basis.widths.square())


class ParabolaDensity(Density):
    """Continuous sparsemax: max(−(t − μ)² / 2σ² − τ, 0), a parabola cut off at μ ± a with a = (3σ²/2)^⅓."""

    def forward(self, place: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
        """(a² − (t − μ)²) / 2σ² within reach, exactly nothing beyond."""
        inside = self.reach(variance).square() - (place - mean).square()
        return inside.clamp(min=0.0) / (2 * variance)

    def reach(self, variance: Tensor) -> Tensor:
        """a: how far from μ there is weight."""
        return (1.5 * variance) ** (1 / 3)

    def expect(self, basis: GaussianBasis, mean: Tensor, variance: Tensor) -> Tensor:
        """With m = −|μ − c_j| / w_j and r = a / w_j: 3 / (4 r³ w_j) · [(r² − m² − 1) Φ(z) + (z − 2m) φ(z)] from
        z = m − r to m + r. The sign of m is free by symmetry; below zero Φ keeps its digits far from the centre.
        """
        far = -(mean.unsqueeze(-1) - basis.centres).abs() / basis.widths
        reach = self.reach(variance).unsqueeze(-1) / basis.widths
        one = torch.ones_like(far)

        def integral(place: Tensor) -> Tensor:
            area = (reach.square() - far.square() - 1) * torch.special.ndtr(place)
            return area + (place - 2 * far) * bell(place, one)

        return 0.75 * (integral(far + reach) - integral(far - reach)) / (reach**3 * basis.widths)


class Moments(NamedTuple):
    """Where each query looks."""

    mean: Tensor  # (B, Q) μ
    variance: Tensor  # (B, Q) σ²
    seen: Tensor  # (B, Q) False: the query sees nothing


class ContinuousAttention(nn.Module):
    """An attention over the items gives the mean and the variance of a density; what it meets is not the items but a
    function through them, V(t) = Bᵀψ(t), fitted by ridge regression: c = ∫ p(t) V(t) dt (Martins et al., 2020, sec. 3).

    query (B, Q, *), key (B, K, *), value (B, K, D) -> (B, Q, D)
    """

    def __init__(
        self,
        attention: Attention,
        density: Density,
        basis: GaussianBasis,
        *,
        ridge: float = 0.1,
        narrowest: float = 1e-3,
    ) -> None:
        super().__init__()
        if not attention.distribution.non_negative or isinstance(attention, Linformer):
            raise InputError(
                "ContinuousAttention: weights that may be negative have no mean and variance.",
                found=f"{type(attention).__name__} with {type(attention.distribution).__name__}",
                fix="give an Attention whose weights are 0 or more, e.g. with Softmax()",
            )
        for name, number in (("ridge", ridge), ("narrowest", narrowest)):
            if not 0 < number < math.inf:
                raise InputError(
                    f"ContinuousAttention: {name} must be above 0.", found=f"{name}={number}", fix="e.g. 0.001"
                )
        self.attention, self.density, self.basis = attention, density, basis
        self.ridge, self.narrowest = ridge, narrowest

    def forward(self, query: Tensor, key: Tensor, value: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """The context of each query; valid (B, K)."""
        require_items("value", value, valid)
        require_pairs(key, value)
        fitted = self.smoother(value, valid) @ clean(value, valid)  # B: (B, N, D)
        return self.expect(query, key, valid) @ fitted

    def weights(self, query: Tensor, key: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """What each item contributes (B, Q, K); the fit may make it negative."""
        return self.expect(query, key, valid) @ self.smoother(key, valid)

    def moments(self, query: Tensor, key: Tensor, *, valid: Tensor | None = None) -> Moments:
        """μ = E[t] and σ² = Var[t] under the items' weights, never narrower than `narrowest`."""
        require_items("key", key, valid)
        weights = self.attention.weights(query, key, valid=valid)
        total = weights.sum(dim=-1, keepdim=True)
        seen = total > 0
        weights = weights / total.masked_fill(~seen, 1.0)
        place = self.places(key, valid).unsqueeze(-2).to(weights.dtype)  # (B, 1, K)
        mean = (weights * place).sum(dim=-1, keepdim=True)
        variance = (weights * (place - mean).square()).sum(dim=-1) + self.narrowest**2
        return Moments(mean.squeeze(-1), variance, seen.squeeze(-1))

    def expect(self, query: Tensor, key: Tensor, valid: Tensor | None) -> Tensor:
        """The weight of each basis function: (B, Q, N)."""
        mean, variance, seen = self.moments(query, key, valid=valid)
        return self.density.expect(self.basis, mean, variance).masked_fill(~seen.unsqueeze(-1), 0.0)

    def smoother(self, items: Tensor, valid: Tensor | None) -> Tensor:
        """(F Fᵀ + ridge I)⁻¹ F with F = [ψ(t_1) ... ψ(t_L)], what turns items into coefficients: (B, N, K)."""
        functions = clean(
            self.basis(self.places(items, valid)), valid
        ).mT.double()  # they overlap: digits would be lost
        overlap = functions @ functions.mT
        damped = overlap + self.ridge * torch.eye(overlap.size(-1), dtype=overlap.dtype, device=overlap.device)
        return torch.linalg.solve(damped, functions).to(items.dtype)

    def places(self, items: Tensor, valid: Tensor | None) -> Tensor:
        """l / L for the l-th of L real items: (B, K), or (K,) where nothing is padded."""
        if valid is None:
            valid = torch.ones(items.size(-2), dtype=torch.bool, device=items.device)
        rank = valid.cumsum(dim=-1).to(self.basis.centres.dtype)
        return rank / rank[..., -1:].clamp(min=1.0)
