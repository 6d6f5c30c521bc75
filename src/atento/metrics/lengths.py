"""Quality against length: where a model begins to forget."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from atento.metrics.intervals import Interval, Runs, interval_over
from atento.metrics.metric import Metric


class LengthBand(NamedTuple):
    """Sources of like length, and how well they were answered."""

    shortest: int
    longest: int
    examples: int
    quality: Interval

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        label = f"{self.shortest}–{self.longest}"
        band = {"label": label, "from": self.shortest, "to": self.longest, "count": self.examples}
        return {**band, **self.quality._asdict()}


def by_length(
    metric: Metric,
    sources: Sequence[Any],
    runs: Runs,
    references: Sequence[Sequence[Any]],
    *,
    bands: int = 3,
) -> list[LengthBand]:
    """Bands of about equally many sources, by characters; equal lengths are never torn apart."""
    order = sorted(range(len(sources)), key=lambda index: len(sources[index]))
    found: list[LengthBand] = []
    first = 0
    for band in range(1, bands + 1):
        last = len(order) * band // bands
        while 0 < last < len(order) and len(sources[order[last]]) == len(sources[order[last - 1]]):
            last += 1
        chosen = order[first:last]
        if chosen:
            some = [[outputs[index] for index in chosen] for outputs in runs]
            quality = interval_over(metric, some, [references[index] for index in chosen])
            lengths = len(sources[chosen[0]]), len(sources[chosen[-1]])
            found.append(LengthBand(*lengths, len(chosen), quality))
        first = max(first, last)
    return found
