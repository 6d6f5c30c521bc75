"""Counts of characters in a row: the simple model of plain text, hard to beat on little of it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.baselines.fitted import require_fitted, require_pairs
from atento.errors import InputError
from atento.metrics.language_model import judged_text

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

# Axes: N characters of all texts with the marks before them, K different sequences, H different histories.

ORDER, DISCOUNT = 5, 0.75
WHOLE = 20  # from so many texts on each is whole: where it ends is also said
MARK, OTHER, FIRST = 0, 1, 2  # what stands before and after a text, a character never met, the first known one


class Counts(NamedTuple):
    """What followed the histories of one length."""

    longer: Numbers  # (H,) these histories as pairs of a shorter one and the character before it, rising
    seen: Numbers  # (K,) histories with the character after them, rising
    times: Floats  # (K,) how often each was met
    followed: Floats  # (H,) how often each history was followed by anything
    kinds: Floats  # (H,) by how many different characters


class CharacterCounts:
    """P(c | h) = max(n(hc) − D, 0) / n(h) + D · kinds(h) / n(h) · P(c | h without its first character), down to no
    history at all, and then any character (Ney, Essen & Kneser, 1994, sec. 4: interpolated absolute discounting).
    """

    def __init__(self, order: int = ORDER, *, discount: float = DISCOUNT) -> None:
        if order < 1 or not 0 < discount < 1:
            raise InputError(
                "counts need an order of at least 1 and a discount between 0 and 1.",
                found=f"order={order}, discount={discount}",
                fix=f"order={ORDER}, discount={DISCOUNT}",
            )
        self.order, self.discount = order, discount
        self.name = f"{order}-gram" if order > 1 else "unigram"
        self.summary = f"counts of {order} characters in a row" if order > 1 else "how often each character comes"
        self.letters: dict[str, int] = {}
        self.counts: list[Counts] | None = None
        self.whole = False

    def fit(self, sources: Sequence[str], targets: Sequence[Any]) -> "CharacterCounts":
        """Count what follows all histories shorter than the order; the targets are not looked at."""
        require_pairs(self.name, sources, targets)
        self.whole = len(sources) >= WHOLE
        self.letters = {letter: number for number, letter in enumerate(sorted(set().union(*sources)), start=FIRST)}
        every, real = self.side_by_side(sources)
        self.counts = []
        history = np.zeros(len(every), dtype=np.int64)
        for length in range(self.order):
            longer = np.zeros(1, dtype=np.int64)
            if length:
                longer, history = np.unique(self.paired(history, np.roll(every, length)), return_inverse=True)
            seen, times = np.unique(self.paired(history, every)[real], return_counts=True)
            followed = np.bincount(history[real], minlength=len(longer))
            kinds = np.bincount(seen // self.symbols, minlength=len(longer))
            self.counts.append(
                Counts(longer, seen, *(np.asarray(n, dtype=np.float64) for n in (times, followed, kinds)))
            )
        return self

    def predict(self, sources: Sequence[str]) -> list[list[Any]]:
        """Of each text its log-probability, as the metrics of plain text take it."""
        return [judged_text(text, self.log_probabilities(text).tolist()) for text in sources]

    def log_probabilities(self, text: str) -> Floats:
        """Of each character given those before it, and of the end where texts are whole."""
        require_fitted(self.name, self.counts)
        every, real = self.side_by_side([text])
        chances = np.full(len(every), 1.0 / (self.symbols - (0 if self.whole else 1)))
        history = np.zeros(len(every), dtype=np.int64)  # −1: never met, nor any that ends so
        for length, counts in enumerate(self.counts or []):
            if length:
                history = found_in(counts.longer, self.paired(history, np.roll(every, length)))
            place = found_in(counts.seen, self.paired(history, every))
            times = np.where(place < 0, 0.0, counts.times[place])
            known = (history >= 0) & (counts.followed[history] > 0)
            whole = np.where(known, counts.followed[history], 1.0)
            mixed = np.maximum(times - self.discount, 0) / whole
            mixed += self.discount * counts.kinds[history] / whole * chances
            chances = np.where(known, mixed, chances)
        return np.asarray(np.log(chances[real]))

    @property
    def symbols(self) -> int:
        """Letters, any other, and the mark."""
        return len(self.letters) + FIRST

    def paired(self, history: Numbers, letters: Numbers) -> Numbers:
        """A history and one character as one number."""
        return history * self.symbols + letters

    def side_by_side(self, texts: Sequence[str]) -> tuple[Numbers, NDArray[np.bool_]]:
        """All texts as numbers (N,), marks before each as many as a history is long, and what of them is to be said."""
        before, after = [MARK] * max(1, self.order - 1), [MARK] if self.whole else []
        rows = [[*before, *(self.letters.get(letter, OTHER) for letter in text), *after] for text in texts]
        real = [[False] * len(before) + [True] * (len(row) - len(before)) for row in rows]
        return np.array(sum_up(rows), dtype=np.int64), np.array(sum_up(real), dtype=np.bool_)


def sum_up(rows: Sequence[Sequence[Any]]) -> list[Any]:
    """One row after the other."""
    return [item for row in rows for item in row]


def found_in(known: Numbers, asked: Numbers) -> Numbers:
    """The place of each number among known ones in rising order; −1 where it is not there."""
    places = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return np.asarray(np.where(known[places] == asked, places, -1))
