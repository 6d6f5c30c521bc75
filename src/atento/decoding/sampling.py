"""Sampling: each token drawn by chance, from all tokens or from the likeliest few."""

import random
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from atento.decoding.greedy import Hypothesis, Marks, write
from atento.errors import InputError
from atento.models.protocols import Encoded, Writer

# Axes: B batch, R rows still being written, V vocabulary.


def sample(
    decoder: Writer[Any],
    encoded: Encoded,
    *,
    marks: Marks,
    longest: int | Sequence[int],
    seeds: Sequence[str],
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
) -> list[Hypothesis]:
    """One drawn hypothesis a row; its score is its log-probability by the model itself, untempered.

    Each row draws from its own seed, so that its neighbours in the batch change nothing.
    """
    draw = Draw(seeds, temperature=temperature, top_k=top_k, top_p=top_p)
    return write(decoder, encoded, choose=draw, marks=marks, longest=longest)


class Draw:
    """A choice: one uniform number a row and step, read off the summed probabilities of what may be drawn."""

    def __init__(self, seeds: Sequence[str], *, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> None:
        require_range("temperature", temperature, temperature > 0, "more than 0; `greedy` is temperature 0")
        require_range("top_k", top_k, top_k >= 0, "0 for all tokens, or how many of the likeliest")
        require_range("top_p", top_p, 0 < top_p <= 1, "more than 0 and at most 1")
        self.chances = [random.Random(seed) for seed in seeds]
        self.temperature, self.top_k, self.top_p = temperature, top_k, top_p

    def __call__(self, chances: Tensor, rows: Tensor) -> Tensor:
        """Log-probabilities (R, V) of batch rows (R,) -> drawn tokens (R,)."""
        shares = narrowed(chances, temperature=self.temperature, top_k=self.top_k, top_p=self.top_p)
        numbers = [self.chances[row].random() for row in rows.tolist()]
        return inverse(shares, torch.tensor(numbers, dtype=torch.float64, device=shares.device))


def narrowed(chances: Tensor, *, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Tensor:
    """Log-probabilities (R, V) to what is drawn from: p^(1/temperature), the `top_k` likeliest of it (Fan et al., 2018,
    sec. 5.1), of these the fewest that hold `top_p` (the nucleus; Holtzman et al., 2020, eq. 3), sharing all.
    """
    ordered, order = (chances.double() / temperature).sort(dim=-1, descending=True, stable=True)
    if top_k:
        ordered[..., top_k:] = -torch.inf
    shares = ordered.softmax(dim=-1)
    before = shares.cumsum(dim=-1) - shares  # what the likelier ones hold without this one
    shares = shares.masked_fill(before >= top_p, 0.0)
    shares = torch.zeros_like(shares).scatter(-1, order, shares)  # back in the order of the vocabulary
    return shares / shares.sum(dim=-1, keepdim=True)


def inverse(shares: Tensor, numbers: Tensor) -> Tensor:
    """The token (R,) in whose stretch of the summed shares (R, V) a number (R,) from 0 to 1 falls."""
    sums = shares.cumsum(dim=-1)
    whole = sums[..., -1:]
    places = torch.minimum(numbers.unsqueeze(-1) * whole, whole.nextafter(torch.zeros_like(whole)))  # below the end
    return torch.searchsorted(sums, places, right=True).squeeze(-1)


def require_range(name: str, value: float, holds: bool, allowed: str) -> None:
    """The one message for a number that cannot be drawn with."""
    if not holds:
        raise InputError(f"{name} cannot be {value}.", found=f"{name}={value}", fix=f"give {allowed}")
