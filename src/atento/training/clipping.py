"""Clipping: a gradient that has exploded still points somewhere; only its size is bounded (Pascanu et al., 2013)."""

from torch import nn
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

from atento.spec import TrainRecipe


def clip_gradients(module: nn.Module, recipe: TrainRecipe) -> None:
    """First each number by itself, which may turn the gradient, then the norm of the whole, which only shortens it."""
    if recipe.clip_value:
        clip_grad_value_(module.parameters(), recipe.clip_value)
    if recipe.clip:
        clip_grad_norm_(module.parameters(), recipe.clip)
