"""Contracts of a trained run, on examples of its own test part: its module, its answers, its losses."""

import json
from functools import partial
from typing import Any

import torch

from atento.bundle import PREDICTIONS, Bundle
from atento.checks.check import check
from atento.checks.finding import SHORT, Checked, Finding, apart, aside, judged, tried
from atento.checks.series import check_forecasts, check_recreations
from atento.checks.subject import exact_copy
from atento.checks.translators import micro_batches
from atento.spec import DecodeRecipe
from atento.tasks.autoencode.codec import WindowCodec
from atento.tasks.forecast.codec import SeriesCodec
from atento.tasks.task import judged as judged_answers

EXAMPLES = 6
NO_EXAMPLES = "the run has no test part"

Line = dict[str, Any]  # a source, the output it got when the run was tested, its references


def check_run(bundle: Bundle) -> Checked:
    """The contracts of its module, then of the task's own answers and losses."""
    if isinstance(bundle.codec, SeriesCodec):
        return check_forecasts(bundle)
    if isinstance(bundle.codec, WindowCodec):
        return check_recreations(bundle)
    lines = some_lines(bundle)
    laws = {"answers": answers_alone, "as tested": as_tested, "micro-batches": losses_add_up}
    own = [
        tried(name, partial(law, bundle, lines)) if lines else aside(name, NO_EXAMPLES) for name, law in laws.items()
    ]
    findings = [finding for finding in check(bundle.module) if finding.contract not in laws]
    return Checked(f"{bundle.recipe.model.name} ({bundle.task.name})", [*findings, *own])


def some_lines(bundle: Bundle) -> list[Line]:
    """A few lines of the test part, short and long."""
    path = bundle.folder / PREDICTIONS
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    ordered = sorted(lines, key=lambda line: len(line["source"]))
    return ordered[:: max(1, -(-len(ordered) // EXAMPLES))]


def answers_alone(bundle: Bundle, lines: list[Line]) -> Finding:
    """What else is asked in the same call changes no answer."""
    sources, decode = [line["source"] for line in lines], DecodeRecipe()
    together = bundle.task.answer(bundle.module, bundle.codec, sources, decode)
    alone = [bundle.task.answer(bundle.module, bundle.codec, [source], decode)[0] for source in sources]
    gap = max(unlike(bundle, one.judged, other.judged) for one, other in zip(together, alone, strict=True))
    scores = [torch.tensor([answer.score or 0.0 for answer in some]) for some in (together, alone)]
    words = "a source asked alone gets the answer it gets in company"
    return judged("answers", max(gap, apart(*scores)), SHORT, words)


def as_tested(bundle: Bundle, lines: list[Line]) -> Finding:
    """The loaded model answers as the trained one did when it was tested."""
    sources = [line["source"] for line in lines]
    outputs, answers = judged_answers(bundle.task, bundle.module, bundle.codec, sources, bundle.recipe.decode)
    pairs = [(output, line["output"]) for output, line in zip(outputs, lines, strict=True)]
    gaps = [apart_in_score(*pair) if answers is None else unlike(bundle, *pair) for pair in pairs]
    words = "the loaded model answers as the trained one did when it was tested"
    others = sum(gap > SHORT for gap in gaps)
    return judged(
        "as tested", max(gaps), SHORT, words, otherwise=f"{others} of {len(lines)} answers are others than when tested"
    )


def apart_in_score(one: Any, other: Any) -> float:
    """How far two judgements lie apart, a log-probability first, for each character."""
    return abs(float(one[0]) - float(other[0])) / max(1.0, float(one[1]))


def unlike(bundle: Bundle, one: Any, other: Any) -> float:
    """How wrong one answer would be if the other were right; lists are the same or not."""
    return bundle.task.wrong(bundle.codec, one, [other]) if isinstance(one, str) else float(one != other)


def losses_add_up(bundle: Bundle, lines: list[Line]) -> Finding:
    """The task's own loss of real examples: row by row it adds up to the batch's."""
    task = bundle.task
    rows: Any = [task.encode(bundle.codec, (line["source"], task.target(line["references"]))) for line in lines]
    if task.windows is not None:
        rows = task.windows(rows, bundle.recipe.train, bundle.codec).examples[:EXAMPLES]
    batch = task.batch(rows)
    exact = type(batch)(*(part.double() if part.is_floating_point() else part for part in batch))
    return micro_batches(exact_copy(bundle.module), exact, lambda module, rows: task.loss(module, rows, 0.0))
