"""How the states of a source become one vector: states (B, N, D), valid (B, N) -> (B, D).

A row of nothing but padding gives zeros."""

from collections.abc import Callable

import torch
from torch import Tensor

from atento.errors import InputError
from atento.layers.masking import clean, masked_mean

# Axes: B batch, N source time, D size.

Summary = Callable[[Tensor, Tensor], Tensor]


def last_state(states: Tensor, valid: Tensor) -> Tensor:
    """The state of each row's last real token."""
    return first_state(states.flip(1), valid.flip(1))


def first_state(states: Tensor, valid: Tensor) -> Tensor:
    """The state of each row's first real token."""
    place = valid.to(torch.uint8).argmax(dim=1)  # (B,) the first of the largest
    return clean(states, valid)[torch.arange(len(states), device=states.device), place]


def end_states(states: Tensor, valid: Tensor) -> Tensor:
    """[forward state at the end; backward state at the start]: where each direction has read the whole source."""
    forward, backward = states.chunk(2, dim=-1)
    return torch.cat([last_state(forward, valid), first_state(backward, valid)], dim=-1)


def largest_values(states: Tensor, valid: Tensor) -> Tensor:
    """The largest value of each feature over the real tokens."""
    floor = torch.finfo(states.dtype).min
    largest = states.masked_fill(~valid.unsqueeze(-1), floor).amax(dim=1)
    return largest.masked_fill(~valid.any(dim=1, keepdim=True), 0.0)


SUMMARIES: dict[str, Summary] = {"last": last_state, "mean": masked_mean, "max": largest_values}


def find_summary(name: str, *, auto: str) -> Summary:
    """The summary of a recipe; attention pools in a classifier of tokens alone, which never asks here."""
    if name == "attention":
        raise InputError(
            "model.summary=attention pools the states of a classifier of texts.",
            found="model.summary=attention",
            fix="leave it out, or take last, mean or max",
        )
    return SUMMARIES[auto if name == "auto" else name]
