"""Optimisers by name."""

from collections.abc import Callable

import torch
from torch import nn

from atento.spec import TrainRecipe

BETAS = (0.9, 0.98)  # a shorter memory of squared gradients than torch's: runs here are short


def adamw(module: nn.Module, recipe: TrainRecipe) -> torch.optim.Optimizer:
    """Weight decay on matrices only: biases, norms and vectors are left alone (Loshchilov & Hutter, 2019)."""
    matrices = [parameter for parameter in module.parameters() if parameter.dim() > 1]
    vectors = [parameter for parameter in module.parameters() if parameter.dim() <= 1]
    groups = [{"params": matrices, "weight_decay": recipe.weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=recipe.lr, betas=BETAS, fused=True)


def adam(module: nn.Module, recipe: TrainRecipe) -> torch.optim.Optimizer:
    """Kingma & Ba (2015)."""
    return torch.optim.Adam(module.parameters(), lr=recipe.lr, betas=BETAS, fused=True)


OPTIMISERS: dict[str, Callable[[nn.Module, TrainRecipe], torch.optim.Optimizer]] = {"adamw": adamw, "adam": adam}
