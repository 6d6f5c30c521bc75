"""How a recurrent decoder gets the summary of its source: as its first state, with every input, or both."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

# Axes: B batch, T target time, S source size, E embedding, D size, L layers.


class Handover(NamedTuple):
    """Two maps: the summary (B, S) to all layers' first states, and how it stands with an input."""

    first_states: nn.Module  # (B, S) -> (B, L·D), before it is squashed
    feed: "Alone | Beside"


class Silence(nn.Module):
    """A first state of zeros, whatever the source."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def forward(self, summary: Tensor) -> Tensor:
        """(B, S) -> zeros (B, size)."""
        return summary.new_zeros(len(summary), self.size)


class Alone(nn.Module):
    """An input is the last token's vector."""

    added = 0  # features

    def forward(self, embedded: Tensor, summary: Tensor) -> Tensor:
        """As it is."""
        return embedded


class Beside(nn.Module):
    """An input is [the last token's vector; the summary] (Cho et al., 2014, eq. 7)."""

    def __init__(self, source_size: int) -> None:
        super().__init__()
        self.added = source_size

    def forward(self, embedded: Tensor, summary: Tensor) -> Tensor:
        """Embedded (B, E) or (B, T, E), summary (B, S) -> (..., E + S)."""
        if embedded.dim() == 3:
            summary = summary.unsqueeze(1).expand(-1, embedded.size(1), -1)
        return torch.cat([embedded, summary], dim=-1)


def as_state(source_size: int, size: int) -> Handover:
    """The summary is where the decoder starts; `size` is of all its layers together."""
    return Handover(nn.Linear(source_size, size), Alone())


def as_input(source_size: int, size: int) -> Handover:
    """The summary is read again at every step."""
    return Handover(Silence(size), Beside(source_size))


def as_both(source_size: int, size: int) -> Handover:
    """The summary starts the decoder and is read at every step."""
    return Handover(nn.Linear(source_size, size), Beside(source_size))
