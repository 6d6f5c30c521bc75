"""Positions: how a model without recurrence learns what stands where."""

import math

import torch
from torch import Tensor, nn


class Sinusoidal(nn.Module):
    """Sine and cosine waves of geometric wavelengths from 2π to 2π·10000 (Vaswani et al., 2017, sec. 3.5).

    The first pair is sin t, cos t: frequency 1. positions (...,) -> (..., size)
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.frequencies: Tensor
        pair = torch.arange(0, size, 2, dtype=torch.float64)
        self.register_buffer("frequencies", torch.exp(-math.log(10_000.0) * pair / size), persistent=False)

    def forward(self, positions: Tensor) -> Tensor:
        """The waves at each position, in the default precision."""
        angles = positions.unsqueeze(-1).to(self.frequencies.dtype) * self.frequencies  # (..., size / 2)
        waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)  # sin, cos, sin, cos, ...
        return waves[..., : self.size]
