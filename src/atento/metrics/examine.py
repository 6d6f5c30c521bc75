"""A whole examination: every metric with its interval, and quality against length."""

from collections.abc import Sequence
from typing import Any

from atento.metrics.intervals import interval
from atento.metrics.lengths import by_length
from atento.metrics.metric import Metric


def examine(
    metrics: Sequence[Metric], sources: Sequence[str], outputs: Sequence[Any], references: Sequence[Sequence[str]]
) -> dict[str, Any]:
    """The first metric is the headline; quality against length is in it."""
    return {
        "metric": metrics[0].name,
        "smaller_is_better": metrics[0].smaller_is_better,
        "metrics": {metric.name: metric.summary for metric in metrics},
        "scores": {metric.name: list(interval(metric, outputs, references)) for metric in metrics},
        "lengths": [band.to_json() for band in by_length(metrics[0], sources, outputs, references)],
        "examples": len(outputs),
    }
