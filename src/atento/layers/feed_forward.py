"""The feed-forward network of a Transformer layer, and linear layers without an activation, which are one layer."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.activations import ActivationFn
from atento.layers.dropout import Dropout
from atento.layers.products import Linear


class FeedForward(nn.Module):
    """Two linear layers with an activation between them, applied to each position: (..., size) -> (..., size)."""

    def __init__(
        self, size: int, hidden_size: int, *, dropout: float = 0.0, activation: ActivationFn = torch.relu
    ) -> None:
        super().__init__()
        self.widen = Linear(size, hidden_size)
        self.narrow = Linear(hidden_size, size)
        self.dropout = Dropout(dropout)
        self.activation = activation

    def forward(self, values: Tensor) -> Tensor:
        """W₂ act(W₁ x + b₁) + b₂."""
        return self.narrow(self.dropout(self.activation(self.widen(values))))


@torch.no_grad()
def collapse_linear(layers: Sequence[nn.Linear]) -> nn.Linear:
    """The one linear layer that equals these in sequence: W = W_n … W_2 W_1, b = W_n(… b_1 …) + b_n."""
    if not layers or any(one.out_features != other.in_features for one, other in pairwise(layers)):
        raise InputError(
            "collapse_linear: each layer must be as wide as the output of the one before.",
            found=", ".join(f"{layer.in_features} -> {layer.out_features}" for layer in layers) or "no layer",
            fix="give layers whose widths follow on",
        )
    first, last = layers[0], layers[-1]
    weight = torch.eye(first.in_features, dtype=first.weight.dtype, device=first.weight.device)
    bias = first.weight.new_zeros(first.in_features)
    for layer in layers:
        weight, bias = layer.weight @ weight, nn.functional.linear(bias, layer.weight, layer.bias)
    collapsed = Linear(first.in_features, last.out_features).to(first.weight)
    collapsed.weight.copy_(weight)
    collapsed.bias.copy_(bias)
    return collapsed
