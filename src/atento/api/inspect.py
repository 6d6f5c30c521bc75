"""What a file is, what is wrong with it, and what to type next."""

from typing import Any

from atento.data.builtin.catalogue import BUILTIN, is_builtin
from atento.data.evidence import gather
from atento.errors import AtentoError
from atento.spec import DataRecipe
from atento.tasks.catalogue import LIKELY, TASKS, recognise

MOST_PROBLEMS = 20


def inspect(file: str) -> dict[str, Any]:
    """Facts, the guess and its reason, problems with a way to mend each, and commands to go on with."""
    if is_builtin(file):
        return inspect_builtin(file)
    evidence = gather(file)
    guesses = recognise(evidence)
    best = max(guesses, key=lambda task: guesses[task].likelihood)
    likely = guesses[best].likelihood >= LIKELY
    problems = [{"where": str(refusal), "fix": refusal.fix} for refusal in evidence.refused]
    notes = list(evidence.notes)
    if not problems and likely:
        try:
            notes = list(TASKS[best].read(DataRecipe(train=file), 0).notes)
        except AtentoError as error:
            problems = [{"where": error.problem, "fix": error.fix}]
    if evidence.duplicates:
        fix = "none is needed: equal sources never straddle the split"
        problems.append({"where": f"{evidence.duplicates} rows repeat an earlier one", "fix": fix})
    skip = " --set data.bad_rows=skip" if evidence.refused else ""
    return {
        **evidence.to_json(),
        "refused": len(evidence.refused),
        "notes": notes,
        "task": best if likely else None,
        "guesses": {task: {"likelihood": guess.likelihood, "reason": guess.reason} for task, guess in guesses.items()},
        "problems": problems[:MOST_PROBLEMS],
        "more_problems": max(0, len(problems) - MOST_PROBLEMS),
        "next": [f"atento compare {file}{skip}", f"atento train {file}{skip}"] if likely else ["atento data"],
    }


def inspect_builtin(name: str) -> dict[str, Any]:
    """A generated set needs no mending."""
    task = TASKS[BUILTIN[name].task]
    reading = task.read(DataRecipe(train=name), 0)
    return {
        "file": name,
        "kind": "built-in",
        "rows": len(reading.train) + len(reading.valid) + len(reading.test),
        "columns": [],
        "refused": 0,
        "notes": list(reading.notes),
        "task": task.name,
        "guesses": {},
        "problems": [],
        "more_problems": 0,
        "examples": [list(pair) for pair in reading.train[:5]],
        "next": [f"atento compare {name}", f"atento train {name}"],
    }
