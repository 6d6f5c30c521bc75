"""A whole examination: every metric with its interval, and quality against length."""

from collections.abc import Callable, Sequence
from typing import Any

from atento.metrics.intervals import Runs, interval_over
from atento.metrics.lengths import by_length
from atento.metrics.metric import Metric

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
