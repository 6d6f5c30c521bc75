"""The loss of a model on validation examples: the same quantity as the loss that training minimizes, without dropout.

It is only watched: the best weights are chosen by a metric.
"""

import math
from collections.abc import Sequence

import torch
from torch import nn

from atento.recurrent.unroll import map_state
from atento.spec import TrainRecipe
from atento.tasks.task import Codec, EvaluationExample, Task
from atento.training.gradients import Batch, loss_items, mixed_precision

AT_ONCE = 64  # examples of a batch


@torch.no_grad()
def validation_loss(
    module: nn.Module, task: Task, codec: Codec, validation: Sequence[EvaluationExample], recipe: TrainRecipe
) -> float | None:
    """The mean loss of a module in evaluation mode, with one right target of each example.

    None of tasks whose examples are no pairs of a source and a target, such as forecasts, and where it is not finite.
    No random number of training is used up.
    """
    if task.learning.pair is None:
        return None
    pairs = [pair for one in validation if (pair := task.learning.pair(one)) is not None]
    device = next(module.parameters()).device
    total, items = 0.0, 0
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        for first in range(0, len(pairs), AT_ONCE):
            examples = [task.learning.encode(codec, pair) for pair in pairs[first : first + AT_ONCE]]
            batch: Batch = map_state(lambda part: part.to(device), task.learning.batch(codec, examples))
            with mixed_precision(recipe.precision, device):
                loss = task.learning.loss(module, batch, recipe.label_smoothing)
            total += loss.total.item()
            items += loss_items(batch, loss.items, recipe)
    mean = total / items if items else math.nan
    return float(f"{mean:.6g}") if math.isfinite(mean) else None
