"""Optimizers by name, in torch's fastest form. β₁ is the decay of the mean of gradients, β₂ that of their squares."""

from collections.abc import Callable

import torch
from torch import nn

from atento.errors import InputError
from atento.layers.uncompiled import without_compiler
from atento.spec import TrainRecipe
from atento.training.distributed.strategies import is_shard

Adam = without_compiler(torch.optim.Adam)
AdamW = without_compiler(torch.optim.AdamW)
RAdam = without_compiler(torch.optim.RAdam)
RMSprop = without_compiler(torch.optim.RMSprop)
SGD = without_compiler(torch.optim.SGD)


def sgd(module: nn.Module, recipe: TrainRecipe) -> torch.optim.Optimizer:
    """Stochastic gradient descent: w ← w − lr g (Robbins & Monro, 1951)."""
    return SGD(module.parameters(), lr=recipe.lr, fused=not is_sharded(module))


def momentum(module: nn.Module, recipe: TrainRecipe) -> torch.optim.Optimizer:
    """SGD with momentum: v ← β₁ v + g, w ← w − lr v (Polyak, 1964)."""
    fused = not is_sharded(module)
    return SGD(module.parameters(), lr=recipe.lr, momentum=recipe.beta1, fused=fused)


def nesterov(module: nn.Module, recipe: TrainRecipe) -> torch.optim.Optimizer:
    """Nesterov momentum: w ← w − lr (g + β₁ v) (Sutskever et al., 2013)."""
    if not recipe.beta1:
        raise InputError("nesterov needs momentum.", found="train.beta1=0", fix="a larger train.beta1, or sgd")
    fused = not is_sharded(module)
    return SGD(module.parameters(), lr=recipe.lr, momentum=recipe.beta1, nesterov=True, fused=fused)


def rmsprop(module: nn.Module, recipe: TrainRecipe) -> torch.optim.Optimizer:
    """RMSprop: s ← β₂ s + (1 − β₂) g², w ← w − lr g / √s (Tieleman & Hinton, 2012)."""
    return RMSprop(module.parameters(), lr=recipe.lr, alpha=recipe.beta2, foreach=True)


def adam(module: nn.Module, recipe: TrainRecipe) -> torch.optim.Optimizer:
    """Adam (Kingma & Ba, 2015)."""
    return Adam(module.parameters(), lr=recipe.lr, betas=(recipe.beta1, recipe.beta2), fused=True)


def adamw(module: nn.Module, recipe: TrainRecipe) -> torch.optim.Optimizer:
    """Adam with decoupled weight decay, on matrices only, not on biases and norms (Loshchilov & Hutter, 2019)."""
    matrices = [parameter for parameter in module.parameters() if parameter.dim() > 1]
    vectors = [parameter for parameter in module.parameters() if parameter.dim() <= 1]
    groups = [{"params": matrices, "weight_decay": recipe.weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    return AdamW(groups, lr=recipe.lr, betas=(recipe.beta1, recipe.beta2), fused=True)


def radam(module: nn.Module, recipe: TrainRecipe) -> torch.optim.Optimizer:
    """Rectified Adam: short steps while the variance of the adaptive rate is high (Liu et al., 2020, alg. 2)."""
    return RAdam(module.parameters(), lr=recipe.lr, betas=(recipe.beta1, recipe.beta2), foreach=True)


def is_sharded(module: nn.Module) -> bool:
    """Whether the weights are shards by FSDP2, for which torch has no fused SGD."""
    return any(is_shard(weight) for weight in module.parameters())


OPTIMIZERS: dict[str, Callable[[nn.Module, TrainRecipe], torch.optim.Optimizer]] = {
    "adamw": adamw,
    "adam": adam,
    "radam": radam,
    "rmsprop": rmsprop,
    "sgd": sgd,
    "momentum": momentum,
    "nesterov": nesterov,
}
