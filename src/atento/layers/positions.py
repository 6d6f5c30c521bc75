"""Positions: how a model without recurrence learns what stands where.

`Positions` are added to the tokens' vectors; `Rotary` turns queries and keys instead; biases of the scores by distance
are extents (`atento.attention`)."""

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from atento.errors import InputError

LONGEST_WAVE = 10_000.0


class Positions(nn.Module, ABC):
    """positions (...,) counted from 0 -> (..., size), to be added to vectors of that size."""

    def __init__(self, size: int) -> None:
        super().__init__()
        if size < 1:
            raise InputError("positions need a size.", found=f"size={size}", fix="give 1 or more")
        self.size = size

    @abstractmethod
    def forward(self, positions: Tensor) -> Tensor:
        """What is added at each position."""


class Sinusoidal(Positions):
    """Sine and cosine waves of geometric wavelengths from 2π to 2π·10000 (Vaswani et al., 2017, sec. 3.5).

    The first pair is sin t, cos t: frequency 1.
    """

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.frequencies: Tensor
        self.register_buffer("frequencies", frequencies(size), persistent=False)

    def forward(self, positions: Tensor) -> Tensor:
        """The waves at each position, in the default precision."""
        angles = positions.unsqueeze(-1).to(self.frequencies.dtype) * self.frequencies  # (..., size / 2)
        waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)  # sin, cos, sin, cos, ...
        return waves[..., : self.size]


class Index(Positions):
    """The position itself, as a number: unbounded, so late positions drown the tokens.

    It stands in the first feature only: the same number in all of them is what a layer norm takes away.
    """

    def forward(self, positions: Tensor) -> Tensor:
        """(t, 0, 0, ...)."""
        number = positions.unsqueeze(-1).to(torch.get_default_dtype())
        return nn.functional.pad(number, (0, self.size - 1))


class BinaryDigits(Positions):
    """The position in binary, the last digit first: bounded, but n positions need log₂ n features, and neighbours
    such as 7 and 8 differ in many digits.
    """

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.longest = 2 ** min(size, 62)  # what an integer holds

    def forward(self, positions: Tensor) -> Tensor:
        """(t mod 2, ⌊t / 2⌋ mod 2, ⌊t / 4⌋ mod 2, ...)."""
        require_shorter(positions, self.longest, why=f"{self.size} binary digits count no further")
        place = torch.arange(min(self.size, 62), device=positions.device)
        digits = positions.unsqueeze(-1).bitwise_right_shift(place) & 1
        return nn.functional.pad(digits.to(torch.get_default_dtype()), (0, self.size - len(place)))


class Learned(Positions):
    """A vector learned for each position up to the longest (Gehring et al., 2017, sec. 3.1).

    Vectors are drawn one by one: before training no distance can be read from them, and none ever of unseen positions.
    """

    def __init__(self, size: int, *, longest: int) -> None:
        super().__init__(size)
        if longest < 1:
            raise InputError("Learned: longest must be positive.", found=f"longest={longest}", fix="give 1 or more")
        self.longest = longest
        self.table = nn.Embedding(longest, size)
        nn.init.normal_(self.table.weight, std=size**-0.5)

    def forward(self, positions: Tensor) -> Tensor:
        """Look each position up."""
        require_shorter(positions, self.longest, why="no vector was learned beyond `longest`")
        vectors: Tensor = self.table(positions)
        return vectors


class NoPositions(Positions):
    """Zeros: the tokens are a bag, or something else says where they stand."""

    def forward(self, positions: Tensor) -> Tensor:
        """(0, 0, ...)."""
        return torch.zeros(*positions.shape, self.size, device=positions.device)


class Rotary(nn.Module):
    """Turns each pair of features by an angle that grows with the position (Su et al., 2021, eq. 34).

    Turned queries and keys have a product that depends on how far apart they stand, not on where:
    (R_m q)ᵀ(R_n k) = qᵀ R_{n−m} k. values (..., T, size), positions (..., T) -> (..., T, size)
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        if size < 2 or size % 2:
            raise InputError(
                "Rotary turns pairs of features: the size of a head must be even.",
                found=f"size={size}",
                fix="choose model.hidden and model.heads so that hidden / heads is even",
            )
        self.size = size
        self.frequencies: Tensor
        self.register_buffer("frequencies", frequencies(size), persistent=False)

    def forward(self, values: Tensor, positions: Tensor) -> Tensor:
        """(x, y) -> (x cos a − y sin a, x sin a + y cos a), a = position × frequency of the pair."""
        angles = positions.unsqueeze(-1).to(self.frequencies.dtype) * self.frequencies  # (..., T, size / 2)
        cosine, sine = angles.cos().to(values.dtype), angles.sin().to(values.dtype)
        first, second = values[..., 0::2], values[..., 1::2]
        turned = torch.stack([first * cosine - second * sine, first * sine + second * cosine], dim=-1)
        return turned.flatten(-2)

    def extra_repr(self) -> str:
        """The one number."""
        return str(self.size)


def frequencies(size: int) -> Tensor:
    """One for each pair of features: 1, then geometrically down to nearly 1/10000, in float64."""
    pair = torch.arange(0, size, 2, dtype=torch.float64)
    return torch.exp(-math.log(LONGEST_WAVE) * pair / size)


def require_shorter(positions: Tensor, longest: int, *, why: str) -> None:
    """Positions count from 0 and end before the longest."""
    if positions.numel() and int(positions.max()) >= longest:
        raise InputError(
            f"a sequence is longer than its positions: {why}.",
            found=f"position {int(positions.max())}, longest={longest}",
            fix="shorten the sequences, raise model.longest, or take positions without an end (sinusoidal, rotary)",
        )
