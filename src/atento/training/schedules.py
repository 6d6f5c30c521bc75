"""Learning-rate schedules: a warm-up times a decay, or Noam's formula, which is both."""

import math
from collections.abc import Callable
from typing import NamedTuple

from atento.errors import InputError
from atento.spec import Recipe, TrainRecipe

FINAL_SHARE = 0.01  # of the peak rate, at the end of an exponential decay
TRACTABLE = 5.0  # effective length of the average of squared gradients from which on torch rectifies; 4 in the paper


class SchedulePoint(NamedTuple):
    """What a decay depends on."""

    step: int  # the first is 1
    progress: float  # share of the run that is done, 0 to 1
    warmup: float  # τ, the steps of the warm-up; 0: none
    plateau: float = 1.0  # the factors of all validations without improvement so far, multiplied


class WarmUp(NamedTuple):
    """A warm-up: its number of steps τ, and the share of the peak rate at each step."""

    steps: Callable[[TrainRecipe], float]
    share: Callable[[int, float], float]  # step, τ


def recipe_warmup(train: TrainRecipe) -> float:
    """τ of the recipe."""
    return train.warmup


def linear_warmup(step: int, steps: float) -> float:
    """min(1, t / τ)."""
    return min(1.0, step / steps) if steps else 1.0


def exponential_warmup(step: int, steps: float) -> float:
    """1 − exp(−t / τ)."""
    return 1 - math.exp(-step / steps) if steps else 1.0


# the untuned ones follow from β₂, the decay of squared gradients (Ma & Yarats, 2021, sec. 5)
WARM_UPS: dict[str, WarmUp] = {
    "linear": WarmUp(recipe_warmup, linear_warmup),
    "exponential": WarmUp(recipe_warmup, exponential_warmup),
    "untuned-linear": WarmUp(lambda train: 2 / (1 - train.beta2), linear_warmup),
    "untuned-exponential": WarmUp(lambda train: 1 / (1 - train.beta2), exponential_warmup),
    "none": WarmUp(lambda train: 0.0, linear_warmup),
}

DECAYS: dict[str, Callable[[SchedulePoint], float]] = {  # share of the peak rate
    "linear": lambda now: 1 - now.progress,
    "cosine": lambda now: (1 + math.cos(math.pi * now.progress)) / 2,
    "exponential": lambda now: FINAL_SHARE**now.progress,
    "inverse-sqrt": lambda now: math.sqrt(max(now.warmup, 1) / max(now.warmup, now.step)),
    "constant": lambda now: 1.0,
    "plateau": lambda now: now.plateau,
}


def learning_rate(recipe: Recipe, step: int, progress: float, *, plateaus: int = 0) -> float:
    """The learning rate of a step (the first is 1), given the share of the run that is done and how many validations
    without improvement were before it.
    """
    train = recipe.train
    if train.decay == "noam":
        return noam(step, width=recipe.model.hidden, warmup=train.warmup)
    warm_up = WARM_UPS[train.warmup_shape]
    warmup = warm_up.steps(train)
    now = SchedulePoint(step, min(max(progress, 0.0), 1.0), warmup, train.plateau_factor**plateaus)
    return train.lr * warm_up.share(step, warmup) * DECAYS[train.decay](now)


def noam(step: int, *, width: int, warmup: int) -> float:
    """d^−½ min(s^−½, s w^−1.5) (Vaswani et al., 2017, eq. 3): it peaks at step w, at (d w)^−½."""
    if warmup < 1:
        raise InputError(
            "Noam's schedule needs a warm-up of at least one step.",
            found=f"warmup={warmup}",
            fix="give 4000, or any number of steps from 1",
        )
    return width**-0.5 * min(step**-0.5, step * warmup**-1.5)


def rectification(step: int, beta2: float) -> float | None:
    """RAdam's factor r_t of an adaptive step (Liu et al., 2020, eq. 6); None while the variance has no estimate, when
    the step is plain momentum.
    """
    longest = 2 / (1 - beta2) - 1  # ρ_∞
    length = longest - 2 * step * beta2**step / (1 - beta2**step)  # ρ_t
    if length <= TRACTABLE:
        return None
    return math.sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length))
