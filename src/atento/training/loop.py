"""The training loop: steps, validations and checkpoints. Read from `train` downwards."""

import math
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from atento.data.examples.batches import Order
from atento.data.records import counted
from atento.errors import InputError, Interrupted
from atento.layers.packing import moved
from atento.layers.products import bf16_products
from atento.recurrent.unroll import map_state
from atento.spec import Recipe, TrainRecipe
from atento.tasks.encoding import order_by_length
from atento.tasks.task import Codec, EvaluationExample, Indices, Task, judged
from atento.training.callbacks import Callback, Hooks
from atento.training.checkpoints import CheckpointClock, save_checkpoint
from atento.training.distributed.ranks import Ranks, Signs
from atento.training.distributed.strategies import Together
from atento.training.events import Event, EventLog, InterruptHandler, samples_of
from atento.training.gradients import (
    ONE_PROCESS,
    Batch,
    backpropagate,
    backpropagate_stateful,
    clip_gradients,
    rounds_products,
    validate_stateful,
    validate_truncation,
)
from atento.training.learner import Learner, Progress, RecentLosses, progress_share
from atento.training.recorder import HistogramRecorder, gradient_norms
from atento.training.schedules import learning_rate
from atento.training.teacher_forcing import teacher_forcing_rate, validate_teacher_forcing
from atento.training.validation import (
    beats_closed_form,
    is_gain,
    is_tie_of_lower_loss,
    loss_falls_at_the_floor,
    note_best,
    note_patience,
    validation_loss,
)

VALIDATION_TIME = 0.1  # share of the time that validations may take, where time is the limit
OUT_OF_TIME = "time budget"
ON_REQUEST = "stopped on request"


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
    callbacks: Sequence[Callback] = ()  # of the user; only where one process trains
    together: Together = ONE_PROCESS  # the processes that share each batch

    @property
    def ranks(self) -> Ranks:
        """This process among them."""
        return self.together.ranks

    def batch(self, indices: Indices) -> Batch:
        """The examples of these indices as tensors on the device."""
        if self.gather is not None:
            batch = self.gather(indices)
        else:
            batch = self.task.learning.batch(self.codec, [self.examples[index] for index in indices])
        return map_state(lambda part: (moved if self.device.type == "cuda" else Tensor.to)(part, self.device), batch)


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
    seed, tokens = recipe.train.seed, recipe.train.batch_tokens
    order = plan.order or order_by_length(plan.task, plan.codec, plan.examples, batch_tokens=tokens, seed=seed)
    began = time.perf_counter() - progress.elapsed
    recent, clock = RecentLosses(closed_form=plan.closed_form), CheckpointClock()
    histograms = HistogramRecorder(learner.module, every=recipe.train.histograms)
    hooks = Hooks(plan.callbacks, recipe, learner, log, plan.task.judging.metrics(plan.codec))
    with InterruptHandler(plan.folder if plan.ranks.first else None) as interrupt:
        hooks.train_begin()
        if plan.closed_form and plan.validation and not progress.step:
            hooks.validation_end(validate(plan, learner, log, share=0.0))
        while not progress.stop_reason:
            batches = order.epoch(progress.epoch)
            for indices in batches[progress.position :]:
                loss = take_step(plan, learner, indices, batches=len(batches), histograms=histograms)
                recent.add(loss)
                progress.elapsed = time.perf_counter() - began
                interrupt.look()
                signs = plan.ranks.agree(
                    Signs(progress.elapsed, recent.due(), clock.due(), interrupt.finish, interrupt.signal)
                )
                progress.elapsed = signs.elapsed
                share = progress_share(progress, recipe, batches=len(batches))
                due = int(min(share, 1.0) * recipe.train.validations)
                hooks.step_end(loss, share, epoch_ends=progress.position == len(batches))
                finish = signs.finish or bool(hooks.stop_reason)
                validating = finish or (
                    due > progress.validations and (share >= 1.0 or validation_affordable(plan, learner))
                )
                if signs.event or validating or histograms.found:  # a diverged model is neither validated nor kept
                    facts = recent.facts(progress, share, lr=recipe.train.lr)
                    log.add("step", **with_last_step(facts, learner, histograms))
                if validating and plan.validation:
                    progress.validations = due
                    with learner.evaluation_weights():
                        event = validate(plan, learner, log, share=share)
                    progress.elapsed = plan.ranks.from_first(time.perf_counter() - began)
                    hooks.validation_end(event)
                    finish = finish or bool(hooks.stop_reason)
                if finish or (share >= 1.0 and not progress.stop_reason):
                    on_request = hooks.stop_reason or ON_REQUEST
                    progress.stop_reason = on_request if finish else limit_reached(progress, recipe.train)
                # alone, a signal that came while validating is obeyed at once; several processes agree at the next step
                signal = signs.signal if plan.ranks.size > 1 else interrupt.signal
                ending = progress.stop_reason or signal or hooks.failure
                if ending or signs.checkpoint or step_is_saved(progress, recipe.train):
                    recent.copy(progress, lr=recipe.train.lr)
                    with clock.saving():
                        save_checkpoint(plan.folder, learner, fingerprint=plan.fingerprint, ranks=plan.ranks)
                hooks.raise_failure()
                if progress.stop_reason:
                    break
                if signal:
                    raise Interrupted(signal, f"stopped at step {progress.step}; everything is saved.")
            else:
                progress.epoch, progress.position = progress.epoch + 1, 0
    learner.restore_best()
    hooks.train_end()


def step_is_saved(progress: Progress, recipe: TrainRecipe) -> bool:
    """Whether the recipe asks for a checkpoint at this step."""
    return bool(recipe.checkpoint_every) and progress.step % recipe.checkpoint_every == 0


def take_step(
    plan: Plan, learner: Learner, indices: Indices, *, batches: int, histograms: HistogramRecorder | None = None
) -> Tensor:
    """Take one optimizer step on a batch, of which each process takes its part; the mean loss of the whole batch."""
    recipe, progress, together = plan.recipe.train, learner.progress, plan.together
    own = plan.ranks.part(indices)
    idle = not len(own)
    batch = plan.batch(indices[:1] if idle else own)
    share = progress_share(progress, plan.recipe, batches=batches)
    for group in learner.optimizer.param_groups:
        group["lr"] = learning_rate(plan.recipe, progress.step + 1, share, plateaus=progress.plateaus)
    learner.module.train()
    learner.optimizer.zero_grad(set_to_none=True)
    rate = teacher_forcing_rate(recipe, progress=share, epoch=progress.epoch)
    if rate < 1.0 and plan.task.learning.scheduled_sampling is not None:
        sample = partial(plan.task.learning.scheduled_sampling, learner.module, batch, rate, recipe.sampled_tokens)
        with torch.no_grad():
            batch = together.run(sample)
    if recipe.word_dropout and plan.task.learning.word_dropout is not None:
        batch = plan.task.learning.word_dropout(batch, recipe.word_dropout)
    with bf16_products(rounds_products(recipe.precision, plan.device)):
        if plan.stateful and plan.task.learning.truncated_bptt is not None:
            bptt = plan.task.learning.truncated_bptt
            loss = backpropagate_stateful(bptt, learner, batch, recipe, plan.device, together=together, idle=idle)
        else:
            loss = backpropagate(plan.task, learner.module, batch, recipe, plan.device, together=together, idle=idle)
    learner.gradient_norm = clip_gradients(learner.module, recipe)
    with nullcontext() if histograms is None else histograms.record(progress.step + 1):
        learner.optimizer.step()
    progress.step += 1
    if learner.ema is not None:
        learner.ema.add(learner.module, progress.step)
    progress.position += 1
    progress.examples += len(indices)
    return loss


def with_last_step(facts: Event, learner: Learner, histograms: HistogramRecorder) -> Event:
    """The facts of an event with the learning rate and the norms of the gradients of the last step, and its histograms
    where they were due.
    """
    facts["learning_rate"] = float(f"{learner.optimizer.param_groups[0]['lr']:.6g}")
    facts["gradient_norms"] = gradient_norms(learner.module, total=learner.gradient_norm)
    if histograms.found:
        facts["histograms"] = histograms.take()
    return facts


def validation_affordable(plan: Plan, learner: Learner) -> bool:
    """Whether a validation that is due fits in its share of the time, where time is the limit."""
    progress = learner.progress
    return not plan.recipe.train.budget or progress.validating <= VALIDATION_TIME * progress.elapsed


def validate(plan: Plan, learner: Learner, log: EventLog, *, share: float) -> Event:
    """Score the model on the validation examples, keep the best weights, and stop where the patience ends; the event
    that was recorded.

    The first process scores, and all follow what it finds.
    """
    found: dict[str, Any] = {}
    event: Event = {}
    with plan.together.whole(learner.module) as module:
        if module is not None:
            better, event = score(plan, learner, module, log, share=share)
            found = {"better": better, "progress": asdict(learner.progress)}
    found = plan.ranks.from_first(found)
    if not plan.ranks.first:
        learner.progress.__dict__.update(found["progress"])  # the object that the loop holds
    if found["better"]:
        learner.keep_best()
    return event


def score(plan: Plan, learner: Learner, module: nn.Module, log: EventLog, *, share: float) -> tuple[bool, Event]:
    """Validate a module with all its weights, and note what follows; whether they are the best so far, the event."""
    progress, started = learner.progress, time.perf_counter()
    module.eval()
    if plan.task.learning.calibrate is not None:  # weights are compared as they will be used
        plan.task.learning.calibrate(module, plan.codec, plan.validation)
    sources = [example.source for example in plan.validation]
    outputs, answers = judged(plan.task, module, plan.codec, sources, plan.recipe.decode)
    references = [example.references for example in plan.validation]
    judges, wanted = plan.task.judging.metrics(plan.codec), plan.task.judging.selects
    metrics = {metric.name: metric.for_sources(sources).value(outputs, references) for metric in judges}
    selects = next((one for one in judges if wanted is not None and one.name == wanted.name), judges[0])
    chosen = selects.to_maximize(metrics[selects.name])
    if plan.closed_form and not progress.step:
        statistics = selects.for_sources(sources).statistics(outputs, references)
        dense = statistics.toarray() if hasattr(statistics, "toarray") else statistics
        learner.closed_form_statistics = torch.from_numpy(dense)
    loss = validation_loss(module, plan.task, plan.codec, plan.validation, plan.recipe.train)
    waits = loss_falls_at_the_floor(progress, judges[0], metrics[judges[0].name])
    gain = is_gain(progress, chosen)
    better = (gain or is_tie_of_lower_loss(progress, chosen, loss)) and beats_closed_form(
        learner, selects.for_sources(sources), outputs, references
    )
    if better:
        note_best(progress, chosen, loss, gain=gain)
    note_patience(progress, plan.recipe.train.patience, gain=gain and better, waits=waits, share=share)
    took = time.perf_counter() - started
    progress.validating += took
    event = log.add(
        "validation",
        step=progress.step,
        elapsed=round(progress.elapsed, 3),
        metrics={name: value if math.isfinite(value) else None for name, value in metrics.items()},
        best_step=progress.best_step,
        took=round(took, 3),
        validation_loss=loss,
        samples=samples_of(plan.task, plan.validation, answers or ()),
    )
    return better, event


def limit_reached(progress: Progress, train: TrainRecipe) -> str:
    """Which limit ended a run, in words."""
    if train.steps and progress.step >= train.steps:
        return f"all {counted(train.steps, 'step')} taken"
    if train.budget and progress.elapsed >= train.budget:
        return f"{OUT_OF_TIME} of {train.budget:.4g} s used up"
    return f"all {counted(train.epochs, 'epoch')} taken"
