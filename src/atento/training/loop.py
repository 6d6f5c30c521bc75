"""The training loop: steps, validations and checkpoints. Read from `train` downwards."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

from atento.data.examples.batches import Order, Sampler
from atento.data.records import counted
from atento.errors import InputError, Interrupted, RunError
from atento.metrics.bootstrap import bootstrap_values
from atento.metrics.metric import Metric
from atento.recurrent.unroll import map_state
from atento.spec import Recipe, TrainRecipe
from atento.tasks.encoding import lengths_of
from atento.tasks.task import Codec, EvaluationExample, Indices, Task, judged
from atento.training.checkpoints import save_checkpoint
from atento.training.events import Event, EventLog, InterruptHandler
from atento.training.gradients import (
    Batch,
    backpropagate,
    backpropagate_stateful,
    validate_stateful,
    validate_truncation,
)
from atento.training.learner import Learner, Progress, progress_share
from atento.training.schedules import learning_rate
from atento.training.teacher_forcing import teacher_forcing_rate, validate_teacher_forcing

SECONDS_BETWEEN_EVENTS = 1.0
VALIDATION_TIME = 0.1  # share of the time that validations may take, where time is the limit
PATIENCE_FROM = 0.25  # share of a run before which validations do not count against the patience
FAR_ABOVE = 10  # times the loss of the first step, or 1 where that is less: by how much more a diverged loss exceeds it
STEPS_TO_DIVERGE = 10  # fewer may be outliers
OUT_OF_TIME = "time budget"


@dataclass(frozen=True)
class Plan:
    """All that does not change while a model is trained."""

    task: Task
    recipe: Recipe
    codec: Codec
    examples: Sequence[object]  # encoded training examples
    validation: Sequence[EvaluationExample]  # examples of a validation
    fingerprint: str
    device: torch.device
    folder: Path
    order: Order | None = None  # of the batches; None: examples of similar length together
    stateful: bool = False  # whether each batch continues from the recurrent state of the one before
    gather: Callable[[Indices], Batch] | None = None  # indices of examples -> their batch; None: by the task
    closed_form: bool = False  # whether the first weights are a closed-form solution, which training must beat

    def batch(self, indices: Indices) -> Batch:
        """The examples of these indices as tensors on the device."""
        if self.gather is not None:
            batch = self.gather(indices)
        else:
            batch = self.task.learning.batch(self.codec, [self.examples[index] for index in indices])
        return map_state(lambda part: part.to(self.device, non_blocking=True), batch)


def validate_training(task: Task, module: nn.Module, recipe: TrainRecipe) -> None:
    """Refuse settings that have no effect for this task and module, before anything is written."""
    validate_teacher_forcing(task, recipe)
    validate_truncation(task, module, recipe)
    validate_stateful(task, module, recipe)
    for key, hook in (("word_dropout", task.learning.word_dropout), ("class_weight", task.learning.class_weights)):
        if getattr(recipe, key) and hook is None:
            raise InputError(
                f"train.{key} has no meaning for the task {task.name}.",
                found=f"train.{key}={getattr(recipe, key)}",
                fix=f"leave train.{key} out",
            )


def train(plan: Plan, learner: Learner, log: EventLog) -> None:
    """Train until a limit is reached or the patience ends; then restore the best weights."""
    recipe, progress = plan.recipe, learner.progress
    order = plan.order or length_sampler(plan)
    began = time.perf_counter() - progress.elapsed
    recent = RecentLosses(closed_form=plan.closed_form)
    with InterruptHandler() as interrupt:
        if plan.closed_form and plan.validation and not progress.step:
            validate(plan, learner, log, share=0.0)
        while not progress.stop_reason:
            batches = order.epoch(progress.epoch)
            for indices in batches[progress.position :]:
                recent.add(take_step(plan, learner, indices, batches=len(batches)))
                progress.elapsed = time.perf_counter() - began
                share = progress_share(progress, recipe, batches=len(batches))
                due = int(min(share, 1.0) * recipe.train.validations)
                validating = due > progress.validations and (share >= 1.0 or validation_affordable(plan, learner))
                if recent.due() or validating:  # a diverged model is neither validated nor kept
                    log.add("step", **recent.facts(progress, share, lr=recipe.train.lr))
                if validating and plan.validation:
                    progress.validations = due
                    with learner.evaluation_weights():
                        validate(plan, learner, log, share=share)
                    progress.elapsed = time.perf_counter() - began
                if share >= 1.0 and not progress.stop_reason:
                    progress.stop_reason = limit_reached(progress, recipe.train)
                if progress.stop_reason or progress.step % recipe.train.checkpoint_every == 0 or interrupt.signal:
                    recent.copy(progress)
                    save_checkpoint(plan.folder, learner, fingerprint=plan.fingerprint)
                if progress.stop_reason:
                    break
                if interrupt.signal:
                    raise Interrupted(interrupt.signal, f"stopped at step {progress.step}; everything is saved.")
            else:
                progress.epoch, progress.position = progress.epoch + 1, 0
    learner.restore_best()


def length_sampler(plan: Plan) -> Sampler:
    """Batches of examples of similar length."""
    lengths = lengths_of(plan.task, plan.codec, plan.examples)
    return Sampler(lengths, batch_tokens=plan.recipe.train.batch_tokens, seed=plan.recipe.train.seed)


def take_step(plan: Plan, learner: Learner, indices: Indices, *, batches: int) -> Tensor:
    """Take one optimizer step on a batch; the mean loss."""
    recipe, progress = plan.recipe.train, learner.progress
    batch = plan.batch(indices)
    share = progress_share(progress, plan.recipe, batches=batches)
    for group in learner.optimizer.param_groups:
        group["lr"] = learning_rate(plan.recipe, progress.step + 1, share)
    learner.module.train()
    learner.optimizer.zero_grad(set_to_none=True)
    rate = teacher_forcing_rate(recipe, progress=share, epoch=progress.epoch)
    if rate < 1.0 and plan.task.learning.scheduled_sampling is not None:
        batch = plan.task.learning.scheduled_sampling(learner.module, batch, rate, recipe.sampled_tokens)
    if recipe.word_dropout and plan.task.learning.word_dropout is not None:
        batch = plan.task.learning.word_dropout(batch, recipe.word_dropout)
    if plan.stateful and plan.task.learning.truncated_bptt is not None:
        loss = backpropagate_stateful(plan.task.learning.truncated_bptt, learner, batch, recipe, plan.device)
    else:
        loss = backpropagate(plan.task, learner.module, batch, recipe, plan.device)
    clip_gradients(learner.module, recipe)
    learner.optimizer.step()
    progress.step += 1
    if learner.ema is not None:
        learner.ema.add(learner.module, progress.step)
    progress.position += 1
    progress.examples += len(indices)
    return loss


def clip_gradients(module: nn.Module, recipe: TrainRecipe) -> None:
    """Clip the gradient by value, which may change its direction, then by norm (Pascanu et al., 2013)."""
    if recipe.clip_value:
        clip_grad_value_(module.parameters(), recipe.clip_value)
    if recipe.clip:
        clip_grad_norm_(module.parameters(), recipe.clip)


def validation_affordable(plan: Plan, learner: Learner) -> bool:
    """Whether a validation that is due fits in its share of the time, where time is the limit."""
    progress = learner.progress
    return not plan.recipe.train.budget or progress.validating <= VALIDATION_TIME * progress.elapsed


def validate(plan: Plan, learner: Learner, log: EventLog, *, share: float) -> None:
    """Score the model on the validation examples, keep the best weights, and stop where the patience ends."""
    progress, started = learner.progress, time.perf_counter()
    learner.module.eval()
    if plan.task.learning.calibrate is not None:  # weights are compared as they will be used
        plan.task.learning.calibrate(learner.module, plan.codec, plan.validation)
    sources = [example.source for example in plan.validation]
    outputs, _ = judged(plan.task, learner.module, plan.codec, sources, plan.recipe.decode)
    references = [example.references for example in plan.validation]
    metrics = {
        metric.name: metric.for_sources(sources).value(outputs, references)
        for metric in plan.task.judging.metrics(plan.codec)
    }
    selects = plan.task.judging.selects or plan.task.judging.metrics(plan.codec)[0]
    chosen = selects.to_maximize(metrics[selects.name])
    if plan.closed_form and not progress.step:
        learner.closed_form_statistics = torch.from_numpy(selects.for_sources(sources).statistics(outputs, references))
    headline = plan.task.judging.metrics(plan.codec)[0]
    still_falling = loss_falls_at_the_floor(progress, headline, metrics[headline.name])
    if chosen > progress.best and beats_closed_form(learner, selects.for_sources(sources), outputs, references):
        progress.best, progress.best_step, progress.stale = chosen, progress.step, 0
        learner.keep_best()
    elif still_falling:
        progress.stale = 0
    elif share > PATIENCE_FROM:
        progress.stale += 1
        if progress.stale >= plan.recipe.train.patience:
            progress.stop_reason = (
                f"no better than step {progress.best_step} in {counted(progress.stale, 'validation')}"
            )
    took = time.perf_counter() - started
    progress.validating += took
    log.add(
        "validation",
        step=progress.step,
        elapsed=round(progress.elapsed, 3),
        metrics={name: value if math.isfinite(value) else None for name, value in metrics.items()},
        best_step=progress.best_step,
        took=round(took, 3),
    )


def loss_falls_at_the_floor(progress: Progress, headline: Metric, score: float) -> bool:
    """Whether the headline metric is what it was at the first validation, as exact match is 0 for long, while the mean
    loss between two validations is lower than ever; the patience then waits for the loss.
    """
    if progress.first_score is None:
        progress.first_score = score
    progress.moved |= score != progress.first_score
    loss = progress.loss_sum / progress.loss_steps if progress.loss_steps else math.inf
    falls = loss < progress.lowest_loss
    progress.lowest_loss = min(loss, progress.lowest_loss)
    progress.loss_sum, progress.loss_steps = 0.0, 0
    perfect = 0.0 if headline.smaller_is_better else 1.0
    return falls and not progress.moved and score != perfect


def limit_reached(progress: Progress, train: TrainRecipe) -> str:
    """Which limit ended a run, in words."""
    if train.steps and progress.step >= train.steps:
        return f"all {counted(train.steps, 'step')} taken"
    if train.budget and progress.elapsed >= train.budget:
        return f"{OUT_OF_TIME} of {train.budget:.4g} s used up"
    return f"all {counted(train.epochs, 'epoch')} taken"


def beats_closed_form(
    learner: Learner, metric: Metric, outputs: Sequence[object], references: Sequence[Sequence[object]]
) -> bool:
    """Whether the model beats the closed form it began with by more than a standard error of the difference.

    (The one-standard-error rule of Breiman et al., 1984, sec. 3.4.3.) Always true for a random start.
    """
    closed_form = learner.closed_form_statistics
    if closed_form is None or not learner.progress.step:
        return True
    now = bootstrap_values(metric, metric.statistics(outputs, references))
    gains = now - bootstrap_values(metric, closed_form.numpy())
    return bool(metric.to_maximize(1.0) * gains.mean() > gains.std())


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

    def copy(self, progress: Progress) -> None:
        """Copy the losses from the device into the progress, where a checkpoint keeps them."""
        if not self.losses:
            return
        losses = torch.stack(self.losses).double()
        progress.first_loss = losses[0].item() if progress.first_loss is None else progress.first_loss
        total, count = losses.sum().item(), len(losses)
        progress.loss_sum, progress.loss_steps = progress.loss_sum + total, progress.loss_steps + count
        self.losses, self.sum, self.steps = [], self.sum + total, self.steps + count

    def due(self) -> bool:
        """Whether it is time for an event."""
        return time.perf_counter() - self.last >= SECONDS_BETWEEN_EVENTS

    def facts(self, progress: Progress, share: float, *, lr: float) -> Event:
        """The facts of a step event; a loss that is not finite, or far above that of the first step, ends the run."""
        self.copy(progress)
        loss = self.sum / self.steps
        if diverged(progress) and not (self.closed_form and math.isfinite(loss)):
            raise RunError(
                f"training diverged at step {progress.step}.",
                found=f"loss {loss:.4g}; {progress.first_loss:.4g} at the first step",
                fix=f"--set train.lr={lr / 10:.1g}",
            )
        self.sum, self.steps, self.last = 0.0, 0, time.perf_counter()
        return {
            "step": progress.step,
            "epoch": progress.epoch,
            "loss": float(f"{loss:.6g}"),
            "progress": round(min(share, 1.0), 4),
            "elapsed": round(progress.elapsed, 3),
            "examples_per_second": round(progress.examples / max(progress.elapsed, 1e-9), 1),
        }
