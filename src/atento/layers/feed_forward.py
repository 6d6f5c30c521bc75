"""The feed-forward part of a Transformer layer.

Layers without a non-linearity between them are one layer.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from atento.errors import InputError


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


@torch.no_grad()
def fold(layers: Sequence[nn.Linear]) -> nn.Linear:
    """One linear layer that does what these do one after the other: W = W_n … W_2 W_1, b = W_n(… b_1 …) + b_n."""
    if not layers or any(one.out_features != other.in_features for one, other in pairwise(layers)):
        raise InputError(
            "layers can be folded where each reads what the one before gives.",
            found=", ".join(f"{layer.in_features} -> {layer.out_features}" for layer in layers) or "no layer",
            fix="give layers whose widths follow on",
        )
    first, last = layers[0], layers[-1]
    weight = torch.eye(first.in_features, dtype=first.weight.dtype, device=first.weight.device)
    bias = first.weight.new_zeros(first.in_features)
    for layer in layers:
        weight, bias = layer.weight @ weight, nn.functional.linear(bias, layer.weight, layer.bias)
    folded = nn.Linear(first.in_features, last.out_features).to(first.weight)
    folded.weight.copy_(weight)
    folded.bias.copy_(bias)
    return folded
