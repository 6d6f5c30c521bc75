"""The search itself: optuna chooses, we try; every try is on disk before the next begins."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from atento.errors import MachineError
from atento.tuning.space import Among, Space

STUDY = "recipes"
FIRST_AT_RANDOM = 5

Values = dict[str, Any]
Report = Callable[[int, float], bool]  # validation, merit -> whether the try is hopeless


class Trial(NamedTuple):
    """One recipe that was tried."""

    number: int
    values: Values
    merit: float | None  # the larger the better; None: it failed
    stopped: bool  # before its end, for others were better by then


def search(
    attempt: Callable[[int, Values, Report], float | None],
    space: Space,
    *,
    first: Values,
    count: int,
    journal: Path,
    seed: int,
) -> list[Trial]:
    """Try so many recipes, the first one given, and return them in order; those on disk are not tried again."""
    optuna = load_optuna()
    study = optuna.create_study(
        study_name=STUDY,
        storage=optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(journal))),
        sampler=optuna.samplers.TPESampler(seed=seed, n_startup_trials=FIRST_AT_RANDOM),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=3, n_warmup_steps=2),
        direction="maximize",
        load_if_exists=True,
    )
    if not study.trials:
        study.enqueue_trial({key: first[key] for key in space})
    while len(ended(study)) < count:
        asked = study.ask()
        values = {key: suggest(asked, key, choice) for key, choice in space.items()}
        reported: dict[int, float] = {}

        def report(validation: int, merit: float, asked: Any = asked, reported: Any = reported) -> bool:
            if validation not in reported:
                reported[validation] = merit
                asked.report(merit, validation)
            return bool(asked.should_prune())

        merit = attempt(asked.number, values, report)
        if merit is None and reported:
            study.tell(asked, state=optuna.trial.TrialState.PRUNED)
        elif merit is None:
            study.tell(asked, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(asked, merit)
    return [
        Trial(trial.number, dict(trial.params), trial.value, trial.state.name == "PRUNED") for trial in ended(study)
    ]


def ended(study: Any) -> list[Any]:
    """The tries that were not cut off in the middle."""
    return [trial for trial in study.trials if trial.state.name in ("COMPLETE", "PRUNED", "FAIL")]


def suggest(trial: Any, key: str, choice: Any) -> Any:
    """A value of one key."""
    if isinstance(choice, Among):
        return trial.suggest_categorical(key, list(choice.values))
    return trial.suggest_float(key, choice.low, choice.high, log=choice.steep)


def load_optuna() -> Any:
    """The library, which is an extra."""
    try:
        import optuna
    except ImportError:
        raise MachineError(
            "a search over recipes needs optuna, which is not installed.",
            found="no module optuna",
            fix="pip install 'atento[tune]'",
        ) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    return optuna
