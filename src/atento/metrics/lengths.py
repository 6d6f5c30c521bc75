"""Quality against length: where a model begins to forget."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from atento.metrics.intervals import Interval, Runs, interval_over
from atento.metrics.metric import Metric

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
