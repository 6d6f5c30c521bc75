"""Contracts of a trained run, on examples of its own test part: its module, its answers, its losses."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch

from atento.bundle import OUTPUTS, Bundle, read_outputs, read_predictions
from atento.checks.check import check
from atento.checks.finding import SHORT, Checked, Finding, difference, judged, not_applicable, tried
from atento.checks.subject import exact_copy
from atento.checks.translators import micro_batches
from atento.errors import InputError
from atento.spec import DecodeRecipe
from atento.tasks.baselines import is_baseline
from atento.tasks.task import judged as judged_answers

EXAMPLES = 6
NO_EXAMPLES = "the run has no test part, or its data is gone"


class TestedExample(NamedTuple):
    """A source of the test part, the output it had when the run was tested, and what is right."""

    source: Any
    output: Any  # None: it was not kept
    references: Any


def check_run(bundle: Bundle) -> Checked:
    """The contracts of the module of a run, then those of its answers and losses."""
    arrays = bundle.task.judging.distance is not None
    examples = some_windows(bundle) if arrays else some_lines(bundle)
    laws = {"answers": answers_alone, "as tested": answers_as_tested}
    if is_baseline(bundle.module):
        own = [law_of(name, law, bundle, examples) for name, law in laws.items()]
        network = not_applicable("network", "a simple baseline has no layers, gradients or losses to check")
        return Checked(f"{bundle.recipe.model.name} ({bundle.task.name})", [*own, network])
    if not arrays:
        laws["micro-batches"] = losses_add_up
    own = [law_of(name, law, bundle, examples) for name, law in laws.items()]
    findings = [finding for finding in check(bundle.module) if finding.contract not in laws]
    return Checked(f"{bundle.recipe.model.name} ({bundle.task.name})", [*findings, *own])


def law_of(
    name: str, law: Callable[[Bundle, list[TestedExample]], Finding], bundle: Bundle, examples: list[TestedExample]
) -> Finding:
    """What a law finds on the examples; without any it does not apply."""
    return tried(name, partial(law, bundle, examples)) if examples else not_applicable(name, NO_EXAMPLES)


def some_lines(bundle: Bundle) -> list[TestedExample]:
    """A few examples whose answers are texts or lists, short and long; these were saved in full."""
    ordered = sorted(read_predictions(bundle.folder), key=lambda line: len(line["source"]))
    lines = ordered[:: max(1, -(-len(ordered) // EXAMPLES))]
    return [TestedExample(line["source"], line["output"], line["references"]) for line in lines]


def some_windows(bundle: Bundle) -> list[TestedExample]:
    """A few examples whose answers are arrays, evenly spaced; their sources are in the data alone."""
    try:
        test = bundle.read().test
    except InputError:
        return []
    tested = read_outputs(bundle.folder) if (bundle.folder / OUTPUTS).exists() else [None] * len(test)
    some = range(0, len(test), max(1, -(-len(test) // EXAMPLES)))
    return [TestedExample(test[at].source, tested[at], test[at].references) for at in some]


def answers_alone(bundle: Bundle, examples: list[TestedExample]) -> Finding:
    """Other sources in the same call change no answer."""
    answer = partial(bundle.task.answering.answer, bundle.module, bundle.codec)
    together = answer([example.source for example in examples], DecodeRecipe())
    alone = [answer([example.source], DecodeRecipe())[0] for example in examples]
    gap = max(unlike(bundle, one.judged, other.judged) for one, other in zip(together, alone, strict=True))
    scores = [torch.tensor([answer.score or 0.0 for answer in some]) for some in (together, alone)]
    words = "a source has the same answer alone as among others"
    return judged("answers", max(gap, difference(*scores)), SHORT, words)


def answers_as_tested(bundle: Bundle, examples: list[TestedExample]) -> Finding:
    """The loaded model answers as the trained one did when it was tested."""
    if examples[0].output is None:
        return not_applicable("as tested", NO_EXAMPLES)
    sources = [example.source for example in examples]
    outputs, answers = judged_answers(bundle.task, bundle.module, bundle.codec, sources, bundle.recipe.decode)
    pairs = [(output, example.output) for output, example in zip(outputs, examples, strict=True)]
    gaps = [score_difference(*pair) if answers is None else unlike(bundle, *pair) for pair in pairs]
    words = "the loaded model answers as the trained one did when it was tested"
    otherwise = f"{sum(gap > SHORT for gap in gaps)} of {len(examples)} answers differ from those of the test"
    return judged("as tested", max(gaps), SHORT, words, otherwise=otherwise)


def score_difference(one: Any, other: Any) -> float:
    """The difference of two log-probabilities for each character."""
    return abs(float(one[0]) - float(other[0])) / max(1.0, float(one[1]))


def unlike(bundle: Bundle, one: Any, other: Any) -> float:
    """The distance of two arrays; the error of one text if the other were right; lists are equal (0) or not (1)."""
    if bundle.task.judging.distance is not None:
        return bundle.task.judging.distance(bundle.codec, one, other)
    return bundle.task.judging.error(bundle.codec, one, [other]) if isinstance(one, str) else float(one != other)


def losses_add_up(bundle: Bundle, examples: list[TestedExample]) -> Finding:
    """The task's own losses of single examples add up to that of the batch."""
    task = bundle.task
    pairs = [(example.source, task.judging.target(example.references)) for example in examples]
    rows: Any = [task.learning.encode(bundle.codec, pair) for pair in pairs]
    if task.learning.windows is not None:
        rows = task.learning.windows(rows, bundle.recipe.train, bundle.codec).examples[:EXAMPLES]
    batch = task.learning.batch(bundle.codec, rows)
    exact = type(batch)(*(part.double() if part.is_floating_point() else part for part in batch))
    return micro_batches(exact_copy(bundle.module), exact, lambda module, rows: task.learning.loss(module, rows, 0.0))
