"""A character n-gram language model: the baseline of plain text, hard to beat on little of it."""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.baselines.validation import require_fitted, require_pairs
from atento.errors import InputError
from atento.metrics.language_model import text_score

# Axes: N characters of all texts with their padding, K distinct n-grams, H distinct histories.

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

ORDER, DISCOUNT = 5, 0.75
WHOLE_TEXTS = 20  # from so many texts on, each is a whole text whose end is predicted too
BOUNDARY, UNKNOWN, FIRST = 0, 1, 2  # before and after a text, an unknown character, the first known one


class NGramCounts(NamedTuple):
    """How often each character followed each history of one length."""

    histories: Numbers  # (H,) sorted; each a shorter history and the character before it, as one number
    ngrams: Numbers  # (K,) sorted; each a history and the character after it, as one number
    counts: Floats  # (K,) of the n-grams
    totals: Floats  # (H,) how often each history was followed by any character
    distinct: Floats  # (H,) by how many distinct characters


class CharacterNGram:
    """P(c | h) = max(n(hc) − D, 0) / n(h) + D · distinct(h) / n(h) · P(c | h without its first character).

    Interpolated absolute discounting (Ney, Essen & Kneser, 1994, sec. 4), down to the empty history and then to a
    uniform distribution over characters.
    """

    state_types: ClassVar[tuple[type, ...]] = (NGramCounts,)

    def __init__(self, order: int = ORDER, *, discount: float = DISCOUNT) -> None:
        if order < 1 or not 0 < discount < 1:
            raise InputError(
                "an n-gram model needs an order of at least 1 and a discount between 0 and 1.",
                found=f"order={order}, discount={discount}",
                fix=f"order={ORDER}, discount={DISCOUNT}",
            )
        self.order, self.discount = order, discount
        self.name = f"{order}-gram" if order > 1 else "unigram"
        self.summary = f"counts of {order} characters in a row" if order > 1 else "the frequency of each character"
        self.characters: dict[str, int] = {}
        self.tables: list[NGramCounts] | None = None  # by length of the history
        self.predicts_end = False

    def fit(self, sources: Sequence[str], targets: Sequence[Any]) -> "CharacterNGram":
        """Count what follows all histories shorter than the order; the targets are not used."""
        require_pairs(self.name, sources, targets)
        self.predicts_end = len(sources) >= WHOLE_TEXTS
        self.characters = {one: number for number, one in enumerate(sorted(set().union(*sources)), start=FIRST)}
        encoded, predicted = self.encode(sources)
        self.tables = []
        history = np.zeros(len(encoded), dtype=np.int64)
        for length in range(self.order):
            histories = np.zeros(1, dtype=np.int64)
            if length:
                histories, history = np.unique(self.paired(history, np.roll(encoded, length)), return_inverse=True)
            ngrams, counts = np.unique(self.paired(history, encoded)[predicted], return_counts=True)
            totals = np.bincount(history[predicted], minlength=len(histories))
            distinct = np.bincount(ngrams // self.symbols, minlength=len(histories))
            floats = (np.asarray(numbers, dtype=np.float64) for numbers in (counts, totals, distinct))
            self.tables.append(NGramCounts(histories, ngrams, *floats))
        return self

    def predict(self, sources: Sequence[str]) -> list[list[Any]]:
        """The scored texts, as the metrics of language models take them."""
        return [text_score(text, self.log_probabilities(text).tolist()) for text in sources]

    def log_probabilities(self, text: str) -> Floats:
        """The log-probability of each character given those before it, and of the end where it is predicted."""
        require_fitted(self.name, self.tables)
        encoded, predicted = self.encode([text])
        probabilities = np.full(len(encoded), 1.0 / (self.symbols - (0 if self.predicts_end else 1)))
        history = np.zeros(len(encoded), dtype=np.int64)  # −1: never seen
        for length, table in enumerate(self.tables or []):
            if length:
                history = index_of(table.histories, self.paired(history, np.roll(encoded, length)))
            place = index_of(table.ngrams, self.paired(history, encoded))
            counts = np.where(place < 0, 0.0, table.counts[place])
            known = (history >= 0) & (table.totals[history] > 0)
            totals = np.where(known, table.totals[history], 1.0)
            mixed = np.maximum(counts - self.discount, 0) / totals
            mixed += self.discount * table.distinct[history] / totals * probabilities
            probabilities = np.where(known, mixed, probabilities)
        return np.asarray(np.log(probabilities[predicted]))

    def continuation(self, text: str, length: int, choose: Callable[[Floats], int]) -> tuple[str, float]:
        """Up to so many characters after a text, and their log-probability; `choose` takes one of the probabilities of
        the known characters, where 0 is the end of the text.
        """
        names, added, score = ["", *self.characters], "", 0.0
        for _ in range(length):
            probabilities = self.next_probabilities(text + added)
            known = np.concatenate([probabilities[:1] if self.predicts_end else [0.0], probabilities[FIRST:]])
            number = choose(known)
            score += float(np.log(known[number]))
            if not number:
                break
            added += names[number]
        return added, score

    def next_probabilities(self, text: str) -> Floats:
        """The probability of each symbol after a text: the end of the text, an unknown character, the known ones."""
        require_fitted(self.name, self.tables)
        before = [BOUNDARY] * max(1, self.order - 1)
        past = [*before, *(self.characters.get(one, UNKNOWN) for one in text)][-max(1, self.order - 1) :]
        probabilities = np.full(self.symbols, 1.0 / (self.symbols - (0 if self.predicts_end else 1)))
        history = np.zeros(1, dtype=np.int64)
        for length, table in enumerate(self.tables or []):
            if length:
                history = index_of(table.histories, self.paired(history, np.array([past[-length]])))
            if history[0] < 0 or not table.totals[history[0]]:
                break
            place = index_of(table.ngrams, self.paired(history, np.arange(self.symbols)))
            counts = np.where(place < 0, 0.0, table.counts[place])
            total, distinct = table.totals[history[0]], table.distinct[history[0]]
            probabilities = (
                np.maximum(counts - self.discount, 0) / total + self.discount * distinct / total * probabilities
            )
        return np.asarray(probabilities)

    @property
    def symbols(self) -> int:
        """The number of known characters, with the unknown one and the boundary."""
        return len(self.characters) + FIRST

    def paired(self, history: Numbers, characters: Numbers) -> Numbers:
        """A history and one character as one number."""
        return history * self.symbols + characters

    def encode(self, texts: Sequence[str]) -> tuple[Numbers, NDArray[np.bool_]]:
        """All texts in a row as numbers (N,), each after boundaries as long as a history; and which are predicted."""
        before, after = [BOUNDARY] * max(1, self.order - 1), [BOUNDARY] if self.predicts_end else []
        rows = [[*before, *(self.characters.get(one, UNKNOWN) for one in text), *after] for text in texts]
        predicted = [[False] * len(before) + [True] * (len(row) - len(before)) for row in rows]
        return (
            np.array(list(chain.from_iterable(rows)), dtype=np.int64),
            np.array(list(chain.from_iterable(predicted)), dtype=np.bool_),
        )


def index_of(known: Numbers, queries: Numbers) -> Numbers:
    """The index of each query in a sorted array of numbers; −1 where it is not there."""
    places = np.minimum(np.searchsorted(known, queries), len(known) - 1)
    return np.asarray(np.where(known[places] == queries, places, -1))
