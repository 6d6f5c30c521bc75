"""Statistics of one column of a table, and histograms of text lengths and of labels."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from atento.data.files.image_names import is_image_name
from atento.data.numbers.dialects import is_number
from atento.data.records import LIST_SEPARATOR
from atento.data.tables.column_names import METADATA, is_named
from atento.data.tables.number_lists import is_sequence

EXAMPLES = 3
SAMPLE = 200  # cells whose form is examined
MIN_WITH_DIGITS = 0.1  # share of identifiers with a digit
LINK = re.compile(r"\w+://\S+|www\.\S+|/\w+/\S*")
TIME = r"[T ]\d{1,2}(?::\d{2}){1,2}(?:\.\d+)?Z?(?:[+-]\d{2}:?\d{2})?"
DATE = re.compile(rf"(?:\d{{4}}[-/]\d{{1,2}}|\d{{1,4}}([-/.]) ?\d{{1,2}}\1 ?\d{{1,4}}\.?)(?:{TIME})?")
FIGURE = re.compile(r"[^\w\s]{0,3}\d[\w.,:'/-]*(?: [A-Za-z]{1,3})?")  # 0x1F, 12:30, 9.5 CR
MAX_BINS = 10
MAX_LABELS = 200  # listed
ROUND_WIDTHS = (1, 2, 5)  # times a power of ten: the widths of bins
TAIL = 0.01  # share of the longest texts that are counted in one last bin; at least one text
FEW_TEXTS = 10  # unless there are so few


@dataclass(frozen=True)
class Column:
    """Statistics of a column. Shares are from 0 to 1: of filled cells, but distinct and empty ones of all cells."""

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
    share_figures: float = 0.0  # digits with signs or letters, of which some are numbers
    share_links: float = 0.0
    share_images: float = 0.0  # names of images, or drawn scenes
    is_counter: bool = False  # whole numbers that increase from row to row
    is_identifier: bool = False  # distinct single words of one length, some with digits

    @property
    def is_not_text(self) -> bool:
        """Whether the column holds numbers, dates, other figures or links rather than text."""
        shares = (self.share_numeric, self.share_sequences, self.share_dates, self.share_figures, self.share_links)
        return max(shares) > 0.5

    @property
    def is_metadata(self) -> bool:
        """Whether the column identifies rows, or says where and when they come from."""
        constant, mostly = self.distinct < 2, max(self.share_dates, self.share_links)
        return constant or self.is_counter or mostly > 0.5 or is_named(self.name, METADATA)


def describe_column(name: str, cells: Sequence[str]) -> Column:
    """The statistics of one column."""
    filled = [cell for cell in cells if cell.strip()]
    counts = Counter(map(str.strip, filled))
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
        share_lists=share(sum(LIST_SEPARATOR in cell for cell in sample), len(sample)),
        share_sequences=share(sum(map(is_several_numbers, sample)), len(sample)),
        share_dates=share(sum(DATE.fullmatch(cell.strip()) is not None for cell in sample), len(sample)),
        share_figures=share(sum(FIGURE.fullmatch(cell.strip()) is not None for cell in sample), len(sample)),
        share_links=share(sum(LINK.match(cell.strip()) is not None for cell in sample), len(sample)),
        share_images=share(sum(map(is_image_name, sample)), len(sample)),
        is_counter=len(sample) > 1 and are_increasing(sample),
        is_identifier=len(counts) == len(filled) == len(cells) and are_identifiers(sample),
    )


def is_several_numbers(cell: str) -> bool:
    """Whether a cell is a sequence of numbers, and no date such as `2021. 03. 08.`."""
    return len(cell.split()) > 1 and is_sequence(cell) and not DATE.fullmatch(cell.strip())


def are_identifiers(cells: Sequence[str]) -> bool:
    """Whether cells are single words of one length, some with digits, such as `ed00q6i`."""
    one_length = len({len(cell) for cell in cells}) == 1 and " " not in "".join(cells)
    return one_length and sum(any(map(str.isdigit, cell)) for cell in cells) >= MIN_WITH_DIGITS * len(cells)


def are_increasing(cells: Sequence[str]) -> bool:
    """Whether cells are whole numbers, each larger than the one before."""
    whole = all(cell.strip().isdigit() for cell in cells)
    return whole and all(int(one) < int(other) for one, other in pairwise(cells))


def share(part: int, whole: int) -> float:
    """A part of a whole, from 0 to 1; 0 where there is nothing."""
    return part / whole if whole else 0.0


@dataclass(frozen=True)
class Bin:
    """A bin of a histogram: the texts of `low` to `high` units."""

    low: int
    high: int
    count: int
    share: float

    @property
    def name(self) -> str:
        """The range as `5-9`, or `5` where it is one number."""
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,}-{self.high:,}"


@dataclass(frozen=True)
class LabelCount:
    """The number and share of the texts with a label."""

    label: str
    count: int
    share: float


def length_histogram(lengths: Sequence[int], *, most: int = MAX_BINS) -> list[Bin]:
    """A histogram of lengths: bins of one width for 99 in 100 texts, and one bin for the tail."""
    if not lengths:
        return []
    ordered = sorted(lengths)
    low, longest = ordered[0], ordered[-1]
    body = ordered[-1 - max(len(ordered) > FEW_TEXTS, int(TAIL * len(ordered)))]  # 99 in 100 are no longer
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
    """The smallest of 1, 2, 5, 10, 20 … with which `most` bins cover the span, wherever the first begins."""
    power = 1
    while True:
        for step in ROUND_WIDTHS:
            width = step * power
            if width * (most - (width > 1)) >= span:
                return width
        power *= 10


def label_histogram(labels: Iterable[Sequence[str]], *, most: int = MAX_LABELS) -> list[LabelCount]:
    """The counts of labels, the most frequent first, ties by name; `labels` are those of each text."""
    rows = [tuple(dict.fromkeys(names)) for names in labels]
    counts = Counter(name for names in rows for name in names)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [LabelCount(name, count, count / len(rows)) for name, count in ordered[:most]]
