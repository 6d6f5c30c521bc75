"""Pieces of series: several steps of a window read as one vector, several steps of a horizon written from one."""

import torch
from torch import Tensor, nn

from atento.models.forecaster import SeriesSizes, silent

# Axes: N rows, L past, H horizon, C channels, K covariates, Q quantiles, S pieces of the past, J pieces of the horizon,
# P steps of a piece, D size.


class Reading(nn.Module):
    """The past beside what is known of it, cut into pieces: (N, L, C), (N, L, K) -> (N, S, D).

    Pieces begin `stride` steps apart. The last one ends with the window; what the first one lacks is zeros, the anchor.
    """

    def __init__(self, sizes: SeriesSizes, patch: int, size: int, *, stride: int = 0) -> None:
        super().__init__()
        self.patch, self.stride = patch, stride or patch
        self.map = nn.Linear(patch * (sizes.channels + sizes.covariates), size)
        self.pieces = max(0, -(-(sizes.look_back - patch) // self.stride)) + 1
        self.missing = (self.pieces - 1) * self.stride + patch - sizes.look_back

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """One product for all pieces."""
        numbers = nn.functional.pad(torch.cat([past, known], dim=-1), (0, 0, self.missing, 0))
        pieces = numbers.unfold(1, self.patch, self.stride)  # (N, S, C + K, P)
        vectors: Tensor = self.map(pieces.flatten(2))
        return vectors


class Asking(nn.Module):
    """What is asked of each piece of the horizon: its place, and what is known of it. (N, H, K) -> (N, J, D)."""

    def __init__(self, sizes: SeriesSizes, patch: int, size: int) -> None:
        super().__init__()
        self.patch = patch
        self.pieces = -(-sizes.horizon // patch)
        self.missing = self.pieces * patch - sizes.horizon
        self.places = nn.Parameter(torch.randn(self.pieces, size) * size**-0.5)
        self.map = nn.Linear(patch * sizes.covariates, size, bias=False) if sizes.covariates else None

    def forward(self, known: Tensor) -> Tensor:
        """A piece that reaches beyond the horizon knows nothing of it."""
        if self.map is None:
            return self.places.expand(len(known), -1, -1)
        pieces = nn.functional.pad(known, (0, 0, 0, self.missing)).reshape(len(known), self.pieces, -1)  # (N, J, P·K)
        asked: Tensor = self.places + self.map(pieces)
        return asked


class Writing(nn.Module):
    """A vector for each piece -> its steps: (N, J, D) -> (N, H, C, Q)."""

    def __init__(self, sizes: SeriesSizes, patch: int, size: int, *, quantiles: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.horizon, self.shape = sizes.horizon, (patch, sizes.channels, quantiles)
        self.map = silent(nn.Linear(size, patch * sizes.channels * quantiles))
        self.dropout = nn.Dropout(dropout)

    def forward(self, features: Tensor) -> Tensor:
        """What reaches beyond the horizon is left out."""
        steps: Tensor = self.map(self.dropout(features)).unflatten(2, self.shape).flatten(1, 2)
        return steps[:, : self.horizon]
