"""Teacher forcing over a run: which share of a model's inputs is true, and which is its own (Bengio et al., 2015).

The paper's schedules count steps; here they run from the start of a run to its end, where the share is the recipe's
`teacher_end`, whatever limits the run."""

import math
from collections.abc import Callable

from atento.errors import InputError
from atento.spec import TrainRecipe
from atento.tasks.task import Task

STEEPNESS = 100.0  # k of the inverse sigmoid: the share starts at k / (k + 1)

FALLS: dict[str, Callable[[float, float], float]] = {  # share of the run that is over, last share -> share
    "linear": lambda over, end: 1 - (1 - end) * over,  # k − c i in the paper
    "exponential": lambda over, end: end**over,  # k^i
    "inverse-sigmoid": lambda over, end: STEEPNESS / (STEEPNESS + (STEEPNESS * (1 - end) / end) ** over),  # k/(k+e^i/k)
}

LIMITS = {"exponential": (0.0, 1.0), "inverse-sigmoid": (0.0, STEEPNESS / (STEEPNESS + 1))}  # 0 is never reached


def true_share(recipe: TrainRecipe, *, over: float, epoch: int) -> float:
    """The probability that an input is true, given the share of the run that is over and its whole epochs."""
    if recipe.teacher == "always":
        return 1.0
    if recipe.teacher == "until":
        return 1.0 if epoch < recipe.teacher_epochs else recipe.teacher_end
    return FALLS[recipe.teacher](min(max(over, 0.0), 1.0), recipe.teacher_end)


def require_pupil(task: Task, recipe: TrainRecipe) -> None:
    """A share that can be reached, of inputs that a model could have written itself."""
    if recipe.teacher == "always":
        return
    if task.mix is None:
        raise InputError(
            f"train.teacher={recipe.teacher}: in the task {task.name} a model never reads what it wrote.",
            found=f"train.teacher={recipe.teacher}",
            fix="leave train.teacher out",
        )
    lowest, highest = LIMITS.get(recipe.teacher, (-math.inf, 1.0))
    if not lowest < recipe.teacher_end <= highest:
        raise InputError(
            f"train.teacher={recipe.teacher} cannot end at {recipe.teacher_end}.",
            found=f"train.teacher_end={recipe.teacher_end}",
            fix=f"more than {lowest:g} and at most {highest:.2f}, or --set train.teacher=linear",
        )
