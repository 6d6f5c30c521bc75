"""Bootstrap confidence intervals of metrics (Efron, 1979): of a model, of a difference, and against length.

Examples are drawn with replacement; where a model was trained from several seeds, its runs are drawn too.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.metrics.metric import Metric, Sums

# Axes: N examples, S statistics, R resamples, M runs of one model.

RESAMPLES = 1000
BOUNDS = (0.025, 0.975)  # quantiles of the resamples
NUMBERS_AT_ONCE = 2**22  # drawn or summed together: 32 MB
MIN_EXAMPLES = 2  # of an interval: one example alone says nothing of the next
NAN = float("nan")
NUMBER = r"[-+]?\.?\d[\d.eE+-]*"
SEQUENCE = re.compile(rf"(?:(?:{NUMBER}|\?)(?:,(?:{NUMBER}|\?))*\s+)+(?:{NUMBER}|\?)(?:,(?:{NUMBER}|\?))*")

Runs = Sequence[Sequence[Any]]  # the predictions of each run


class Interval(NamedTuple):
    """The value of a metric and its 95 % confidence bounds; NaN where nothing was measured."""

    value: float
    low: float
    high: float

    def to_json(self) -> list[float | None]:
        """The three numbers; None where there is none."""
        return [number if np.isfinite(number) else None for number in self]


def bootstrap_values(
    metric: Metric, runs: Sequence[Sums], *, seed: int = 0, resamples: int = RESAMPLES
) -> NDArray[np.float64]:
    """The metric of each resample (R,), from the statistics (N, S) of each run of a model, some resamples at a time.

    The same seed and number of examples draw the same examples, so that two models are compared on equal resamples.
    """
    count, (examples, size) = len(runs), runs[0].shape
    random, random_runs = np.random.default_rng(seed), np.random.default_rng([seed, count])
    at_once = max(1, NUMBERS_AT_ONCE // max(1, examples, count * size))
    values = []
    for first in range(0, resamples, at_once):
        some = min(at_once, resamples - first)
        draws = random.multinomial(examples, np.full(examples, 1 / examples), size=some).astype(np.float64)  # (R, N)
        sums = np.stack([draws @ run for run in runs], axis=1)  # (R, M, S)
        picked = random_runs.multinomial(count, np.full(count, 1 / count), size=some)  # (R, M)
        values.append(metric.formula(np.einsum("rm,rms->rs", picked.astype(np.float64), sums)))
    return np.concatenate(values)


def run_statistics(metric: Metric, runs: Runs, references: Sequence[Sequence[str]]) -> list[Sums]:
    """The statistics (N, S) of each run, counted in one call: a metric may number the labels that occur.

    A prediction may have several rows of statistics, as many in every run.
    """
    together = metric.statistics([output for run in runs for output in run], list(references) * len(runs))
    rows = together.shape[0] // len(runs)
    return [together[number * rows : (number + 1) * rows] for number in range(len(runs))]


def bootstrap_interval(
    metric: Metric, runs: Runs, references: Sequence[Sequence[str]], *, resamples: int = RESAMPLES
) -> Interval:
    """The value of one or more runs of a model with its 95 % bootstrap interval; no value without examples, no
    interval from a single one.
    """
    if not len(references):
        return Interval(NAN, NAN, NAN)
    statistics = run_statistics(metric, runs, references)
    value = float(metric.formula(np.sum([run.sum(axis=0) for run in statistics], axis=0)[None])[0])
    if statistics[0].shape[0] < MIN_EXAMPLES:
        return Interval(value, NAN, NAN)
    values = bootstrap_values(metric, statistics, resamples=resamples)
    known = values[~np.isnan(values)]  # a resample may hold nothing that the metric is about
    low, high = np.quantile(known, BOUNDS) if len(known) else (NAN, NAN)
    return Interval(value, float(low), float(high))


def tied(metric: Metric, left: Runs, right: Runs, references: Sequence[Sequence[str]]) -> bool:
    """Whether the 95 % interval of the paired difference of two models on the same examples holds zero."""
    if not references:
        return True
    differences = bootstrap_values(metric, run_statistics(metric, left, references)) - bootstrap_values(
        metric, run_statistics(metric, right, references)
    )
    low, high = np.quantile(differences, BOUNDS)
    return bool(low <= 0.0 <= high)


class Band(NamedTuple):
    """The metric on the examples, or the steps, between two lengths, both included."""

    first: int
    last: int
    examples: int
    quality: Interval
    unit: str = ""  # of the lengths; empty: characters

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        label = f"{self.first}–{self.last}" if self.last > self.first else str(self.first)
        band = {"label": label, "from": self.first, "to": self.last, "count": self.examples}
        quality = dict(zip(Interval._fields, self.quality.to_json(), strict=True))
        return {**band, **({"by": self.unit} if self.unit else {}), **quality}


BandFunction = Callable[[Metric, Sequence[Any], Runs, Sequence[Any]], list[Band]]  # sources, predictions, references


def are_sequences(sources: Sequence[Any]) -> bool:
    """Whether all sources are written sequences of numbers: `0.5 -1` or, of two channels, `0.5,2 -1,3`."""
    return bool(sources) and all(isinstance(source, str) and SEQUENCE.fullmatch(source) for source in sources)


def length_bands(
    metric: Metric, sources: Sequence[Any], runs: Runs, references: Sequence[Sequence[Any]], *, bands: int = 3
) -> list[Band]:
    """The metric by length of the source, in bands of about equally many sources; equal lengths share a band.

    The length is in characters, or in time steps where the sources are sequences of numbers.
    """
    unit = "steps" if are_sequences(sources) else ""
    sizes = [len(source.split()) if unit else len(source) for source in sources]
    order = sorted(range(len(sources)), key=sizes.__getitem__)
    found: list[Band] = []
    first = 0
    for band in range(1, bands + 1):
        last = len(order) * band // bands
        while 0 < last < len(order) and sizes[order[last]] == sizes[order[last - 1]]:
            last += 1
        chosen = order[first:last]
        if chosen:
            some = [[outputs[index] for index in chosen] for outputs in runs]
            quality = bootstrap_interval(metric, some, [references[index] for index in chosen])
            found.append(Band(sizes[chosen[0]], sizes[chosen[-1]], len(chosen), quality, unit))
        first = max(first, last)
    return found


def size_bands(
    size: Callable[[str], int],
    unit: str,
    metric: Metric,
    sources: Sequence[Any],
    runs: Runs,
    references: Sequence[Sequence[Any]],
) -> list[Band]:
    """The metric by another size of the source than its length, such as the digits of a number: a band for each size.

    By length where the size of a source is not known (0), as in a file of other texts.
    """
    sizes = [size(source) for source in sources]
    if not all(sizes):
        return length_bands(metric, sources, runs, references)
    found: list[Band] = []
    for each in sorted(set(sizes)):
        chosen = [index for index, one in enumerate(sizes) if one == each]
        some = [[outputs[index] for index in chosen] for outputs in runs]
        quality = bootstrap_interval(metric, some, [references[index] for index in chosen])
        found.append(Band(each, each, len(chosen), quality, unit))
    return found


def evaluate_runs(
    metrics: Sequence[Metric],
    sources: Sequence[Any],
    runs: Runs,
    references: Sequence[Sequence[Any]],
    *,
    bands: BandFunction = length_bands,
) -> dict[str, Any]:
    """Every metric with its interval; the first one, the headline, also in bands. Runs are of one model."""
    bound = [metric.for_sources(sources) for metric in metrics]
    return {
        "metric": metrics[0].name,
        "smaller_is_better": metrics[0].smaller_is_better,
        "metrics": {metric.name: metric.summary for metric in metrics},
        "scores": {metric.name: bootstrap_interval(metric, runs, references).to_json() for metric in bound},
        "lengths": [band.to_json() for band in bands(bound[0], sources, runs, references)],
        "examples": len(references),
    }
