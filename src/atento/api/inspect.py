"""What a file is, what is wrong with it, and what to type next."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

from atento.api.inspect_series import channels_of, series_problems
from atento.api.prepare import Data, read_data
from atento.api.problems import Problem, Subject, problems_of, refused_rows
from atento.api.recipes import recipe_for
from atento.data.assignment import Cast, cast
from atento.data.builtin.catalogue import BUILTIN, is_builtin
from atento.data.columns.column import label_histogram, length_histogram
from atento.data.evidence import evidence_of
from atento.data.records import join, split
from atento.data.series import Series
from atento.data.siblings import find_parts
from atento.data.sources import read_source
from atento.data.tables.chunks import head_of, is_large
from atento.data.tables.table import Table, parsed_once
from atento.errors import AtentoError
from atento.spec import DataRecipe, Recipe
from atento.tasks.catalogue import LIKELY, TASKS, recognise
from atento.tasks.task import Reading, Task, learn_codec

VERBS = ("compare", "train")
MOST_ROWS = 20  # refused ones that are listed
MOST_LEARNED = 20_000  # examples from which the level of tokens is shown
FEW_DOCUMENTS = 20  # of fewer documents, lines say more
WORDY = 1.5  # words a text, from where words are counted
NUMERIC = ("estimate", "classify-series", "transcribe")
SIDES = {"tag": "sentences", "match": "both texts", **dict.fromkeys(NUMERIC, "sequences")}


@parsed_once()
def inspect(file: str) -> dict[str, Any]:
    """Facts, the guess and its reason, problems with a way to mend each, and commands to go on with."""
    if is_builtin(file):
        return inspect_builtin(file)
    if not is_large(file):
        found, beside = find_parts(DataRecipe(train=file))
        return look_into(file, {"data.train": file, **found}, beside)
    with head_of(file) as head:
        return look_into(file, {"data.train": head}, [f"{file} is large: these are its first rows"])


def look_into(file: str, values: dict[str, str], beside: Sequence[str]) -> dict[str, Any]:
    """The same of the files that are read for what was typed."""
    table = read_source(values["data.train"])
    evidence = evidence_of(table)
    guesses = recognise(evidence)
    best = next(iter(guesses))
    likely = guesses[best].likelihood >= LIKELY
    document: dict[str, Any] = {
        **evidence.to_json(),
        "refused": len(table.refused),
        "notes": [*beside, *table.notes],
        "task": best if likely else None,
        "guesses": {task: guess._asdict() for task, guess in guesses.items()},
        **{"cast": {}, "parts": {}, "lengths": [], "labels": [], "distinct_labels": 0, "tokens": [], "channels": []},
    }
    rows, problems = refused_rows(file, table.refused), list[Problem]()
    mend: dict[str, str] = {}
    if likely:
        try:
            data, stopped, mend = read_mended(TASKS[best], values)
            found, problems = look_at_parts(file, data, table)
            document |= {**found, "notes": [*beside, *data.reading.notes]}
            rows = [*refused_rows(file, data.reading.refused), *(problem_of(error) for error in stopped)]
        except AtentoError as error:
            rows = rows or [problem_of(error)]
    if document["refused"]:
        mend = {"data.bad_rows": "skip", **mend}
    settings = [word for key, value in mend.items() for word in ("--set", f"{key}={value}")]
    if settings:  # one command mends all rows
        rows = [row._replace(command=shlex.join(["atento", "compare", file, *settings])) for row in rows]
    return {
        **document,
        "problems": [problem._asdict() for problem in (*rows[:MOST_ROWS], *problems)],
        "more_problems": len(rows[MOST_ROWS:]),
        "next": [shlex.join(["atento", verb, file, *settings]) for verb in (VERBS if likely else ())]
        or ["atento data"],
    }


def read_mended(task: Task, values: dict[str, str]) -> tuple[Data, list[AtentoError], dict[str, str]]:
    """The data, bad rows left out, what stopped the reading, and the settings that mend it: those that each error
    carries, as long as another one helps.
    """
    stopped: list[AtentoError] = []
    mend: dict[str, str] = {}
    while True:
        known = {**values, "data.bad_rows": "skip", **mend}
        try:
            return read_data(recipe_for(task, known), known), stopped, mend
        except AtentoError as error:
            if error.settings.keys() <= mend.keys():
                raise stopped[0] if stopped else error from None
            stopped.append(error)
            mend |= error.settings


def look_at_parts(file: str, data: Data, table: Table) -> tuple[dict[str, Any], list[Problem]]:
    """What the parts hold, as the task reads them, and what is wrong with them."""
    reading = data.reading
    found: dict[str, Any] = {
        "refused": len(reading.refused),
        "parts": {"train": len(reading.train), "valid": len(reading.valid), "test": len(reading.test)},
        "tokens": token_notes(data),
    }
    if isinstance(reading.train[0][0], Series):
        return {**found, "channels": channels_of(reading)}, series_problems(file, reading)
    parts = cast(table, data.task.name)
    subject = subject_of(file, data.recipe, reading, table=table, cast=parts)
    found["cast"] = {table.columns[at]: part for at, part in parts.items()}
    return {**found, "lengths": lengths_of(subject), **labels_of(subject)}, problems_of(subject)


def problem_of(error: AtentoError) -> Problem:
    """What stopped the reading."""
    return Problem("rows", error.problem, error.fix)


def subject_of(file: str, recipe: Recipe, reading: Reading, *, table: Table, cast: Cast) -> Subject:
    """The set in the form that problems are looked for in."""
    questions = (*reading.valid, *reading.test)
    several = recipe.task == "label"
    held_out = [
        (q.source, join(q.references) if several else q.references[0]) for q in questions if q.references or several
    ]
    targets = [target for _, target in (*reading.train, *held_out)]
    cut = CUT.get(recipe.task)
    return Subject(
        file=file,
        task=recipe.task,
        table=table,
        cast=cast,
        train=reading.train,
        held_out=held_out,
        tested=len(reading.test),
        own_test=bool(recipe.data.test),
        balance=recipe.train.balance,
        labels=[cut(target) for target in targets] if cut is not None else [],
    )


def one_label(target: str) -> list[str]:
    """A target that is a label."""
    return [target]


CUT: dict[str, Callable[[str], list[str]]] = {"classify": one_label, "match": one_label, "label": split, "tag": split}
CUT |= {"classify-pictures": one_label, "match-pictures": one_label, "classify-series": one_label}


def lengths_of(subject: Subject) -> list[dict[str, Any]]:
    """A histogram of every side that is text or numbers; words where there are any, else characters."""
    pairs = [*subject.train, *subject.held_out]
    if subject.task == "generate" and len(pairs) < FEW_DOCUMENTS:
        sides = {"lines": [row[0] for row in subject.table.rows if row[0].strip()]}
    elif subject.task == "translate":
        sides = {"source": [split(source)[0] for source, _ in pairs], "target": [target for _, target in pairs]}
    elif subject.task == "caption":
        sides = {"captions": [target for _, target in pairs]}
    elif subject.task == "match-pictures":
        sides = {"questions": [split(source)[-1] for source, _ in pairs]}
    elif subject.task == "classify-pictures":
        sides = {}
    else:
        sides = {SIDES.get(subject.task, "text"): [source for source, _ in pairs]}
    found = []
    for side, texts in sides.items():
        words = [len(text.split()) for text in texts]
        unit = "words" if sum(words) >= WORDY * len(words) else "characters"
        counts = words if unit == "words" else [len(text) for text in texts]
        found.append(
            {
                "of": side,
                "unit": "steps" if subject.task in NUMERIC else unit,
                "median": median(counts),
                "longest": max(counts),
                "bins": [{"name": each.name, **asdict(each)} for each in length_histogram(counts)],
            }
        )
    return found


def labels_of(subject: Subject) -> dict[str, Any]:
    """How often each label comes; a tag is counted for every word."""
    tags = subject.task == "tag"
    rows = [[tag] for row in subject.labels for tag in row] if tags else subject.labels
    return {
        "labels": [asdict(entry) for entry in label_histogram(rows)],
        "distinct_labels": len({label for row in rows for label in row}),
    }


def token_notes(data: Data) -> list[str]:
    """At what level the task cuts texts and what it finds there, from a part of the training rows."""
    step = 1 + len(data.reading.train) // MOST_LEARNED
    return list(learn_codec(data.task, data.recipe, data.reading.train[::step]).notes)


def inspect_builtin(name: str) -> dict[str, Any]:
    """A generated set needs no mending."""
    entry = BUILTIN[name]
    task = TASKS[entry.task]
    reading = task.read(DataRecipe(train=name), 0)
    shown = reading.train if entry.series is None else entry.make(DataRecipe(train=name), 0).train
    held = len(reading.valid) + len(reading.test)
    rows = sum(map(len, entry.series(DataRecipe(train=name), 0).series)) if entry.series else len(reading.train) + held
    return {
        "file": name,
        "kind": "built-in",
        "rows": rows,
        "columns": [],
        "refused": 0,
        "notes": list(reading.notes),
        "task": task.name,
        "guesses": {},
        "problems": [],
        "more_problems": 0,
        "examples": [list(pair) for pair in shown[:5]],
        "next": [f"atento compare {name}", f"atento train {name}"],
    }
