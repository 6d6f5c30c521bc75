"""Bootstrap intervals: what the metric would have been on other examples of the same kind (Efron, 1979), and, where a
model was trained from several seeds, from other seeds.

Quality against length: where a model begins to forget.
A whole examination: every metric with its interval, and quality against length.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.metrics.metric import Metric, Sums

RESAMPLES = 1000

# Axes: N examples, S statistics, R resamples, M runs of one model.

Runs = Sequence[Sequence[Any]]  # the outputs of each run


class Interval(NamedTuple):
    """A value and the bounds that hold 95 % of the resamples."""

    value: float
    low: float
    high: float


def resampled(metric: Metric, statistics: Sums, *, seed: int = 0, resamples: int = RESAMPLES) -> NDArray[np.float64]:
    """The metric of each resample (R,), from (N, S), or from (M, N, S) of several runs, which are drawn too. The same
    seed and count of examples draw the same examples, so that two models are compared on equal resamples."""
    runs = statistics if statistics.ndim == 3 else statistics[None]  # (M, N, S)
    count, examples = runs.shape[:2]
    chance = np.random.default_rng(seed)
    draws = chance.multinomial(examples, np.full(examples, 1 / examples), size=resamples).astype(np.float64)  # (R, N)
    each = np.stack([draws @ run for run in runs], axis=1)  # (R, M, S)
    if count == 1:
        return np.asarray(metric.formula(each[:, 0]))
    picked = np.random.default_rng([seed, count]).multinomial(count, np.full(count, 1 / count), size=resamples)
    return np.asarray(metric.formula(np.einsum("rm,rms->rs", picked.astype(np.float64), each)))


def statistics_of(metric: Metric, runs: Runs, references: Sequence[Sequence[str]]) -> Sums:
    """(M, N, S); all runs are counted together, for a metric may number the labels it meets. An output may have
    several rows, as many in every run.
    """
    together = metric.statistics([output for run in runs for output in run], list(references) * len(runs))
    return together.reshape(len(runs), len(together) // len(runs), together.shape[-1])  # S may be none at all


def interval_over(
    metric: Metric, runs: Runs, references: Sequence[Sequence[str]], *, resamples: int = RESAMPLES
) -> Interval:
    """The value of one or more runs with its 95 % bootstrap interval."""
    if not references:
        return Interval(0.0, 0.0, 0.0)
    statistics = statistics_of(metric, runs, references)
    value = float(metric.formula(statistics.sum(axis=(0, 1))[None])[0])
    low, high = np.quantile(resampled(metric, statistics, resamples=resamples), [0.025, 0.975])
    return Interval(value, float(low), float(high))


def interval(
    metric: Metric, outputs: Sequence[Any], references: Sequence[Sequence[str]], *, resamples: int = RESAMPLES
) -> Interval:
    """The value of one run with its 95 % bootstrap interval."""
    return interval_over(metric, [outputs], references, resamples=resamples)


def tied_over(metric: Metric, left: Runs, right: Runs, references: Sequence[Sequence[str]]) -> bool:
    """Whether the paired difference of two models on the same examples may well be zero (95 %)."""
    if not references:
        return True
    differences = resampled(metric, statistics_of(metric, left, references)) - resampled(
        metric, statistics_of(metric, right, references)
    )
    low, high = np.quantile(differences, [0.025, 0.975])
    return bool(low <= 0.0 <= high)


def tied(metric: Metric, left: Sequence[Any], right: Sequence[Any], references: Sequence[Sequence[str]]) -> bool:
    """The same of one run each."""
    return tied_over(metric, [left], [right], references)


NUMBER = r"[-+]?\.?\d[\d.eE+-]*"
SEQUENCE = re.compile(rf"(?:(?:{NUMBER}|\?)(?:,(?:{NUMBER}|\?))*\s+)+(?:{NUMBER}|\?)(?:,(?:{NUMBER}|\?))*")


class LengthBand(NamedTuple):
    """Sources of like length, and how well they were answered."""

    shortest: int
    longest: int
    examples: int
    quality: Interval
    unit: str = ""  # steps of sequences of numbers; else characters

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        label = f"{self.shortest}–{self.longest}"
        band = {"label": label, "from": self.shortest, "to": self.longest, "count": self.examples}
        return {**band, **({"by": self.unit} if self.unit else {}), **self.quality._asdict()}


def are_sequences(sources: Sequence[Any]) -> bool:
    """Whether all sources are sequences of numbers, as they are written: `0.5 -1` or, of two channels, `0.5,2 -1,3`."""
    return bool(sources) and all(isinstance(source, str) and SEQUENCE.fullmatch(source) for source in sources)


def by_length(
    metric: Metric,
    sources: Sequence[Any],
    runs: Runs,
    references: Sequence[Sequence[Any]],
    *,
    bands: int = 3,
) -> list[LengthBand]:
    """Bands of about equally many sources by characters, or by steps of numbers; equal lengths are never torn apart."""
    unit = "steps" if are_sequences(sources) else ""
    sizes = [len(source.split()) if unit else len(source) for source in sources]
    order = sorted(range(len(sources)), key=sizes.__getitem__)
    found: list[LengthBand] = []
    first = 0
    for band in range(1, bands + 1):
        last = len(order) * band // bands
        while 0 < last < len(order) and sizes[order[last]] == sizes[order[last - 1]]:
            last += 1
        chosen = order[first:last]
        if chosen:
            some = [[outputs[index] for index in chosen] for outputs in runs]
            quality = interval_over(metric, some, [references[index] for index in chosen])
            lengths = sizes[chosen[0]], sizes[chosen[-1]]
            found.append(LengthBand(*lengths, len(chosen), quality, unit))
        first = max(first, last)
    return found


Bands = Callable[[Metric, Sequence[Any], Runs, Sequence[Any]], list[dict[str, Any]]]


def length_bands(metric: Metric, sources: Sequence[Any], runs: Runs, references: Sequence[Any]) -> list[dict[str, Any]]:
    """Quality against the length of sources."""
    return [band.to_json() for band in by_length(metric, sources, runs, references)]


def examine(
    metrics: Sequence[Metric],
    sources: Sequence[Any],
    runs: Runs,
    references: Sequence[Sequence[Any]],
    *,
    bands: Bands = length_bands,
) -> dict[str, Any]:
    """The first metric is the headline; quality against length is in it. Runs are of one model, from several seeds."""
    told = [metric.on(sources) for metric in metrics]
    return {
        "metric": metrics[0].name,
        "smaller_is_better": metrics[0].smaller_is_better,
        "metrics": {metric.name: metric.summary for metric in metrics},
        "scores": {metric.name: list(interval_over(metric, runs, references)) for metric in told},
        "lengths": bands(told[0], sources, runs, references),
        "examples": len(references),
    }
