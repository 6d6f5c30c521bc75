"""The learner: all that changes while a model is trained, which is what a checkpoint holds."""

import math
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, fields

import torch
from torch import Tensor, nn

from atento.errors import RunError
from atento.spec import Recipe
from atento.training.events import Event
from atento.training.optimizers import OPTIMIZERS

SECONDS_BETWEEN_EVENTS = 1.0
FAR_ABOVE = 10  # times the loss of the first step, or 1 where that is less: by how much more a diverged loss exceeds it
STEPS_TO_DIVERGE = 10  # fewer may be outliers

MOST_STEPS = 2**53  # the largest count that a float holds exactly
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
    best_loss: float | None = None  # on the validation examples at that step, which decides between equal metrics
    gain_step: int = 0  # of the last validation that raised the metric; the best step may be a later one of lower loss
    stale: int = 0  # validations since that one
    plateaus: int = 0  # validations without improvement, over the whole run
    first_score: float | None = None  # of the headline metric, at the first validation
    moved: bool = False  # whether a later validation gave another score than the first
    first_loss: float | None = None  # of the first step
    lowest_loss: float = math.inf  # between two validations, in the mean
    loss_sum: float = 0.0  # of the steps since the last validation, as far as they were copied from the device
    loss_steps: int = 0  # how many they are
    stop_reason: str = ""  # why training ended; empty: it continues


def impossible_value(progress: Progress) -> str:
    """The first value of a progress that no run can have reached, as `step = -5`; empty where all are possible."""
    for place in fields(progress):
        value = getattr(progress, place.name)
        if place.type is int:
            most = progress.step if place.name in ("epoch", "position", "best_step", "gain_step") else MOST_STEPS
            possible = type(value) is int and 0 <= value <= most
        elif place.type is float:
            least = 0.0 if place.name in ("elapsed", "validating") else -math.inf
            below = value < math.inf or place.name == "lowest_loss"
            possible = type(value) in (int, float) and least <= value and below  # NaN is neither
        else:
            possible = isinstance(value, place.type)  # type: ignore[arg-type]  # no annotation here is a string
        if not possible:
            return f"{place.name} = {value!r}"
    return ""


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
    gradient_norm: Tensor | None = None  # of the last step, before it was clipped by norm; in no checkpoint

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


def diverged(progress: Progress) -> bool:
    """Whether the mean loss since the last validation is not finite, or far above the loss of the first step."""
    loss, first = progress.loss_sum / progress.loss_steps, progress.first_loss or 0.0
    far = loss > first + FAR_ABOVE * max(1.0, abs(first)) and progress.loss_steps >= STEPS_TO_DIVERGE
    return far or not math.isfinite(loss)


class RecentLosses:
    """The mean loss since the last event, copied from the device only for an event or a checkpoint."""

    def __init__(self, *, closed_form: bool = False) -> None:
        self.closed_form = closed_form  # whether a model that is worse in the end stays as it began
        self.losses: list[Tensor] = []  # on the device
        self.sum, self.steps = 0.0, 0  # of those since the last event that were copied
        self.last = time.perf_counter()

    def add(self, loss: Tensor) -> None:
        """Add the loss of a step."""
        self.losses.append(loss)

    def copy(self, progress: Progress, *, lr: float) -> None:
        """Copy the losses from the device into the progress, where a checkpoint keeps them; losses that are not finite,
        or far above that of the first step, end the run.
        """
        if not self.losses:
            return
        losses = torch.stack(self.losses).double()
        progress.first_loss = losses[0].item() if progress.first_loss is None else progress.first_loss
        total, count = losses.sum().item(), len(losses)
        progress.loss_sum, progress.loss_steps = progress.loss_sum + total, progress.loss_steps + count
        self.losses, self.sum, self.steps = [], self.sum + total, self.steps + count
        loss = self.sum / self.steps
        if diverged(progress) and not (self.closed_form and math.isfinite(loss)):
            raise RunError(
                f"training diverged at step {progress.step}.",
                found=f"loss {loss:.4g}; {progress.first_loss:.4g} at the first step",
                fix=f"--set train.lr={lr / 10:.1g}",
            )

    def due(self) -> bool:
        """Whether it is time for an event."""
        return time.perf_counter() - self.last >= SECONDS_BETWEEN_EVENTS

    def facts(self, progress: Progress, share: float, *, lr: float) -> Event:
        """The facts of a step event."""
        self.copy(progress, lr=lr)
        loss = self.sum / self.steps
        self.sum, self.steps, self.last = 0.0, 0, time.perf_counter()
        return {
            "step": progress.step,
            "epoch": progress.epoch,
            "loss": float(f"{loss:.6g}"),
            "progress": round(min(share, 1.0), 4),
            "elapsed": round(progress.elapsed, 3),
            "examples_per_second": round(progress.examples / max(progress.elapsed, 1e-9), 1),
        }
