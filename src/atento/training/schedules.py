"""The learning rate: a warm-up times a decay."""

import math
from collections.abc import Callable

from atento.spec import TrainRecipe

DECAYS: dict[str, Callable[[float], float]] = {  # share of the run that is over -> share of the highest rate
    "linear": lambda over: 1 - over,
    "cosine": lambda over: (1 + math.cos(math.pi * over)) / 2,
    "constant": lambda over: 1.0,
}


def learning_rate(recipe: TrainRecipe, step: int, over: float) -> float:
    """The rate of a step (the first is 1), given the share of the run that is over."""
    warm = min(1.0, step / recipe.warmup) if recipe.warmup else 1.0
    return recipe.lr * warm * DECAYS[recipe.decay](min(max(over, 0.0), 1.0))
