"""Simple baselines beside a trained model: the quick ones of its task, fitted on the same training part and tested in
the same examination, so that a result is never read alone.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

from atento.bundle import Json
from atento.data.examples.batches import sample_of
from atento.errors import AtentoError
from atento.metrics.bootstrap import tied
from atento.metrics.metric import Metric
from atento.tasks.task import Baseline, Dataset, EvaluationExample, Task, baselines_of

FAILURES = (AtentoError, ValueError, MemoryError)  # of a simple model, which is then left out or says why
SECONDS = 5.0  # that all baselines together may take, about
TRIAL = 400  # training examples from which the time is estimated
ASKED = 50  # questions of such a trial
MOST_NUMBERS = 200_000  # of series: rows × channels from which baselines are fitted in a few seconds


def fit_quick(task: Task, codec: Any, reading: Dataset, *, seconds: float = SECONDS) -> list[Baseline]:
    """The baselines of a task that are fitted and asked within a few seconds; those that fail are left out."""
    pairs, fitted = sample_of(reading.train), []
    if not len(reading.test) or (task.reading.kind == "series" and numbers_of(pairs) > MOST_NUMBERS):
        return []
    for make in baselines_of(task, codec):
        started = time.perf_counter()
        try:
            if len(pairs) > TRIAL and seconds_needed(make, pairs, len(reading.test)) > seconds:
                continue
            fitted.append(fit_one(make, pairs))
        except FAILURES:
            continue
        finally:
            seconds -= time.perf_counter() - started
    return fitted


def fit_one(make: Callable[[], Baseline], pairs: Sequence[tuple[Any, Any]]) -> Baseline:
    """A new baseline, fitted."""
    baseline = make()
    baseline.fit([source for source, _ in pairs], [target for _, target in pairs])
    return baseline


def numbers_of(pairs: Sequence[tuple[Any, Any]]) -> int:
    """How many numbers the series of a training part hold."""
    return sum(int(series.values.size) for series, _ in pairs)


def seconds_needed(make: Callable[[], Baseline], pairs: Sequence[tuple[Any, Any]], asked: int) -> float:
    """About how long fitting on all pairs and so many answers would take, from a trial on some of the pairs."""
    some = [pairs[place] for place in range(0, len(pairs), -(-len(pairs) // TRIAL))]
    began = time.perf_counter()
    baseline = fit_one(make, some)
    fitted = time.perf_counter()
    baseline.predict([source for source, _ in some[:ASKED]])
    answered = time.perf_counter()
    return len(pairs) / len(some) * (fitted - began + (answered - fitted) * asked / min(ASKED, len(some)))


def compare_with(
    baselines: Sequence[Baseline], test: Sequence[EvaluationExample], outputs: Sequence[Any], metric: Metric
) -> Json:
    """The headline of each baseline on the test part, and how the best of them stands to the model's outputs: better,
    tied or worse, by the paired bootstrap.
    """
    references = [question.references for question in test]
    bound = metric.for_sources([question.source for question in test])
    found: dict[str, tuple[float, list[Any]]] = {}
    for baseline in baselines:
        try:
            answers = list(baseline.predict([question.source for question in test]))
            found[baseline.name] = bound.value(answers, references), answers
        except FAILURES:
            continue
    if not found or not len(test):
        return {}
    best = max(found, key=lambda name: metric.to_maximize(found[name][0]))
    own = bound.value(list(outputs), references)
    ahead = metric.to_maximize(found[best][0]) > metric.to_maximize(own)
    same = tied(bound, [found[best][1]], [list(outputs)], references)
    return {
        "scores": {name: value for name, (value, _) in found.items()},
        "best": best,
        "standing": "tied" if same else "better" if ahead else "worse",
    }
