"""The learner: all that changes while a model is trained, which is what a checkpoint holds."""

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from atento.spec import Recipe
from atento.training.optimizers import OPTIMIZERS

SPAN = 10  # early in a run the EMA covers about its last tenth, without the random first weights


class WeightEMA:
    """An exponential moving average of the weights: a_t = b a_{t−1} + (1 − b) w_t, b = min(decay, (t − 1) / (t + 9)).

    (Polyak & Juditsky, 1992, with a moving window.) As b is 0 at the first step, no bias correction is needed.
    """

    def __init__(self, module: nn.Module, decay: float) -> None:
        self.decay = decay
        self.weights = {name: weight.detach().clone() for name, weight in module.named_parameters()}

    @torch.no_grad()
    def add(self, module: nn.Module, step: int) -> None:
        """Include the weights after a step; the first step is 1."""
        kept = min(self.decay, (step - 1) / (step - 1 + SPAN))
        torch._foreach_lerp_(list(self.weights.values()), list(module.parameters()), 1 - kept)

    def load(self, weights: dict[str, Tensor]) -> None:
        """Continue from another average of the same module."""
        for name, weight in self.weights.items():
            weight.copy_(weights[name])

    @contextmanager
    def applied_to(self, module: nn.Module) -> Iterator[None]:
        """Within it the module has the averaged weights, then its own again, bit for bit."""
        own = {name: weight.detach().clone() for name, weight in module.named_parameters()}
        copy_weights(module, self.weights)
        try:
            yield
        finally:
            copy_weights(module, own)


@torch.no_grad()
def copy_weights(module: nn.Module, weights: dict[str, Tensor]) -> None:
    """Copy weights into a module in place, so that its optimizer keeps the same tensors."""
    for name, weight in module.named_parameters():
        weight.copy_(weights[name])


@dataclass
class Progress:
    """The progress of a run."""

    step: int = 0
    epoch: int = 0
    position: int = 0  # batches of this epoch already taken
    examples: int = 0
    elapsed: float = 0.0  # seconds of training and validating, over all sessions
    validating: float = 0.0  # seconds of them spent on validations
    validations: int = 0  # due so far
    best: float = -math.inf  # of the selecting metric, larger is better
    best_step: int = 0
    stale: int = 0  # validations since the best one
    first_score: float | None = None  # of the headline metric, at the first validation
    moved: bool = False  # whether a later validation gave another score than the first
    first_loss: float | None = None  # of the first step
    lowest_loss: float = math.inf  # between two validations, in the mean
    loss_sum: float = 0.0  # of the steps since the last validation, as far as they were copied from the device
    loss_steps: int = 0  # how many they are
    stop_reason: str = ""  # why training ended; empty: it continues


@dataclass
class Learner:
    """A model, its optimizer and their progress."""

    module: nn.Module
    optimizer: torch.optim.Optimizer
    progress: Progress
    best_weights: dict[str, Tensor] = field(default_factory=dict)
    ema: WeightEMA | None = None  # of the weights; None: the weights themselves are validated and kept
    closed_form_statistics: Tensor | None = None  # (N, S) of the validation before the first step
    state: list[Tensor] = field(default_factory=list)  # recurrent state for the next of stateful batches

    def evaluation_weights(self) -> AbstractContextManager[None]:
        """Within it the module has the weights that are validated and kept: their EMA where there is one."""
        return nullcontext() if self.ema is None else self.ema.applied_to(self.module)

    def keep_best(self) -> None:
        """Store the weights as the best so far."""
        self.best_weights = {name: tensor.detach().clone() for name, tensor in self.module.state_dict().items()}

    def restore_best(self) -> None:
        """Restore the best weights; where nothing was validated, keep the last ones or their EMA."""
        if self.best_weights:
            self.module.load_state_dict(self.best_weights)
        elif self.ema is not None:
            copy_weights(self.module, self.ema.weights)


def new_learner(module: nn.Module, recipe: Recipe) -> Learner:
    """The learner of a new run."""
    train = recipe.train
    ema = WeightEMA(module, train.ema) if train.ema else None
    return Learner(module, OPTIMIZERS[train.optimizer](module, train), Progress(), ema=ema)


def progress_share(progress: Progress, recipe: Recipe, *, batches: int) -> float:
    """The share of the run that is done, by the nearest of its limits; `batches` is the number in this epoch."""
    train = recipe.train
    shares = [0.0]
    if train.steps:
        shares.append(progress.step / train.steps)
    if train.epochs:
        shares.append((progress.epoch + progress.position / max(1, batches)) / train.epochs)
    if train.budget:
        shares.append(progress.elapsed / train.budget)
    return max(shares)
