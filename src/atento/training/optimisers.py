"""Optimisers by name, in torch's fastest form. β₁ is the memory of gradients, β₂ that of their squares."""

import math
from collections.abc import Callable

import torch
from torch import nn

from atento.errors import InputError
from atento.spec import TrainRecipe

SHORTEST = 5.0  # torch's RAdam divides by the spread of gradients from ρ > 5 on; the paper from ρ > 4


def sgd(module: nn.Module, recipe: TrainRecipe) -> torch.optim.Optimizer:
    """Down the gradient: w ← w − lr g (Robbins & Monro, 1951)."""
    return torch.optim.SGD(module.parameters(), lr=recipe.lr, fused=True)


def momentum(module: nn.Module, recipe: TrainRecipe) -> torch.optim.Optimizer:
    """v ← β₁ v + g, w ← w − lr v (Polyak, 1964)."""
    return torch.optim.SGD(module.parameters(), lr=recipe.lr, momentum=recipe.beta1, fused=True)


def nesterov(module: nn.Module, recipe: TrainRecipe) -> torch.optim.Optimizer:
    """Momentum that looks ahead: w ← w − lr (g + β₁ v) (Sutskever et al., 2013)."""
    if not recipe.beta1:
        raise InputError("nesterov needs a memory to look ahead with.", found="train.beta1=0", fix="use sgd")
    return torch.optim.SGD(module.parameters(), lr=recipe.lr, momentum=recipe.beta1, nesterov=True, fused=True)


def rmsprop(module: nn.Module, recipe: TrainRecipe) -> torch.optim.Optimizer:
    """s ← β₂ s + (1 − β₂) g², w ← w − lr g / √s (Tieleman & Hinton, 2012)."""
    return torch.optim.RMSprop(module.parameters(), lr=recipe.lr, alpha=recipe.beta2, foreach=True)


def adam(module: nn.Module, recipe: TrainRecipe) -> torch.optim.Optimizer:
    """Kingma & Ba (2015)."""
    return torch.optim.Adam(module.parameters(), lr=recipe.lr, betas=(recipe.beta1, recipe.beta2), fused=True)


def adamw(module: nn.Module, recipe: TrainRecipe) -> torch.optim.Optimizer:
    """Weight decay on matrices only: biases, norms and vectors are left alone (Loshchilov & Hutter, 2019)."""
    matrices = [parameter for parameter in module.parameters() if parameter.dim() > 1]
    vectors = [parameter for parameter in module.parameters() if parameter.dim() <= 1]
    groups = [{"params": matrices, "weight_decay": recipe.weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=recipe.lr, betas=(recipe.beta1, recipe.beta2), fused=True)


def radam(module: nn.Module, recipe: TrainRecipe) -> torch.optim.Optimizer:
    """Adam whose steps are shortened while the spread of gradients is known badly (Liu et al., 2020, alg. 2)."""
    return torch.optim.RAdam(module.parameters(), lr=recipe.lr, betas=(recipe.beta1, recipe.beta2), foreach=True)


OPTIMISERS: dict[str, Callable[[nn.Module, TrainRecipe], torch.optim.Optimizer]] = {
    "adamw": adamw,
    "adam": adam,
    "radam": radam,
    "rmsprop": rmsprop,
    "sgd": sgd,
    "momentum": momentum,
    "nesterov": nesterov,
}


def rectification(step: int, beta2: float, *, shortest: float = SHORTEST) -> float:
    """r_t, the factor on RAdam's adaptive step; 0 while ρ_t ≤ `shortest`, where it takes a plain momentum step instead.

    ρ∞ = 2 / (1 − β₂) − 1, ρ_t = ρ∞ − 2 t β₂ᵗ / (1 − β₂ᵗ),
    r_t = √((ρ_t − 4)(ρ_t − 2) ρ∞ / ((ρ∞ − 4)(ρ∞ − 2) ρ_t)) (Liu et al., 2020, alg. 2).
    """
    if step < 1 or not 0 <= beta2 < 1 or shortest < 4:
        raise InputError(
            "rectification: step from 1, beta2 from 0 to below 1, shortest from 4.",
            found=f"step={step}, beta2={beta2}, shortest={shortest}",
            fix="e.g. rectification(100, 0.999)",
        )
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * step * beta2**step / (1 - beta2**step)
    if length <= shortest:
        return 0.0
    return math.sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length))
