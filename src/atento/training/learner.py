"""All that changes while a model learns, in one place: what a checkpoint holds."""

import math
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from atento.spec import Recipe
from atento.training.averaging import RunningMean
from atento.training.optimisers import OPTIMISERS


@dataclass
class Progress:
    """Where a run stands."""

    step: int = 0
    epoch: int = 0
    position: int = 0  # batches of this epoch already taken
    examples: int = 0
    elapsed: float = 0.0  # seconds of training and validating, over all sessions
    validating: float = 0.0  # seconds of them spent on validations
    validations: int = 0  # those that were due so far
    best: float = -math.inf  # the larger the better
    best_step: int = 0
    stale: int = 0  # validations since the best one
    done: str = ""  # why training ended; empty: it goes on


@dataclass
class Learner:
    """A model, its optimiser, and where they stand."""

    module: nn.Module
    optimiser: torch.optim.Optimizer
    progress: Progress
    best_weights: dict[str, Tensor] = field(default_factory=dict)
    mean: RunningMean | None = None  # of the weights; None: they are judged as they are
    first: Tensor | None = None  # (N, S) how a model that began in closed form answered the validation's questions
    carried: list[Tensor] = field(default_factory=list)  # the state that the next batch goes on from

    def judged_weights(self) -> AbstractContextManager[None]:
        """Within it the module has the weights that are validated and kept: their mean where there is one."""
        return nullcontext() if self.mean is None else self.mean.inside(self.module)

    def keep_best(self) -> None:
        """Remember these weights as the best so far."""
        self.best_weights = {name: tensor.detach().clone() for name, tensor in self.module.state_dict().items()}

    def restore_best(self) -> None:
        """Go back to the best weights; where nothing was ever validated, to the last ones or their mean."""
        if self.best_weights:
            self.module.load_state_dict(self.best_weights)
        elif self.mean is not None:
            self.mean.put_into(self.module)


def new_learner(module: nn.Module, recipe: Recipe) -> Learner:
    """At the very start."""
    train = recipe.train
    mean = RunningMean(module, train.average) if train.average else None
    return Learner(module, OPTIMISERS[train.optimiser](module, train), Progress(), mean=mean)


def over(progress: Progress, recipe: Recipe, *, batches: int) -> float:
    """The share of the run that is over, by whichever limit is nearest; `batches` are in the present epoch."""
    train = recipe.train
    shares = [0.0]
    if train.steps:
        shares.append(progress.step / train.steps)
    if train.epochs:
        shares.append((progress.epoch + progress.position / max(1, batches)) / train.epochs)
    if train.budget:
        shares.append(progress.elapsed / train.budget)
    return max(shares)
