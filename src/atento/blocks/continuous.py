"""Continuous attention (Martins et al., 2020): a probability density over positions in [0, 1], not weights of items.

An attention over the items gives the density's mean and variance; the values are a function of position, fitted by
ridge regression on a `GaussianBasis`. `GaussianDensity` is continuous softmax, `ParabolaDensity` continuous sparsemax.
"""

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
from atento.layers.masking import clean, require_items, require_same_items

# Axes: B batch, Q queries, K items, N basis functions, D size. t is a position: item l of L is at l / L.


class GaussianBasis(nn.Module):
    """ψ_j(t) = N(t; c_j, w_j²): `count` centres evenly over [0, 1] for each of the widths. t (...) -> (..., N)."""

    def __init__(self, count: int, widths: Sequence[float]) -> None:
        super().__init__()
        require_positive("GaussianBasis", count=count)
        if not widths or min(widths) <= 0:
            raise InputError("GaussianBasis: widths must be above 0.", found=f"widths={widths}", fix="e.g. (0.1, 0.5)")
        self.centres = nn.Buffer(torch.linspace(0, 1, count).repeat(len(widths)), persistent=False)
        self.widths = nn.Buffer(torch.tensor(widths).repeat_interleave(count), persistent=False)

    def forward(self, position: Tensor) -> Tensor:
        """Every basis function at every position."""
        return normal_density(position.unsqueeze(-1) - self.centres, self.widths.square())


def normal_density(distance: Tensor, variance: Tensor) -> Tensor:
    """The normal density N(distance; 0, variance)."""
    return torch.exp(-distance.square() / (2 * variance)) / (2 * math.pi * variance).sqrt()


class Density(nn.Module, ABC):
    """A density on the real line by the score −(t − μ)² / 2σ² (Martins et al., 2020, sec. 2.4); μ, σ² of any shape."""

    @abstractmethod
    def forward(self, position: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
        """p(t), all three broadcast."""

    @abstractmethod
    def expectation(self, basis: GaussianBasis, mean: Tensor, variance: Tensor) -> Tensor:
        """∫ p(t) ψ_j(t) dt, in closed form: (..., N)."""


class GaussianDensity(Density):
    """Continuous softmax: exp(−(t − μ)² / 2σ²), divided by its integral."""

    def forward(self, position: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
        """The normal density, positive everywhere."""
        return normal_density(position - mean, variance)

    def expectation(self, basis: GaussianBasis, mean: Tensor, variance: Tensor) -> Tensor:
        """The integral of a product of two normal densities is N(μ; c_j, σ² + w_j²)."""
        return normal_density(mean.unsqueeze(-1) - basis.centres, variance.unsqueeze(-1) + basis.widths.square())


class ParabolaDensity(Density):
    """Continuous sparsemax: max(−(t − μ)² / 2σ² − τ, 0), a truncated parabola on μ ± a with a = (3σ²/2)^⅓."""

    def forward(self, position: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
        """(a² − (t − μ)²) / 2σ² within the half-width a of μ, exactly 0 beyond."""
        inside = self.half_width(variance).square() - (position - mean).square()
        return inside.clamp(min=0.0) / (2 * variance)

    def half_width(self, variance: Tensor) -> Tensor:
        """a: the distance from μ at which the density ends."""
        return (1.5 * variance) ** (1 / 3)

    def expectation(self, basis: GaussianBasis, mean: Tensor, variance: Tensor) -> Tensor:
        """With m = −|μ − c_j| / w_j and r = a / w_j: 3 / (4 r³ w_j) · [(r² − m² − 1) Φ(z) + (z − 2m) φ(z)] from
        z = m − r to m + r. The sign of m is free by symmetry; below zero Φ keeps its digits far from the centre.
        """
        far = -(mean.unsqueeze(-1) - basis.centres).abs() / basis.widths
        half_width = self.half_width(variance).unsqueeze(-1) / basis.widths
        one = torch.ones_like(far)

        def integral(z: Tensor) -> Tensor:
            area = (half_width.square() - far.square() - 1) * torch.special.ndtr(z)
            return area + (z - 2 * far) * normal_density(z, one)

        return 0.75 * (integral(far + half_width) - integral(far - half_width)) / (half_width**3 * basis.widths)


class DensityMoments(NamedTuple):
    """The mean and variance of each query's density."""

    mean: Tensor  # (B, Q) μ
    variance: Tensor  # (B, Q) σ²
    seen: Tensor  # (B, Q) False: nothing is visible to the query


class ContinuousAttention(nn.Module):
    """Attention by a density: c = ∫ p(t) V(t) dt (Martins et al., 2020, sec. 3).

    The mean and variance of p are those of the positions under `attention`; V(t) = Bᵀψ(t) is fitted to the values by
    ridge regression.

    query (B, Q, *), key (B, K, *), value (B, K, D) -> (B, Q, D)
    """

    def __init__(
        self,
        attention: Attention,
        density: Density,
        basis: GaussianBasis,
        *,
        ridge: float = 0.1,
        min_std: float = 1e-3,
    ) -> None:
        super().__init__()
        if not attention.distribution.non_negative or isinstance(attention, Linformer):
            raise InputError(
                "ContinuousAttention: weights that may be negative give no mean and variance.",
                found=f"{type(attention).__name__} with {type(attention.distribution).__name__}",
                fix="give an Attention whose weights are 0 or more, e.g. with Softmax()",
            )
        for name, number in (("ridge", ridge), ("min_std", min_std)):
            if not 0 < number < math.inf:
                raise InputError(
                    f"ContinuousAttention: {name} must be above 0.", found=f"{name}={number}", fix="e.g. 0.001"
                )
        self.attention, self.density, self.basis = attention, density, basis
        self.ridge, self.min_std = ridge, min_std

    def forward(self, query: Tensor, key: Tensor, value: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """The context of each query; valid (B, K)."""
        require_items("value", value, valid)
        require_same_items(key, value)
        fitted = self.ridge_solver(value, valid) @ clean(value, valid)  # B: (B, N, D)
        return self.expectation(query, key, valid) @ fitted

    def weights(self, query: Tensor, key: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """The contribution of each item (B, Q, K); the fit may make it negative."""
        return self.expectation(query, key, valid) @ self.ridge_solver(key, valid)

    def moments(self, query: Tensor, key: Tensor, *, valid: Tensor | None = None) -> DensityMoments:
        """μ = E[t] and σ² = Var[t] under the items' weights, plus min_std²."""
        require_items("key", key, valid)
        weights = self.attention.weights(query, key, valid=valid)
        total = weights.sum(dim=-1, keepdim=True)
        seen = total > 0
        weights = weights / total.masked_fill(~seen, 1.0)
        position = self.positions(key, valid).unsqueeze(-2).to(weights.dtype)  # (B, 1, K)
        mean = (weights * position).sum(dim=-1, keepdim=True)
        variance = (weights * (position - mean).square()).sum(dim=-1) + self.min_std**2
        return DensityMoments(mean.squeeze(-1), variance, seen.squeeze(-1))

    def expectation(self, query: Tensor, key: Tensor, valid: Tensor | None) -> Tensor:
        """∫ p(t) ψ_j(t) dt for each query and basis function: (B, Q, N)."""
        mean, variance, seen = self.moments(query, key, valid=valid)
        return self.density.expectation(self.basis, mean, variance).masked_fill(~seen.unsqueeze(-1), 0.0)

    def ridge_solver(self, items: Tensor, valid: Tensor | None) -> Tensor:
        """(F Fᵀ + ridge I)⁻¹ F with F = [ψ(t_1) ... ψ(t_L)], which maps items to coefficients: (B, N, K)."""
        functions = clean(self.basis(self.positions(items, valid)), valid).mT
        functions = functions.double()  # the basis functions overlap: float32 would lose digits
        overlap = functions @ functions.mT
        damped = overlap + self.ridge * torch.eye(overlap.size(-1), dtype=overlap.dtype, device=overlap.device)
        return torch.linalg.solve(damped, functions).to(items.dtype)

    def positions(self, items: Tensor, valid: Tensor | None) -> Tensor:
        """l / L for the l-th of L valid items: (B, K), or (K,) where nothing is padded."""
        if valid is None:
            valid = torch.ones(items.size(-2), dtype=torch.bool, device=items.device)
        rank = valid.cumsum(dim=-1).to(self.basis.centres.dtype)
        return rank / rank[..., -1:].clamp(min=1.0)
