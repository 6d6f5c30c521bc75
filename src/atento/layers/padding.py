"""Padding: rows of a batch have unequal lengths; what fills them up must never matter."""

import torch
from torch import Tensor

# Axes: B batch, T time. `valid` is (B, T) and True means a real item.


def clean(values: Tensor, valid: Tensor | None) -> Tensor:
    """Zero every padded item, so that a NaN there cannot travel as 0 * NaN. None: nothing is padded."""
    return values if valid is None else values.masked_fill(~valid.unsqueeze(-1), 0.0)


def valid_from_lengths(lengths: Tensor, longest: int) -> Tensor:
    """Lengths (B,) -> valid (B, longest), padding on the right."""
    return torch.arange(longest, device=lengths.device) < lengths.unsqueeze(-1)


def masked_mean(values: Tensor, valid: Tensor) -> Tensor:
    """The mean over real items: (B, T, D) -> (B, D); a row with none gives zeros."""
    count = valid.sum(dim=-1, keepdim=True).clamp(min=1)
    return clean(values, valid).sum(dim=-2) / count
