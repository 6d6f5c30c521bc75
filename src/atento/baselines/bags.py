"""Bags: a text as what occurs in it, the order forgotten; of words, or of runs of words that keep a little of it."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from atento.baselines.fitted import require_fitted
from atento.errors import InputError, unknown_name

# Axes: N texts, F terms.

Text = str | Sequence[str]  # to be cut into words and signs, or already a list of tokens
Weighing = Literal["presence", "frequency", "tf-idf"]
WEIGHINGS: tuple[Weighing, ...] = ("presence", "frequency", "tf-idf")

PIECES = re.compile(r"\w+|[^\w\s]")
MOST_TERMS = 10_000
WORDS_OF_A_TEXT = 1.5  # fewer on average: strings without words, whose characters are taken instead
CHARACTERS_OF_A_WORD = 3  # so much longer are then the runs


class Bag:
    """Texts -> (N, F) sparse numbers of the most frequent terms of the training texts, ties in alphabetical order.

    presence: 1 where a term occurs. frequency: its share of the text's terms. tf-idf: its count times
    ln((1 + N) / (1 + texts that hold it)) + 1, rows of length one (Salton & Buckley, 1988; scikit-learn's form).
    Of strings without words the terms are characters, as they are written, and runs three times as long.
    """

    def __init__(self, *, longest: int = 1, weigh: Weighing = "presence", most: int = MOST_TERMS) -> None:
        if weigh not in WEIGHINGS:
            raise unknown_name("weighing", weigh, WEIGHINGS, where="weigh")
        for name, number in (("longest", longest), ("most", most)):
            if number < 1:
                raise InputError(f"{name} must be at least 1.", found=f"{name}={number}", fix=f"{name}=1 or more")
        self.longest: int = longest  # words in a term
        self.weigh, self.most, self.wordless = weigh, most, False
        self.columns: dict[str, int] | None = None
        self.rarity: list[float] = []

    def fit(self, texts: Sequence[Text]) -> "Bag":
        """Choose the terms."""
        self.wordless = has_no_words(texts)
        counts: Counter[str] = Counter()
        holders: Counter[str] = Counter()
        for text in texts:
            terms = list(self.cut(text))
            counts.update(terms)
            holders.update(set(terms))
        chosen = sorted(counts, key=lambda term: (-counts[term], term))[: self.most]
        self.columns = {term: number for number, term in enumerate(chosen)}
        self.rarity = [math.log((1 + len(texts)) / (1 + holders[term])) + 1 for term in chosen]
        return self

    def transform(self, texts: Sequence[Text]) -> Any:
        """A scipy matrix (N, F); terms that were not chosen are not seen, but count in a frequency."""
        from scipy.sparse import csr_matrix  # slow to load

        require_fitted("a bag", self.columns)
        columns = self.columns or {}
        numbers: list[float] = []
        places: list[int] = []
        ends = [0]
        for text in texts:
            counts = Counter(self.cut(text))
            known = {columns[term]: count for term, count in counts.items() if term in columns}
            numbers.extend(self.weighed(known, total=counts.total()))
            places.extend(known)
            ends.append(len(places))
        return csr_matrix((numbers, places, ends), shape=(len(texts), len(columns)), dtype=float)

    def weighed(self, counts: dict[int, int], *, total: int) -> list[float]:
        """The numbers of one text's terms."""
        if self.weigh == "presence":
            return [1.0] * len(counts)
        if self.weigh == "frequency":
            return [count / total for count in counts.values()]
        scaled = [count * self.rarity[column] for column, count in counts.items()]
        length = math.hypot(*scaled)
        return [number / length for number in scaled]

    def cut(self, text: Text) -> Iterable[str]:
        """Runs of one to `longest` words: `no me gustó` -> no, me, gustó, no me, me gustó."""
        if self.wordless:
            words, between = list(text), ""
        else:
            words, between = PIECES.findall(text.lower()) if isinstance(text, str) else list(text), " "
        for length in range(1, self.run + 1):
            for first in range(len(words) - length + 1):
                yield between.join(words[first : first + length])

    @property
    def run(self) -> int:
        """Items in the longest term."""
        return self.longest * (CHARACTERS_OF_A_WORD if self.wordless and self.longest > 1 else 1)

    @property
    def terms(self) -> list[str]:
        """The chosen terms, the most frequent first."""
        require_fitted("a bag", self.columns)
        return list(self.columns or ())

    def __str__(self) -> str:
        """`a bag of words (presence)`."""
        items = "characters" if self.wordless else "words"
        return f"a bag of {items if self.run == 1 else f'1 to {self.run} {items}'} ({self.weigh})"


def has_no_words(texts: Sequence[Text]) -> bool:
    """Whether texts are strings like ACCGTA; lists of tokens are cut already."""
    plain = [len(text.split()) for text in texts if isinstance(text, str) and text]
    return bool(plain) and len(plain) <= sum(plain) < WORDS_OF_A_TEXT * len(plain)
