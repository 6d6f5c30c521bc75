"""How long texts are and how often labels come, as counts and shares."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MOST_BINS = 10
MOST_LABELS = 200  # listed
STEPS = (1, 2, 5)  # times a power of ten: the widths of bins that read well
TAIL = 0.01  # of the longest texts share one last bin, however long they are; at least one text
FEW = 10  # unless there are so few


@dataclass(frozen=True)
class Bin:
    """Texts of `low` to `high` units."""

    low: int
    high: int
    count: int
    share: float

    @property
    def name(self) -> str:
        """`5-9`, or `5` where that is all."""
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,}-{self.high:,}"


@dataclass(frozen=True)
class Entry:
    """How often a label comes."""

    label: str
    count: int
    share: float  # of the texts


def length_histogram(lengths: Sequence[int], *, most: int = MOST_BINS) -> list[Bin]:
    """Bins of one width from the shortest to where nearly all texts end, and one for the tail; each text in one bin."""
    if not lengths:
        return []
    ordered = sorted(lengths)
    low, longest = ordered[0], ordered[-1]
    body = ordered[-1 - max(len(ordered) > FEW, int(TAIL * len(ordered)))]  # 99 in 100 are no longer
    width = readable_width(body - low + 1, most - (longest > body))
    start = low - low % width if width > 1 else low
    edges = list(range(start, body + 1, width))
    counts = Counter(min((length - start) // width, len(edges)) for length in lengths)
    bins = [
        Bin(max(edge, low), min(edge + width - 1, longest), counts[at], counts[at] / len(lengths))
        for at, edge in enumerate(edges)
    ]
    if counts[len(edges)]:
        bins.append(Bin(edges[-1] + width, longest, counts[len(edges)], counts[len(edges)] / len(lengths)))
    return bins


def readable_width(span: int, most: int) -> int:
    """The least of 1, 2, 5, 10, 20 … that covers the span in so many bins, even where the first begins before it."""
    power = 1
    while True:
        for step in STEPS:
            width = step * power
            if width * (most - (width > 1)) >= span:
                return width
        power *= 10


def label_histogram(labels: Iterable[Sequence[str]], *, most: int = MOST_LABELS) -> list[Entry]:
    """The commonest labels first, ties by name; `labels` are those of each text, and a text may have none."""
    rows = [tuple(dict.fromkeys(names)) for names in labels]
    counts = Counter(name for names in rows for name in names)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [Entry(name, count, count / len(rows)) for name, count in ordered[:most]]
