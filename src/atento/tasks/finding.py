"""Which task a file is meant for: the one that is named, or the one its contents look most like."""

from shlex import quote

from atento.data.builtin.catalogue import BUILTIN, is_builtin
from atento.data.evidence.evidence import Evidence, gather
from atento.data.records import stop_or_skip
from atento.errors import InputError, unknown_name
from atento.spec import DataRecipe
from atento.tasks.catalogue import TASKS
from atento.tasks.recognising.text import ranked, rule_out
from atento.tasks.task import Recognition, Task

LIKELY = 0.5
SHOWN = 3  # tasks that do not fit, the closest first


def find_task(name: str, data: DataRecipe) -> tuple[Task, str]:
    """The task of that name, or the one the data looks most like; with the reason, in words. A user who names
    `classify` may mean `classify-series`: the data decides. Call it once for a run.
    """
    alike = [known for known in TASKS if known == name or known.startswith(f"{name}-")]
    if name != "auto":
        if not alike:
            raise unknown_name("task", name, TASKS)
        if len(alike) == 1:
            return TASKS[name], ""
    if is_builtin(data.train):
        own = BUILTIN[data.train].task
        return TASKS[own if name == "auto" or own in alike else name], ""
    others = [name.strip() for names in (data.target, data.series, data.time) for name in names.split(",")]
    evidence = gather(
        data.train, header=data.header, source=data.source, label=data.label, others=others, sheet=data.sheet
    )
    # before the guess, which broken rows would mislead
    stop_or_skip(evidence.refused, data.bad_rows, used=evidence.rows)
    guesses = recognise(evidence, data)
    if name != "auto":
        best = next(guess for guess in guesses if guess in alike)
        return TASKS[best if guesses[best].likelihood >= LIKELY else name], ""
    best = next(iter(guesses))
    if guesses[best].likelihood < LIKELY:
        raise InputError(
            f"{data.train}: no task fits this file.",
            found="; ".join(f"{task}: {guess.reason}" for task, guess in list(guesses.items())[:SHOWN]),
            fix=f"atento inspect {quote(data.train)} --task {best} shows what is missing for the closest one",
        )
    return TASKS[best], f"task: {best} ({guesses[best].reason})"


def recognise(evidence: Evidence, data: DataRecipe | None = None) -> dict[str, Recognition]:
    """How likely each task is for a file, the most likely first; columns that the recipe names rule tasks out."""
    guesses = {name: task.reading.recognise(evidence) for name, task in TASKS.items()}
    if data is None:
        return ranked(guesses)
    return ranked(rule_out(guesses, data, {name: task.reading.keys for name, task in TASKS.items()}))
