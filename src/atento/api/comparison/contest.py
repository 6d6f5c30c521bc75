"""What a comparison compares: the data, its codec, and a recipe for each model with an equal share of the time."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from atento.api.comparison.workers import Job, Workers
from atento.api.folders import RECIPES, folder_name
from atento.api.prepare import (
    LIMITS,
    Assembled,
    Data,
    absolute,
    build,
    learn,
    read_data,
    recipe_for,
)
from atento.errors import InputError
from atento.metrics.bootstrap import BandFunction
from atento.metrics.metric import Metric
from atento.predictor import bands_of
from atento.spec import Chosen, Recipe, parse_duration
from atento.spec.recipe import Values, shown
from atento.tasks.baselines import baseline_makers
from atento.tasks.encoding import suited
from atento.tasks.filling import compared, fill_sizes

DEFAULT_BUDGET = "5m"
MOST_SEEDS = 1000
SHARE_FOR_LEARNING = 0.75  # of the budget; the rest starts processes, reads, tests and draws
LEAST_SHARE = 0.1  # seconds; a share of none would be no limit
NO_TEST = "give it a share, e.g. --set data.split=90/5/5, or a file: --set data.test=FILE"

JobPlan = tuple[Job, Recipe]  # one process, and what it will train


@dataclass(frozen=True)
class Contest:
    """What is compared: a data set with its codec, and one recipe a model."""

    data: Data
    codec: Any
    metrics: Sequence[Metric]
    bands: BandFunction
    recipes: dict[str, Recipe]
    notes: list[str]
    slots: int  # how many are trained at once
    device: torch.device


def enter_models(
    chosen: Assembled, values: Values, models: Sequence[str], workers: Workers, *, seeds: int, device: torch.device
) -> Contest:
    """Read the data, learn its codec and fill in every recipe; a model that cannot be built is named before anything is
    written.
    """
    if not 1 <= seeds <= MOST_SEEDS:
        problem = f"--seeds: a model is trained from one seed at least, and {MOST_SEEDS} at most."
        raise InputError(problem, found=shown(seeds), fix="--seeds 3")
    names = trained_names(chosen, models)
    count = len(names) * seeds
    slots = min(count, workers.capacity)
    alone = slots == 1 and not workers.name  # a node has others beside it
    recipes = share_budget(chosen, values, names, rounds=-(-count // slots), alone=alone)
    share = next(iter(recipes.values())).train  # of the time, the same for all
    limits = {"train.budget": share.budget, "train.threads": share.threads}
    data = read_data(chosen._replace(recipe=chosen.recipe.with_values(limits)), values, device=device.type)
    require_comparable(data)
    task, train = data.task, data.reading.train
    recipes = {name: fill_sizes(task, each, values, train, device=device.type) for name, each in recipes.items()}
    codec = learn(data)
    for each in recipes.values():
        build(task, each, suited(task, codec, each), device=device.type)
    guesses = (note for note in chosen.notes if note.startswith("task"))
    notes = [*guesses, *data.reading.notes, *codec.notes]
    bands = bands_of(task, codec, chosen.recipe.data)
    return Contest(data, codec, task.judging.metrics(codec), bands, recipes, notes, slots, device)


def trained_names(chosen: Assembled, models: Sequence[str]) -> list[str]:
    """The models to train: those that are named, without the baselines, which every comparison has; else the usual."""
    simple = baseline_makers(chosen.task)
    names = [name for name in models if name not in simple]
    if models and not names:
        raise InputError(
            "only simple baselines are named, and every comparison has them all.",
            found=", ".join(models),
            fix=f"name a model too: --models {chosen.task.defaults.model}",
        )
    return names or list(compared(chosen.task, chosen.recipe.data.train))


def require_comparable(data: Data) -> None:
    """All models are tested on one part, by what each of them can say."""
    if not data.reading.test:
        raise InputError("a comparison needs a test part.", found=f"data.split={data.recipe.data.split}", fix=NO_TEST)
    if data.recipe.train.objective == "masked":
        raise InputError(
            "a comparison needs a probability of each text, and a masked model has none.",
            found="train.objective=masked",
            fix="leave it out, or train one masked model: atento train FILE --task generate",
        )


def bound(values: Values) -> Values:
    """The user's own limits, time in seconds; else the default budget."""
    limits = Recipe().with_values({key: values[key] for key in LIMITS if key in values}).train
    if not (limits.steps or limits.epochs or limits.budget):
        return {**values, "train.budget": parse_duration(DEFAULT_BUDGET)}
    return {**values, "train.budget": limits.budget}


def share_of(budget: float, runs: int) -> float:
    """The seconds of training that each of so many runs has."""
    return max(LEAST_SHARE, round(SHARE_FOR_LEARNING * budget / runs, 1))


def share_budget(
    chosen: Assembled, values: Values, names: Sequence[str], *, rounds: int, alone: bool
) -> dict[str, Recipe]:
    """One recipe a model: the same data, seed and limits, an equal share of the time."""
    twice = next((name for name in names if list(names).count(name) > 1), None)
    if twice is not None:
        raise InputError(f"the model {twice} is named twice.", found=", ".join(names), fix="name each model once")
    shared = {**values, **absolute(chosen.recipe.data)}  # with the parts that were found
    if values["train.budget"]:
        share = share_of(values["train.budget"], rounds)
        shared["train.budget"] = Chosen(share, "an equal share of the comparison's time")
    shared["train.baselines"] = Chosen(False, "the comparison has them all")
    if not alone:
        shared["train.threads"] = Chosen(1, "several models are trained side by side")
    return {name: recipe_for(chosen.task, {**shared, "model.name": name}).recipe for name in names}


def spread_seeds(folder: Path, name: str, recipe: Recipe, seeds: int) -> list[JobPlan]:
    """One job a seed, all on the same split."""
    plans = []
    for more in range(seeds):
        own = f"{folder_name(name)}{f'-seed-{more}' if more else ''}"
        title = name if seeds == 1 else f"{name} (seed {recipe.train.seed + more})"
        values = {"train.seed": recipe.train.seed + more, "data.seed": recipe.split_seed} if seeds > 1 else {}
        plans.append((Job(title, folder / RECIPES / f"{own}.toml", folder / own), recipe.with_values(values)))
    return plans
