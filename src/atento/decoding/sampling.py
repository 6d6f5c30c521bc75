"""Sampling: each token is drawn from the model's probabilities, with temperature, top-k and nucleus (top-p) filters."""

import random
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from atento.decoding.greedy import Hypothesis, SpecialTokens, generate
from atento.errors import InputError
from atento.models.protocols import Encoded, IncrementalDecoder

# Axes: R rows not yet ended, V vocabulary.


def sample(
    decoder: IncrementalDecoder[Any],
    encoded: Encoded,
    *,
    special_tokens: SpecialTokens,
    max_tokens: int | Sequence[int],
    seeds: Sequence[str],
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
) -> list[Hypothesis]:
    """One sampled hypothesis per row; its score is its log-probability by the model itself, at temperature 1.

    Each row draws from its own seed, so that the other rows of the batch change nothing.
    """
    choose = TokenSampler(seeds, temperature=temperature, top_k=top_k, top_p=top_p)
    return generate(decoder, encoded, choose=choose, special_tokens=special_tokens, max_tokens=max_tokens)


class TokenSampler:
    """A `TokenChoice` that draws tokens by inverse transform sampling: one uniform number per row and step."""

    def __init__(self, seeds: Sequence[str], *, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> None:
        require_range("temperature", temperature, temperature > 0, "more than 0; `greedy` is temperature 0")
        require_range("top_k", top_k, top_k >= 0, "0 for all tokens, or how many of the most probable")
        require_range("top_p", top_p, 0 < top_p <= 1, "more than 0 and at most 1")
        self.generators = [random.Random(seed) for seed in seeds]
        self.temperature, self.top_k, self.top_p = temperature, top_k, top_p

    def __call__(self, log_probs: Tensor, rows: Tensor) -> Tensor:
        """Log-probabilities (R, V) of batch rows (R,) -> sampled tokens (R,)."""
        probs = filtered_probabilities(log_probs, temperature=self.temperature, top_k=self.top_k, top_p=self.top_p)
        numbers = [self.generators[row].random() for row in rows.tolist()]
        return inverse_cdf(probs, torch.tensor(numbers, dtype=torch.float64, device=probs.device))


def filtered_probabilities(
    log_probs: Tensor, *, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0
) -> Tensor:
    """The probabilities (R, V) to sample from, given the model's log-probabilities (R, V).

    They are p^(1/temperature), kept for the `top_k` most probable tokens (Fan et al., 2018, sec. 5.1), of these for
    the fewest that hold `top_p` (the nucleus; Holtzman et al., 2020, eq. 3), and divided by their sum.
    """
    ordered, order = (log_probs.double() / temperature).sort(dim=-1, descending=True, stable=True)
    if top_k:
        ordered[..., top_k:] = -torch.inf
    probs = ordered.softmax(dim=-1)
    before = probs.cumsum(dim=-1) - probs  # the probability of all tokens ranked above
    probs = probs.masked_fill(before >= top_p, 0.0)
    probs = torch.zeros_like(probs).scatter(-1, order, probs)  # back in the order of the vocabulary
    return probs / probs.sum(dim=-1, keepdim=True)


def inverse_cdf(probs: Tensor, numbers: Tensor) -> Tensor:
    """The token (R,) at which the cumulative probabilities (R, V) first exceed a number (R,) from 0 to 1."""
    sums = probs.cumsum(dim=-1)
    whole = sums[..., -1:]
    places = torch.minimum(numbers.unsqueeze(-1) * whole, whole.nextafter(torch.zeros_like(whole)))  # below the end
    return torch.searchsorted(sums, places, right=True).squeeze(-1)


def require_range(name: str, value: float, holds: bool, allowed: str) -> None:
    """Refuse a number outside its range."""
    if not holds:
        raise InputError(f"{name} cannot be {value}.", found=f"{name}={value}", fix=f"give {allowed}")
