"""Summaries: functions that map the states of a sequence to one vector. states (B, N, D), valid (B, N) -> (B, D).

A row of nothing but padding gives zeros.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from atento.blocks.pooling import Pooling
from atento.layers.masking import clean, masked_max, masked_mean
from atento.models.protocols import Encoded

# Axes: B batch, N source time, D size.

Summary = Callable[[Tensor, Tensor], Tensor]


def last_state(states: Tensor, valid: Tensor) -> Tensor:
    """The state of each row's last real token."""
    return first_state(states.flip(1), valid.flip(1))


def first_state(states: Tensor, valid: Tensor) -> Tensor:
    """The state of each row's first real token."""
    place = valid.to(torch.uint8).argmax(dim=1)  # (B,) the first of the largest
    return clean(states, valid)[torch.arange(states.size(0), device=states.device), place]


def end_states(states: Tensor, valid: Tensor) -> Tensor:
    """[forward state at the last token; backward state at the first token] of a bidirectional encoder.

    Each direction has read the whole source there.
    """
    forward, backward = states.chunk(2, dim=-1)
    return torch.cat([last_state(forward, valid), first_state(backward, valid)], dim=-1)


def mean_and_max(states: Tensor, valid: Tensor) -> Tensor:
    """[mean; max] over the real tokens: (B, 2 D)."""
    return torch.cat([masked_mean(states, valid), masked_max(states, valid)], dim=-1)


SUMMARIES: dict[str, Summary] = {"last": last_state, "mean": masked_mean, "max": masked_max}


def pooled(encoded: Encoded, pooling: Pooling | None) -> Tensor:
    """The pooling of an encoder's states (B, D); without a pooling, the encoder's own summary."""
    if pooling is None:
        return encoded.summary
    return pooling(encoded.states, valid=encoded.valid)
