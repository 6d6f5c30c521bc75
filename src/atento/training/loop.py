"""The loop: batches in, a better model out. Read from `train` downwards.

Clipping: a gradient that has exploded still points somewhere; only its size is bounded (Pascanu et al., 2013).
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

from atento.data.examples.batches import Order, Sampler
from atento.errors import InputError, Interrupted, RunError
from atento.metrics.bootstrap import resampled
from atento.metrics.metric import Metric
from atento.spec import Recipe, TrainRecipe
from atento.tasks.task import Question, Task, judged, lengths_of
from atento.training.checkpoints import save_checkpoint
from atento.training.events import EventLog, Interrupts
from atento.training.gradients import learn, learn_on, require_memory, require_steps
from atento.training.learner import Learner, over
from atento.training.schedules import learning_rate
from atento.training.teacher_forcing import require_pupil, true_share


def clip_gradients(module: nn.Module, recipe: TrainRecipe) -> None:
    """First each number by itself, which may turn the gradient, then the norm of the whole, which only shortens it."""
    if recipe.clip_value:
        clip_grad_value_(module.parameters(), recipe.clip_value)
    if recipe.clip:
        clip_grad_norm_(module.parameters(), recipe.clip)


SECONDS_BETWEEN_EVENTS = 1.0
VALIDATING = 0.1  # share of the time
SETTLING = 0.25  # share of a run in which a validation that is no better says nothing yet


@dataclass(frozen=True)
class Plan:
    """All that does not change while a model learns."""

    task: Task
    recipe: Recipe
    codec: Any
    examples: Sequence[Any]  # encoded training examples
    questions: Sequence[Question]  # what a validation answers
    fingerprint: str
    device: torch.device
    folder: Path
    order: Order | None = None  # in which examples come; None: like lengths together
    carried: bool = False  # whether each batch goes on from the state the one before it left
    gather: Callable[[Any], Any] | None = None  # numbers of examples -> their batch; None: one by one
    solved: bool = False  # whether the first weights are a simple model in closed form, which training has to surpass

    def batch(self, indices: Sequence[int]) -> Any:
        """The examples of these numbers as tensors on the device."""
        if self.gather is not None:
            batch = self.gather(indices)
        else:
            batch = self.task.batch([self.examples[index] for index in indices])
        return type(batch)(*(part.to(self.device, non_blocking=True) for part in batch))


def require_sense(task: Task, module: nn.Module, recipe: TrainRecipe) -> None:
    """A way of learning that means nothing for this task and module is refused before anything is written."""
    require_pupil(task, recipe)
    require_steps(task, module, recipe)
    require_memory(task, module, recipe)
    for key, hook in (("word_dropout", task.blur), ("balance", task.weigh)):
        if getattr(recipe, key) and hook is None:
            raise InputError(
                f"train.{key} has no meaning for the task {task.name}.",
                found=f"train.{key}={getattr(recipe, key)}",
                fix=f"leave train.{key} out",
            )


def train(plan: Plan, learner: Learner, log: EventLog) -> None:
    """Learn until a limit is reached or nothing gets better; then the best weights are put back."""
    recipe, progress = plan.recipe, learner.progress
    order = plan.order or by_length(plan)
    clock = Clock(progress.elapsed)
    recent = Recent()
    with Interrupts() as asked:
        if plan.solved and plan.questions and not progress.step:
            validate(plan, learner, log, finished=0.0)
        while not progress.done:
            batches = order.epoch(progress.epoch)
            for indices in batches[progress.position :]:
                recent.add(take_step(plan, learner, indices, batches=len(batches)))
                progress.elapsed = clock.read()
                finished = over(progress, recipe, batches=len(batches))
                due = int(min(finished, 1.0) * recipe.train.validations)
                validating = due > progress.validations and (finished >= 1.0 or affordable(plan, learner))
                if recent.due() or validating:  # what diverged is neither validated nor kept
                    log.add("step", **recent.facts(progress, finished))
                if validating and plan.questions:
                    progress.validations = due
                    with learner.judged_weights():
                        validate(plan, learner, log, finished=finished)
                    progress.elapsed = clock.read()
                if finished >= 1.0 and not progress.done:
                    progress.done = "its limit was reached"
                if progress.done or progress.step % recipe.train.checkpoint_every == 0 or asked.signal:
                    save_checkpoint(plan.folder, learner, fingerprint=plan.fingerprint)
                if progress.done:
                    break
                if asked.signal:
                    raise Interrupted(asked.signal, f"stopped at step {progress.step}; everything is saved.")
            else:
                progress.epoch, progress.position = progress.epoch + 1, 0
    learner.restore_best()


def by_length(plan: Plan) -> Sampler:
    """Examples of like length together."""
    lengths = lengths_of(plan.task, plan.examples)
    return Sampler(lengths, batch_tokens=plan.recipe.train.batch_tokens, seed=plan.recipe.train.seed)


def take_step(plan: Plan, learner: Learner, indices: Sequence[int], *, batches: int) -> Tensor:
    """One batch forward and back, one step of the optimiser; the mean loss."""
    recipe, progress = plan.recipe.train, learner.progress
    batch = plan.batch(indices)
    finished = over(progress, plan.recipe, batches=batches)
    rate = learning_rate(plan.recipe, progress.step + 1, finished)
    for group in learner.optimiser.param_groups:
        group["lr"] = rate
    learner.module.train()
    learner.optimiser.zero_grad(set_to_none=True)
    share = true_share(recipe, over=finished, epoch=progress.epoch)
    if share < 1.0 and plan.task.mix is not None:
        batch = plan.task.mix(learner.module, batch, share, recipe.own)
    if recipe.word_dropout and plan.task.blur is not None:
        batch = plan.task.blur(batch, recipe.word_dropout)
    if plan.carried and plan.task.stretches is not None:
        loss = learn_on(plan.task.stretches, learner, batch, recipe, plan.device)
    else:
        loss = learn(plan.task, learner.module, batch, recipe, plan.device)
    clip_gradients(learner.module, recipe)
    learner.optimiser.step()
    progress.step += 1
    if learner.mean is not None:
        learner.mean.add(learner.module, progress.step)
    progress.position += 1
    progress.examples += len(indices)
    return loss


def affordable(plan: Plan, learner: Learner) -> bool:
    """Where time is the limit, validations may take a small share of it; elsewhere they come when they are due."""
    progress = learner.progress
    return not plan.recipe.train.budget or progress.validating <= VALIDATING * progress.elapsed


def validate(plan: Plan, learner: Learner, log: EventLog, *, finished: float) -> None:
    """Let the model write by itself, remember the best, and stop when it has long been no better."""
    progress, started = learner.progress, time.perf_counter()
    learner.module.eval()
    if plan.task.settle is not None:  # weights are compared as they would be used
        plan.task.settle(learner.module, plan.codec, plan.questions)
    sources = [question.source for question in plan.questions]
    outputs, _ = judged(plan.task, learner.module, plan.codec, sources, plan.recipe.decode)
    references = [question.references for question in plan.questions]
    metrics = {metric.name: metric.on(sources).value(outputs, references) for metric in plan.task.metrics(plan.codec)}
    selects = plan.task.selects or plan.task.metrics(plan.codec)[0]
    chosen = selects.merit(metrics[selects.name])
    if plan.solved and not progress.step:
        learner.first = torch.from_numpy(selects.on(sources).statistics(outputs, references))
    if chosen > progress.best and surpasses(learner, selects.on(sources), outputs, references):
        progress.best, progress.best_step, progress.stale = chosen, progress.step, 0
        learner.keep_best()
    elif finished > SETTLING:
        progress.stale += 1
        if progress.stale >= plan.recipe.train.patience:
            progress.done = f"{progress.stale} validations were no better than step {progress.best_step}"
    took = time.perf_counter() - started
    progress.validating += took
    log.add(
        "validation",
        step=progress.step,
        elapsed=round(progress.elapsed, 3),
        metrics=metrics,
        best_step=progress.best_step,
        took=round(took, 3),
    )


def surpasses(learner: Learner, metric: Metric, outputs: Sequence[Any], references: Sequence[Any]) -> bool:
    """Whether a model is better than the one in closed form it began as by more than a standard error of the
    difference (the rule of Breiman et al., 1984, sec. 3.4.3); what began at random has nothing to surpass.
    """
    if learner.first is None or not learner.progress.step:
        return True
    gains = resampled(metric, metric.statistics(outputs, references)) - resampled(metric, learner.first.numpy())
    return bool(metric.merit(1.0) * gains.mean() > gains.std())


class Clock:
    """Seconds of work, counted on from an earlier session."""

    def __init__(self, before: float) -> None:
        self.started = time.perf_counter() - before

    def read(self) -> float:
        """Seconds so far."""
        return time.perf_counter() - self.started


class Recent:
    """The mean loss since the last event, fetched from the device only when one is due."""

    def __init__(self) -> None:
        self.losses: list[Tensor] = []
        self.last = time.perf_counter()

    def add(self, loss: Tensor) -> None:
        """One more step."""
        self.losses.append(loss)

    def due(self) -> bool:
        """Whether it is time for an event."""
        return time.perf_counter() - self.last >= SECONDS_BETWEEN_EVENTS

    def facts(self, progress: Any, finished: float) -> dict[str, Any]:
        """What a step event says; a loss that is no number ends the run."""
        loss = torch.stack(self.losses).mean().item()
        if not math.isfinite(loss):
            raise RunError(
                f"training diverged at step {progress.step}.",
                found=f"loss {loss}",
                fix="--set train.lr= a smaller rate, or --set train.clip=0.5",
            )
        self.losses, self.last = [], time.perf_counter()
        return {
            "step": progress.step,
            "epoch": progress.epoch,
            "loss": float(f"{loss:.6g}"),
            "over": round(min(finished, 1.0), 4),
            "elapsed": round(progress.elapsed, 3),
            "examples_per_second": round(progress.examples / max(progress.elapsed, 1e-9), 1),
        }
