"""Layers without a non-linearity between them are one layer."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import nn

from atento.errors import InputError


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
