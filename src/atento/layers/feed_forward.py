"""The feed-forward part of a Transformer layer."""

from collections.abc import Callable

import torch
from torch import Tensor, nn


class FeedForward(nn.Module):
    """Two linear maps with an activation between, at each position by itself: (..., size) -> (..., size)."""

    def __init__(
        self, size: int, hidden_size: int, *, dropout: float = 0.0, activation: Callable[[Tensor], Tensor] = torch.relu
    ) -> None:
        super().__init__()
        self.widen = nn.Linear(size, hidden_size)
        self.narrow = nn.Linear(hidden_size, size)
        self.dropout = nn.Dropout(dropout)
        self.activation = activation

    def forward(self, values: Tensor) -> Tensor:
        """Widen, bend, narrow."""
        result: Tensor = self.narrow(self.dropout(self.activation(self.widen(values))))
        return result
