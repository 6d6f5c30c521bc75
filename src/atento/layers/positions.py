"""Position encodings: how a model without recurrence knows the order of its tokens.

`Positions` are added to token embeddings; `Rotary` turns queries and keys instead; biases of attention scores by
distance are extents (`atento.attention.Alibi`, `atento.attention.RelativeBias`)."""

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.masking import valid_positions

# Axes: B batch, T time. The last axis is always features.

LONGEST_WAVE = 10_000.0
MAX_BITS = 62  # binary digits of a position that fit an integer


class Positions(nn.Module, ABC):
    """Positions (...,) counted from 0 -> vectors (..., size), to be added to embeddings of that size."""

    def __init__(self, size: int) -> None:
        super().__init__()
        if size < 1:
            raise InputError(f"{type(self).__name__}: size must be positive.", found=f"size={size}", fix="1 or more")
        self.size = size

    @abstractmethod
    def forward(self, positions: Tensor) -> Tensor:
        """The vector of each position."""

    def along(self, values: Tensor, valid: Tensor | None = None) -> Tensor:
        """The vectors (T, size) of whole sequences (B, T, ...), in the type of floating-point values.

        With `valid` they are (B, T, size) and count real items from 0, on whichever side the padding is.
        """
        vectors = self(torch.arange(values.size(1), device=values.device))
        vectors = vectors.to(values.dtype) if values.is_floating_point() else vectors
        return vectors if valid is None else vectors[valid_positions(valid)]


class SinusoidalPositions(Positions):
    """Sine and cosine waves of geometric wavelengths from 2π to 2π·10000 (Vaswani et al., 2017, sec. 3.5).

    The first pair is sin t, cos t: frequency 1.
    """

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.frequencies = nn.Buffer(frequencies(size), persistent=False)

    def forward(self, positions: Tensor) -> Tensor:
        """The waves at each position, in the default precision."""
        angles = positions.unsqueeze(-1).to(self.frequencies.dtype) * self.frequencies  # (..., size / 2)
        waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)  # sin, cos, sin, cos, ...
        return waves[..., : self.size]


class IndexPositions(Positions):
    """The position itself as a number, for comparison: it is unbounded, so late positions dominate the tokens.

    Only the first feature holds it: the same number in all features is what layer normalization removes.
    """

    def forward(self, positions: Tensor) -> Tensor:
        """(t, 0, 0, ...)."""
        number = positions.unsqueeze(-1).to(torch.get_default_dtype())
        return nn.functional.pad(number, (0, self.size - 1))


class BinaryPositions(Positions):
    """The binary digits of the position, lowest first, for comparison.

    They are bounded, but n positions need log₂ n features, and neighbours such as 7 and 8 differ in many digits.
    """

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.max_length = 2 ** min(size, MAX_BITS)

    def forward(self, positions: Tensor) -> Tensor:
        """(t mod 2, ⌊t / 2⌋ mod 2, ⌊t / 4⌋ mod 2, ...)."""
        require_shorter(positions, self.max_length, why=f"{self.size} binary digits count no further")
        place = torch.arange(min(self.size, MAX_BITS), device=positions.device)
        digits = positions.unsqueeze(-1).bitwise_right_shift(place) & 1
        return nn.functional.pad(digits.to(torch.get_default_dtype()), (0, self.size - len(place)))


class LearnedPositions(Positions):
    """A learned vector for each position below `max_length` (Gehring et al., 2017, sec. 3.1).

    The vectors start independent of each other, so distances must be learned, and only for positions seen in training.
    """

    def __init__(self, size: int, *, max_length: int) -> None:
        super().__init__(size)
        if max_length < 1:
            raise InputError(
                "LearnedPositions: max_length must be positive.", found=f"max_length={max_length}", fix="give 1 or more"
            )
        self.max_length = max_length
        self.table = nn.Embedding(max_length, size)
        nn.init.normal_(self.table.weight, std=size**-0.5)

    def forward(self, positions: Tensor) -> Tensor:
        """The vector of each position."""
        require_shorter(positions, self.max_length, why="no vector was learned from `max_length` on")
        return self.table(positions)


class NoPositions(Positions):
    """Zeros: the tokens are a bag, or attention itself encodes their positions."""

    def forward(self, positions: Tensor) -> Tensor:
        """(0, 0, ...)."""
        return torch.zeros(*positions.shape, self.size, device=positions.device)


class Rotary(nn.Module):
    """Rotary position embedding: each pair of features is turned by an angle that grows with the position.

    The product of turned queries and keys depends only on their distance: (R_m q)ᵀ(R_n k) = qᵀ R_{n−m} k
    (Su et al., 2021, eq. 34). values (..., T, size), positions (..., T) -> (..., T, size)
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        if size < 2 or size % 2:
            raise InputError(
                "Rotary turns pairs of features: size, the width of a head, must be even.",
                found=f"size={size}",
                fix=f"give an even size, e.g. {max(2, size + size % 2)}",
            )
        self.size = size
        self.frequencies = nn.Buffer(frequencies(size), persistent=False)

    def forward(self, values: Tensor, positions: Tensor) -> Tensor:
        """(x, y) -> (x cos a − y sin a, x sin a + y cos a), a = position × frequency of the pair."""
        angles = positions.unsqueeze(-1).to(self.frequencies.dtype) * self.frequencies  # (..., T, size / 2)
        cosine, sine = angles.cos().to(values.dtype), angles.sin().to(values.dtype)
        first, second = values[..., 0::2], values[..., 1::2]
        turned = torch.stack([first * cosine - second * sine, first * sine + second * cosine], dim=-1)
        return turned.flatten(-2)

    def extra_repr(self) -> str:
        """The size."""
        return str(self.size)


def frequencies(size: int) -> Tensor:
    """One frequency for each pair of features: 1, then geometrically down to nearly 1/10000, in float64."""
    pair = torch.arange(0, size, 2, dtype=torch.float64, device="cpu")  # on torch's meta device it loads a compiler
    return torch.exp(-math.log(LONGEST_WAVE) * pair / size)


def require_shorter(positions: Tensor, max_length: int, *, why: str) -> None:
    """Refuse positions from `max_length` on."""
    if positions.numel() and int(positions.max()) >= max_length:
        raise InputError(
            f"a sequence is longer than its positions: {why}.",
            found=f"position {int(positions.max())}, max_length={max_length}",
            fix="shorten the sequences, raise max_length, or take unbounded positions (sinusoidal, rotary)",
        )
