"""Contracts of a trained run, on examples of its own test part: its module, its answers, its losses."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from safetensors.numpy import load

from atento.bundle import OUTPUTS, PREDICTIONS, Bundle
from atento.checks.check import check
from atento.checks.finding import SHORT, Checked, Finding, difference, judged, not_applicable, tried
from atento.checks.subject import exact_copy
from atento.checks.translators import micro_batches
from atento.errors import InputError
from atento.spec import DecodeRecipe
from atento.tasks.task import judged as judged_answers

EXAMPLES = 6
NO_EXAMPLES = "the run has no test part, or its data is gone"
ALONE = "a source has the same answer alone as among others"
AS_TESTED = "the loaded model answers as the trained one did when it was tested"

Line = dict[str, Any]  # a source, the output it had when the run was tested, its references
TestWindows = dict[int, Any]  # sources of the test part by their number
Distance = Callable[[Any, Any], float]  # of two arrays


def check_run(bundle: Bundle) -> Checked:
    """The contracts of the module of a run, then those of its answers and losses."""
    distance = bundle.task.judging.distance
    own = answer_contracts(bundle) if distance is None else array_contracts(bundle, partial(distance, bundle.codec))
    names = {finding.contract for finding in own}
    findings = [finding for finding in check(bundle.module) if finding.contract not in names]
    return Checked(f"{bundle.recipe.model.name} ({bundle.task.name})", [*findings, *own])


def answer_contracts(bundle: Bundle) -> list[Finding]:
    """The contracts of answers that are texts or lists, which are saved in full when a run is tested."""
    lines = some_lines(bundle)
    laws = {"answers": answers_alone, "as tested": answers_as_tested, "micro-batches": losses_add_up}
    return [
        tried(name, partial(law, bundle, lines)) if lines else not_applicable(name, NO_EXAMPLES)
        for name, law in laws.items()
    ]


def some_lines(bundle: Bundle) -> list[Line]:
    """A few lines of the test part, short and long."""
    path = bundle.folder / PREDICTIONS
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    ordered = sorted(lines, key=lambda line: len(line["source"]))
    return ordered[:: max(1, -(-len(ordered) // EXAMPLES))]


def answers_alone(bundle: Bundle, lines: list[Line]) -> Finding:
    """Other sources in the same call change no answer."""
    sources, decode = [line["source"] for line in lines], DecodeRecipe()
    together = bundle.task.answering.answer(bundle.module, bundle.codec, sources, decode)
    alone = [bundle.task.answering.answer(bundle.module, bundle.codec, [source], decode)[0] for source in sources]
    gap = max(unlike(bundle, one.judged, other.judged) for one, other in zip(together, alone, strict=True))
    scores = [torch.tensor([answer.score or 0.0 for answer in some]) for some in (together, alone)]
    return judged("answers", max(gap, difference(*scores)), SHORT, ALONE)


def answers_as_tested(bundle: Bundle, lines: list[Line]) -> Finding:
    """The loaded model answers as the trained one did when it was tested."""
    sources = [line["source"] for line in lines]
    outputs, answers = judged_answers(bundle.task, bundle.module, bundle.codec, sources, bundle.recipe.decode)
    pairs = [(output, line["output"]) for output, line in zip(outputs, lines, strict=True)]
    gaps = [score_difference(*pair) if answers is None else unlike(bundle, *pair) for pair in pairs]
    changed = sum(gap > SHORT for gap in gaps)
    otherwise = f"{changed} of {len(lines)} answers differ from those of the test"
    return judged("as tested", max(gaps), SHORT, AS_TESTED, otherwise=otherwise)


def score_difference(one: Any, other: Any) -> float:
    """The difference of two log-probabilities for each character."""
    return abs(float(one[0]) - float(other[0])) / max(1.0, float(one[1]))


def unlike(bundle: Bundle, one: Any, other: Any) -> float:
    """The error of one text if the other were right; lists are equal (0) or not (1)."""
    return bundle.task.judging.error(bundle.codec, one, [other]) if isinstance(one, str) else float(one != other)


def losses_add_up(bundle: Bundle, lines: list[Line]) -> Finding:
    """The task's own losses of single examples add up to that of the batch."""
    task = bundle.task
    rows: Any = [
        task.learning.encode(bundle.codec, (line["source"], task.judging.target(line["references"]))) for line in lines
    ]
    if task.learning.windows is not None:
        rows = task.learning.windows(rows, bundle.recipe.train, bundle.codec).examples[:EXAMPLES]
    batch = task.learning.batch(bundle.codec, rows)
    exact = type(batch)(*(part.double() if part.is_floating_point() else part for part in batch))
    return micro_batches(exact_copy(bundle.module), exact, lambda module, rows: task.learning.loss(module, rows, 0.0))


def array_contracts(bundle: Bundle, distance: Distance) -> list[Finding]:
    """The contracts of answers that are arrays, compared by the distance that the task declares."""
    windows = some_windows(bundle)
    laws = {"answers": arrays_alone, "as tested": arrays_as_tested}
    return [
        tried(name, partial(law, bundle, windows, distance)) if windows else not_applicable(name, NO_EXAMPLES)
        for name, law in laws.items()
    ]


def some_windows(bundle: Bundle) -> TestWindows:
    """A few sources of the test part, evenly spaced."""
    try:
        test = bundle.read().test
    except InputError:
        return {}
    return {at: test[at].source for at in range(0, len(test), max(1, -(-len(test) // EXAMPLES)))}


def arrays_alone(bundle: Bundle, windows: TestWindows, distance: Distance) -> Finding:
    """Other sources in the same call change no answer."""
    decode = DecodeRecipe()
    together = array_answers(bundle, list(windows.values()), decode)
    alone = [array_answers(bundle, [source], decode)[0] for source in windows.values()]
    return judged("answers", max(map(distance, together, alone)), SHORT, ALONE)


def arrays_as_tested(bundle: Bundle, windows: TestWindows, distance: Distance) -> Finding:
    """The loaded model answers as the trained one did when it was tested."""
    path = bundle.folder / OUTPUTS
    if not path.exists():
        return not_applicable("as tested", NO_EXAMPLES)
    tested = load(path.read_bytes())["outputs"]
    answers = array_answers(bundle, list(windows.values()), bundle.recipe.decode)
    gap = max(map(distance, answers, (tested[at] for at in windows)))
    return judged("as tested", gap, SHORT, AS_TESTED)


def array_answers(bundle: Bundle, sources: list[Any], decode: DecodeRecipe) -> list[Any]:
    """The array of each answer."""
    return [answer.value for answer in bundle.task.answering.answer(bundle.module, bundle.codec, sources, decode)]
