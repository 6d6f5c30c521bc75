"""One column of a table, in facts."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from atento.data.headings import is_number
from atento.data.lists import BETWEEN
from atento.data.number_sequences import is_sequence
from atento.data.pictures.names import is_picture_name
from atento.data.role_names import NEITHER, is_named

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
