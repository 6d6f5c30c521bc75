"""Task names become tasks here and nowhere else."""

from atento.data.builtin.catalogue import BUILTIN, is_builtin
from atento.data.evidence import Evidence, gather
from atento.data.records import stop_or_skip
from atento.errors import InputError, unknown_name
from atento.spec import DataRecipe
from atento.tasks.autoencode.autoencode import AUTOENCODE
from atento.tasks.classify.image_questions import MATCH_PICTURES
from atento.tasks.classify.images import CLASSIFY_PICTURES
from atento.tasks.classify.series import CLASSIFY_SERIES
from atento.tasks.classify.several import LABEL
from atento.tasks.classify.text import CLASSIFY
from atento.tasks.classify.two_texts import MATCH
from atento.tasks.embed.embed import EMBED
from atento.tasks.estimate import ESTIMATE
from atento.tasks.forecast.forecast import FORECAST
from atento.tasks.generate.generate import GENERATE
from atento.tasks.recognising.text import heed, ranked
from atento.tasks.seq2seq.caption import CAPTION
from atento.tasks.seq2seq.transcribe import TRANSCRIBE
from atento.tasks.seq2seq.translate import TRANSLATE
from atento.tasks.tag.tag import TAG
from atento.tasks.task import Recognition, Task

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        TRANSLATE,
        TAG,
        ESTIMATE,
        FORECAST,
        AUTOENCODE,
        CLASSIFY,
        CLASSIFY_SERIES,
        TRANSCRIBE,
        LABEL,
        MATCH,
        GENERATE,
        EMBED,
        CAPTION,
        CLASSIFY_PICTURES,
        MATCH_PICTURES,
    )
}

LIKELY = 0.5


def find_task(name: str, data: DataRecipe) -> tuple[Task, str]:
    """The task of that name, or the one the data looks most like; with the reason, in words. A user who names
    `classify` may mean `classify-series`: the data decides. Whoever knows the task already does not ask here again.
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
    evidence = gather(data.train, header=data.header, source=data.source, label=data.label, others=others)
    stop_or_skip(evidence.refused, data.bad_rows)  # said before what a broken row makes a file look like
    guesses = recognise(evidence, data)
    if name != "auto":
        best = next(guess for guess in guesses if guess in alike)
        return TASKS[best if guesses[best].likelihood >= LIKELY else name], ""
    best = next(iter(guesses))
    if guesses[best].likelihood < LIKELY:
        raise InputError(
            f"{data.train}: no task fits this file.",
            found="; ".join(f"{task}: {guess.reason}" for task, guess in guesses.items()),
            fix=f"name the task: --task {best}, and the columns: --set data.source=..., --set data.target=...",
        )
    return TASKS[best], f"task: {best} ({guesses[best].reason})"


def recognise(evidence: Evidence, data: DataRecipe | None = None) -> dict[str, Recognition]:
    """How likely each task is for a file, the likeliest first; columns that the recipe names rule tasks out."""
    guesses = {name: task.recognise(evidence) for name, task in TASKS.items()}
    return ranked(guesses if data is None else heed(guesses, data))
