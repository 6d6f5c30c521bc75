"""Scheduled sampling: the probability of a true input instead of a predicted one, over a run (Bengio et al., 2015).

The paper's schedules count steps; here they run from the start of a run to its end, where the rate is the recipe's
`teacher_end`, whatever limits the run."""

import math
from collections.abc import Callable

from atento.errors import InputError
from atento.spec import TrainRecipe
from atento.tasks.task import Task

STEEPNESS = 100.0  # k of the inverse sigmoid: the rate starts at k / (k + 1)

SCHEDULES: dict[str, Callable[[float, float], float]] = {  # progress of the run, last rate -> rate
    "linear": lambda progress, end: 1 - (1 - end) * progress,  # k − c i in the paper
    "exponential": lambda progress, end: end**progress,  # k^i
    # k / (k + e^(i/k))
    "inverse-sigmoid": lambda progress, end: STEEPNESS / (STEEPNESS + (STEEPNESS * (1 - end) / end) ** progress),
}

LIMITS = {"exponential": (0.0, 1.0), "inverse-sigmoid": (0.0, STEEPNESS / (STEEPNESS + 1))}  # these never reach 0


def teacher_forcing_rate(recipe: TrainRecipe, *, progress: float, epoch: int) -> float:
    """The probability of a true input, given the share of the run that is done and its whole epochs."""
    if recipe.teacher_forcing == "always":
        return 1.0
    if recipe.teacher_forcing == "until":
        return 1.0 if epoch < recipe.teacher_forcing_epochs else recipe.teacher_forcing_end
    return SCHEDULES[recipe.teacher_forcing](min(max(progress, 0.0), 1.0), recipe.teacher_forcing_end)


def validate_teacher_forcing(task: Task, recipe: TrainRecipe) -> None:
    """Refuse a last rate that the schedule cannot reach, and a task whose inputs are never predictions."""
    if recipe.teacher_forcing == "always":
        return
    if task.learning.scheduled_sampling is None:
        raise InputError(
            f"train.teacher_forcing: in the task {task.name} a model never reads its own predictions.",
            found=f"train.teacher_forcing={recipe.teacher_forcing}",
            fix="leave train.teacher_forcing out",
        )
    lowest, highest = LIMITS.get(recipe.teacher_forcing, (-math.inf, 1.0))
    if not lowest < recipe.teacher_forcing_end <= highest:
        raise InputError(
            f"train.teacher_forcing={recipe.teacher_forcing} cannot end at {recipe.teacher_forcing_end}.",
            found=f"train.teacher_forcing_end={recipe.teacher_forcing_end}",
            fix=f"more than {lowest:g} and at most {highest:.2f}, or --set train.teacher_forcing=linear",
        )
