"""All that changes while a model learns, in one place: what a checkpoint holds.

A running mean of the weights: steadier than the weights themselves while steps are still long.
"""

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from atento.spec import Recipe
from atento.training.optimisers import OPTIMISERS

SPAN = 10  # while a run is young the mean holds about its last tenth: the first weights know nothing


class RunningMean:
    """a_t = b a_{t−1} + (1 − b) w_t with b = min(memory, (t − 1) / (t + 9)) (Polyak & Juditsky, 1992, over a moving
    stretch). As b is 0 at the first step, the weights of all terms sum to 1 and nothing is owed to a start from zero.
    """

    def __init__(self, module: nn.Module, memory: float) -> None:
        self.memory = memory
        self.weights = {name: weight.detach().clone() for name, weight in module.named_parameters()}

    @torch.no_grad()
    def add(self, module: nn.Module, step: int) -> None:
        """The weights after a step; the first step is 1."""
        kept = min(self.memory, (step - 1) / (step - 1 + SPAN))
        torch._foreach_lerp_(list(self.weights.values()), list(module.parameters()), 1 - kept)

    @torch.no_grad()
    def put_into(self, module: nn.Module) -> None:
        """The mean becomes the module's weights."""
        copy_into(module, self.weights)

    def replace(self, weights: dict[str, Tensor]) -> None:
        """Go on from another mean, of the same module."""
        for name, weight in self.weights.items():
            weight.copy_(weights[name])

    @contextmanager
    def inside(self, module: nn.Module) -> Iterator[None]:
        """The mean in the module, then its own weights again, bit for bit."""
        own = {name: weight.detach().clone() for name, weight in module.named_parameters()}
        self.put_into(module)
        try:
            yield
        finally:
            copy_into(module, own)


@torch.no_grad()
def copy_into(module: nn.Module, weights: dict[str, Tensor]) -> None:
    """These weights, in place: an optimiser goes on with the very same tensors."""
    for name, weight in module.named_parameters():
        weight.copy_(weights[name])


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
