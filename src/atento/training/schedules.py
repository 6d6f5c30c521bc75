"""The learning rate: a warm-up times a decay, or Noam's formula, which is both."""

import math
from collections.abc import Callable
from typing import NamedTuple

from atento.errors import InputError
from atento.spec import Recipe, TrainRecipe

LEFT = 0.01  # share of the highest rate at the end of an exponential decay


class Moment(NamedTuple):
    """Where a run stands."""

    step: int  # the first is 1
    over: float  # share of the run that is over, 0 to 1
    span: float  # τ, the steps of its warm-up; 0: it has none


class WarmUp(NamedTuple):
    """How the rate rises: over how many steps τ, and to which share of the highest rate at each."""

    span: Callable[[TrainRecipe], float]
    share: Callable[[int, float], float]


def chosen(train: TrainRecipe) -> float:
    """τ as the recipe says."""
    return train.warmup


def rising_line(step: int, span: float) -> float:
    """min(1, t / τ)."""
    return min(1.0, step / span) if span else 1.0


def rising_curve(step: int, span: float) -> float:
    """1 − exp(−t / τ)."""
    return 1 - math.exp(-step / span) if span else 1.0


# untuned ones follow from β₂, the memory of squared gradients (Ma & Yarats, 2021, sec. 5)
WARM_UPS: dict[str, WarmUp] = {
    "linear": WarmUp(chosen, rising_line),
    "exponential": WarmUp(chosen, rising_curve),
    "untuned-linear": WarmUp(lambda train: 2 / (1 - train.beta2), rising_line),
    "untuned-exponential": WarmUp(lambda train: 1 / (1 - train.beta2), rising_curve),
    "none": WarmUp(lambda train: 0.0, rising_line),
}

DECAYS: dict[str, Callable[[Moment], float]] = {  # share of the highest rate
    "linear": lambda now: 1 - now.over,
    "cosine": lambda now: (1 + math.cos(math.pi * now.over)) / 2,
    "exponential": lambda now: LEFT**now.over,
    "inverse-sqrt": lambda now: math.sqrt(max(now.span, 1) / max(now.span, now.step)),
    "constant": lambda now: 1.0,
}


def learning_rate(recipe: Recipe, step: int, over: float) -> float:
    """The rate of a step (the first is 1), given the share of the run that is over."""
    train = recipe.train
    if train.decay == "noam":
        return noam(step, width=recipe.model.hidden, warmup=train.warmup)
    warm_up = WARM_UPS[train.warmup_shape]
    span = warm_up.span(train)
    now = Moment(step, min(max(over, 0.0), 1.0), span)
    return train.lr * warm_up.share(step, span) * DECAYS[train.decay](now)


def noam(step: int, *, width: int, warmup: int) -> float:
    """d^−½ min(s^−½, s w^−1.5) (Vaswani et al., 2017, eq. 3): it peaks at step w, at (d w)^−½."""
    if warmup < 1:
        raise InputError(
            "Noam's rate needs a warm-up: before it ends, the rate is s · warmup^−1.5.",
            found=f"warmup={warmup}",
            fix="give 4000, or any number of steps from 1",
        )
    return width**-0.5 * min(step**-0.5, step * warmup**-1.5)
