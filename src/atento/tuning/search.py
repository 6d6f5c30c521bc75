"""The search over recipes: which keys it may vary around the default values, and the trials that optuna chooses.

Every trial is on disk before the next begins.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from atento.extras import require_extra
from atento.models.names import ModelName
from atento.spec import Recipe
from atento.tasks.task import Task, Values

if TYPE_CHECKING:
    import optuna

WIDTHS = (64, 128, 256, 384, 512)
DECAYS = (1e-4, 1e-3, 0.01, 0.1)
BATCHES = (0.5, 1.0, 2.0, 4.0)  # times the default
STUDY = "recipes"
FIRST_AT_RANDOM = 5


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
    writes = task.learning.scheduled_sampling is not None
    if task.learning.word_dropout is not None and not writes:
        space["train.word_dropout"] = Between(0.0, 0.3)
    if writes or task.judging.labels is not None:
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


Report = Callable[[int, float], bool]  # validation, merit -> whether the trial is to be pruned


class Trial(NamedTuple):
    """One recipe that was tried."""

    number: int
    values: Values
    merit: float | None  # the larger the better; None: it failed
    stopped: bool  # before its end, for others were better by then


class Asked(NamedTuple):
    """A recipe to try, and whom to tell its validations."""

    number: int
    values: Values
    report: Report


def search(
    attempt: Callable[[Sequence[Asked]], Sequence[float | None]],
    space: Space,
    *,
    first: Values,
    count: int,
    journal: Path,
    seed: int,
    together: int = 1,
) -> list[Trial]:
    """Try so many recipes, the first one given, and return them in order; those on disk are not tried again.

    attempt: the merits of recipes that are tried together; None of those that failed or were given up.
    together: how many are chosen at a time, none of them knowing of the others.
    """
    optuna = load_optuna()
    study = optuna.create_study(
        study_name=STUDY,
        storage=optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(journal))),
        sampler=optuna.samplers.TPESampler(seed=seed, n_startup_trials=FIRST_AT_RANDOM, constant_liar=together > 1),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=3, n_warmup_steps=2),
        direction="maximize",
        load_if_exists=True,
    )
    if not study.trials:
        study.enqueue_trial({key: first[key] for key in space})
    states = optuna.trial.TrialState
    while len(ended(study)) < count:
        trials = [study.ask() for _ in range(min(together, count - len(ended(study))))]
        reported: dict[int, dict[int, float]] = {trial.number: {} for trial in trials}
        asked = [
            Asked(
                trial.number,
                {key: suggest(trial, key, choice) for key, choice in space.items()},
                partial(report, trial, reported[trial.number]),
            )
            for trial in trials
        ]
        for trial, merit in zip(trials, attempt(asked), strict=True):
            lost = states.PRUNED if reported[trial.number] else states.FAIL
            study.tell(trial, merit, state=states.COMPLETE if merit is not None else lost)
    return [
        Trial(trial.number, dict(trial.params), trial.value, trial.state.name == "PRUNED") for trial in ended(study)
    ]


def report(trial: "optuna.Trial", reported: dict[int, float], validation: int, merit: float) -> bool:
    """Report the merit of a validation, once; whether the trial is to be pruned."""
    if validation not in reported:
        reported[validation] = merit
        trial.report(merit, validation)
    return bool(trial.should_prune())


def ended(study: "optuna.Study") -> list["optuna.trial.FrozenTrial"]:
    """The tries that were not cut off in the middle."""
    return [trial for trial in study.trials if trial.state.name in ("COMPLETE", "PRUNED", "FAIL")]


def suggest(trial: "optuna.Trial", key: str, choice: Between | Among) -> object:
    """A value of one key."""
    if isinstance(choice, Among):
        return trial.suggest_categorical(key, list(choice.values))
    return trial.suggest_float(key, choice.low, choice.high, log=choice.steep)


def load_optuna() -> ModuleType:
    """The library, which is an extra."""
    require_extra("tune", "a search over recipes")
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    return optuna
