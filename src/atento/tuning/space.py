"""What a search may vary of a recipe, around the default values of a model."""

from collections.abc import Mapping
from typing import NamedTuple

from atento.models.names import ModelName
from atento.spec import Recipe
from atento.tasks.task import Task

WIDTHS = (64, 128, 256, 384, 512)
DECAYS = (1e-4, 1e-3, 0.01, 0.1)
BATCHES = (0.5, 1.0, 2.0, 4.0)  # times the default
LABELS_OUT = ("classify", "label", "tag", "match", "classify-series", "classify-pictures", "match-pictures")
WRITTEN = ("translate", "transcribe", "caption")


class Between(NamedTuple):
    """Any number from low to high; with `steep` as many tries from 1 to 10 as from 10 to 100."""

    low: float
    high: float
    steep: bool = False


class Among(NamedTuple):
    """One of a few values."""

    values: tuple[float | int | str, ...]


Space = Mapping[str, Between | Among]


def space_around(task: Task, recipe: Recipe, *, fixed: Mapping[str, object]) -> dict[str, Between | Among]:
    """The keys worth a search for this task and model; those the user fixed are left alone."""
    family = ModelName.parse(recipe.model.name).family
    space: dict[str, Between | Among] = {
        "train.lr": Between(recipe.train.lr / 5, recipe.train.lr * 5, steep=True),
        "model.hidden": Among(widths(recipe)),
        "model.layers": Among((1, 2, 3) if family != "transformer" else (1, 2, 3, 4, 6)),
        "model.dropout": Between(0.0, 0.5),
        "train.batch_tokens": Among(tuple(max(64, int(recipe.train.batch_tokens * share)) for share in BATCHES)),
        "train.weight_decay": decays(recipe),
    }
    if family == "linear":  # has neither width nor depth
        for key in ("model.hidden", "model.layers"):
            del space[key]
    if task.blur is not None and task.name not in WRITTEN:  # it reads tokens that can be dropped, and writes none
        space["train.word_dropout"] = Between(0.0, 0.3)
    if task.name in (*LABELS_OUT, *WRITTEN):
        space["train.label_smoothing"] = Among((0.0, 0.05, 0.1))
    return {key: choice for key, choice in space.items() if key not in fixed}


def decays(recipe: Recipe) -> Between | Among:
    """Weight decays, the default among them: a steep range does not reach down to none."""
    if recipe.train.weight_decay < DECAYS[0]:
        return Among((recipe.train.weight_decay, *DECAYS))
    return Between(DECAYS[0], max(0.3, recipe.train.weight_decay), steep=True)


def widths(recipe: Recipe) -> tuple[int, ...]:
    """Widths that the heads divide, the default among them."""
    known = sorted({*WIDTHS, recipe.model.hidden})
    return tuple(width for width in known if width % recipe.model.heads == 0 or width == recipe.model.hidden)
