"""What follows from a validation: the loss on the validation examples, whether the weights are the best so far, and
whether the patience ends. The best weights are chosen by a metric; between equal ones the loss decides.
"""

import math
from collections.abc import Sequence

import torch
from torch import nn

from atento.data.records import counted
from atento.metrics.bootstrap import bootstrap_values
from atento.metrics.metric import Metric
from atento.recurrent.unroll import map_state
from atento.spec import TrainRecipe
from atento.tasks.task import Codec, EvaluationExample, Task
from atento.training.gradients import Batch, loss_items, mixed_precision
from atento.training.learner import Learner, Progress

AT_ONCE = 64  # examples of a batch
PATIENCE_FROM = 0.25  # share of a run before which validations do not count against the patience
NOISE = 1e-9  # two values of a metric that differ by less, in proportion, are one value whose sums were rounded


@torch.no_grad()
def validation_loss(
    module: nn.Module, task: Task, codec: Codec, validation: Sequence[EvaluationExample], recipe: TrainRecipe
) -> float | None:
    """The mean loss of a module in evaluation mode, with one right target of each example: what training minimizes,
    without dropout.

    None of tasks whose examples are no pairs of a source and a target, such as forecasts, and where it is not finite.
    No random number of training is used up.
    """
    if task.learning.pair is None:
        return None
    pairs = [pair for one in validation if (pair := task.learning.pair(one)) is not None]
    device = next(module.parameters()).device
    total, items = 0.0, 0
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        examples = [task.learning.encode(codec, pair) for pair in pairs]
        examples.sort(key=lambda example: task.learning.length(codec, example))  # batches with little padding
        for first in range(0, len(examples), AT_ONCE):
            some = task.learning.batch(codec, examples[first : first + AT_ONCE])
            batch: Batch = map_state(lambda part: part.to(device), some)
            with mixed_precision(recipe.precision, device):
                loss = task.learning.loss(module, batch, recipe.label_smoothing)
            total += loss.total.item()
            items += loss_items(batch, loss.items, recipe)
    mean = total / items if items else math.nan
    return float(f"{mean:.6g}") if math.isfinite(mean) else None


def is_tie(score: float, best: float) -> bool:
    """Whether two values of a metric are the same but for rounding."""
    return math.isclose(score, best, rel_tol=NOISE, abs_tol=NOISE**2)


def is_gain(progress: Progress, score: float) -> bool:
    """Whether a value of the selecting metric, larger is better, is above all before it."""
    return score > progress.best and not is_tie(score, progress.best)


def is_tie_of_lower_loss(progress: Progress, score: float, loss: float | None) -> bool:
    """Whether the selecting metric is what it was at the best validation while the validation loss is lower.

    Accuracy cannot tell a model that is right by a hair from one that is sure, the loss can. Where either loss is not
    known (a forecast has none, nor has a checkpoint of an older version), the earlier weights stay.
    """
    known = loss is not None and progress.best_loss is not None
    return known and is_tie(score, progress.best) and loss < progress.best_loss  # type: ignore[operator]


def note_best(progress: Progress, score: float, loss: float | None, *, gain: bool) -> None:
    """Note that the weights of this step are the best so far, by a gain or by a tie of lower loss."""
    progress.best, progress.best_step, progress.best_loss = max(score, progress.best), progress.step, loss
    if gain:
        progress.gain_step = progress.step


def note_patience(progress: Progress, patience: int, *, gain: bool, waits: bool, share: float) -> None:
    """Count a validation against the patience where the metric gained nothing, and stop where the patience ends.

    A tie of lower loss moves the best weights but is no gain, neither here nor for a learning rate that falls on a
    plateau. Once a metric no longer changes, the loss of a model that is right can fall without end, because larger
    weights make it ever surer, and no run would stop before its limit. Only a metric still at its floor says nothing
    yet: `waits` says that the patience waits for the loss there.
    """
    progress.plateaus += not gain
    if gain or waits:
        progress.stale = 0
    elif share > PATIENCE_FROM:
        progress.stale += 1
        if progress.stale >= patience:
            counts = counted(progress.stale, "validation")
            progress.stop_reason = f"no better than step {progress.gain_step} in {counts}"


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


def beats_closed_form(
    learner: Learner, metric: Metric, outputs: Sequence[object], references: Sequence[Sequence[object]]
) -> bool:
    """Whether the model beats the closed form it began with by more than a standard error of the difference.

    (The one-standard-error rule of Breiman et al., 1984, sec. 3.4.3.) Always true for a random start. Where examples
    overlap, as windows of a short series do, the error is that of the few which do not, and a gain must be as unlikely
    by Student's t for so few as a standard error is for many. A single one has no error, and shows nothing.
    """
    closed_form = learner.closed_form_statistics
    if closed_form is None or not learner.progress.step:
        return True
    now = bootstrap_values(metric, [metric.statistics(outputs, references)])
    gains = now - bootstrap_values(metric, [closed_form.numpy()])
    return bool(metric.to_maximize(1.0) * gains.mean() > errors_to_exceed(metric, len(closed_form)) * gains.std())


def errors_to_exceed(metric: Metric, rows: int) -> float:
    """How many standard errors of so many rows, taken as independent, a gain must exceed to be more than chance."""
    from scipy.special import ndtr, stdtrit  # slow to load

    if metric.independent is None:
        return 1.0
    freedom = metric.independent - 1
    if freedom < 1:
        return math.inf
    return float(stdtrit(freedom, ndtr(1.0))) * math.sqrt(max(1.0, rows / metric.independent))
