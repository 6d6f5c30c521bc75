"""One column of a table, in facts.

How long texts are and how often labels come, as counts and shares.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from atento.data.files.image_names import is_picture_name
from atento.data.records import BETWEEN
from atento.data.tables.headers import is_number
from atento.data.tables.names import NEITHER, is_named
from atento.data.tables.number_lists import is_sequence

EXAMPLES = 3
SAMPLE = 200  # cells whose form is looked at
DIGITS = 0.1  # of the names of rows hold one
LINK = re.compile(r"\w+://\S+|www\.\S+|/\w+/\S*")
TIME = r"[T ]\d{1,2}(?::\d{2}){1,2}(?:\.\d+)?Z?(?:[+-]\d{2}:?\d{2})?"
DATE = re.compile(rf"(?:\d{{4}}[-/]\d{{1,2}}|\d{{1,4}}([-/.])\d{{1,2}}\1\d{{1,4}})(?:{TIME})?")


@dataclass(frozen=True)
class Column:
    """Shares are between 0 and 1; all but the first and that of empty cells are of the cells that hold anything."""

    name: str
    distinct: int
    share_distinct: float
    mean_characters: float
    max_characters: int
    mean_words: float
    share_numeric: float
    share_empty: float
    examples: tuple[str, ...]
    share_lists: float = 0.0  # lists of texts
    share_sequences: float = 0.0  # several numbers in a cell
    share_dates: float = 0.0
    share_links: float = 0.0
    share_pictures: float = 0.0  # names of pictures, or drawn scenes
    counts: bool = False  # whole numbers that rise from row to row
    one_size: bool = False  # single words, each another, all of one length, some with digits

    @property
    def is_wordless(self) -> bool:
        """Whether it holds numbers, dates or addresses rather than text."""
        return max(self.share_numeric, self.share_sequences, self.share_dates, self.share_links) > 0.5

    @property
    def is_aside(self) -> bool:
        """Whether it only tells rows apart, or says where and when they come from."""
        constant = self.distinct < 2
        return (
            constant or self.counts or self.share_dates > 0.5 or self.share_links > 0.5 or is_named(self.name, NEITHER)
        )


def describe(name: str, cells: Sequence[str]) -> Column:
    """The facts about one column."""
    counts = Counter(cells)
    filled = [cell for cell in cells if cell.strip()]
    sample = filled[:: 1 + len(filled) // SAMPLE]
    return Column(
        name=name,
        distinct=len(counts),
        share_distinct=share(len(counts), len(cells)),
        mean_characters=share(sum(map(len, filled)), len(filled)),
        max_characters=max(map(len, filled), default=0),
        mean_words=share(sum(len(cell.split()) for cell in filled), len(filled)),
        share_numeric=share(sum(map(is_number, filled)), len(filled)),
        share_empty=share(len(cells) - len(filled), len(cells)),
        examples=tuple(dict.fromkeys(filled[: 20 * EXAMPLES]))[:EXAMPLES],
        share_lists=share(sum(BETWEEN in cell for cell in sample), len(sample)),
        share_sequences=share(sum(map(is_sequence, sample)), len(sample)),
        share_dates=share(sum(DATE.fullmatch(cell.strip()) is not None for cell in sample), len(sample)),
        share_links=share(sum(LINK.match(cell.strip()) is not None for cell in sample), len(sample)),
        share_pictures=share(sum(map(is_picture_name, sample)), len(sample)),
        counts=len(sample) > 1 and all(cell.strip().isdigit() for cell in sample) and rise(list(map(int, sample))),
        one_size=len(counts) == len(cells) and are_codes(sample),
    )


def are_codes(cells: Sequence[str]) -> bool:
    """Whether cells are single words of one length, some with digits: names of rows, such as `ed00q6i`."""
    digits = sum(any(map(str.isdigit, cell)) for cell in cells)
    return len({len(cell) for cell in cells}) == 1 and " " not in "".join(cells) and digits >= DIGITS * len(cells)


def rise(numbers: Sequence[int]) -> bool:
    """Whether each is more than the one before."""
    return all(one < other for one, other in pairwise(numbers))


def share(part: int, whole: int) -> float:
    """One number by another, nothing by nothing being nothing."""
    return part / whole if whole else 0.0


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
