"""Modified Kneser–Ney smoothing of n-gram counts, interpolated (Chen & Goodman, 1999, sec. 4.1.6, eq. 14 to 17).

p(w | h) = max(c(hw) − D(c(hw)), 0) / Σ_w c(hw) + γ(h) p(w | h without its first token). The highest order has its true
counts, every lower one the number of distinct tokens before hw, and below the empty history all tokens are alike. D is
D₁, D₂ or D₃₊ by the count, each order with its own; γ(h) is the mass that they take. Everything is arrays of numpy: a
million tokens are counted in seconds.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atento.errors import InputError

# Axes: N tokens of all rows with their padding, K distinct n-grams, H distinct histories, V vocabulary.

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

FALLBACK = (0.5, 1.0, 1.5)  # D₁, D₂, D₃₊ where too few n-grams are rare to estimate them
SYMBOL = 1  # before a row stands a boundary, 0, which no row contains: a token t has the symbol t + 1


class NGramTable(NamedTuple):
    """What followed the histories of one length."""

    histories: Numbers  # (H,) sorted; each a shorter history and the token before it, as one number
    ngrams: Numbers  # (K,) sorted; each a history and the token after it, as one number
    shares: Floats  # (K,) (c(hw) − D) / Σ_w c(hw) of each n-gram
    backoffs: Floats  # (H,) γ(h), 1 where the history was followed by nothing that is predicted


class TokenScores(NamedTuple):
    """The tokens of a row after the first ones, as counts see them."""

    probabilities: Floats  # (N,) of each token given those before it
    matched: Numbers  # (N,) the length of the longest known history, 0 to order − 1


class KneserNey:
    """The n-gram model of an order over a vocabulary (V,); `fit` makes its tables, one for each length of history."""

    def __init__(self, order: int, vocabulary: int, tables: Sequence[NGramTable] = ()) -> None:
        if order < 1 or vocabulary < 1:
            raise InputError(
                "an n-gram model needs an order and a vocabulary of at least 1.",
                found=f"order={order}, vocabulary={vocabulary}",
                fix="order=5, for example",
            )
        self.order, self.vocabulary, self.tables = order, vocabulary, list(tables)

    def fit(self, rows: Sequence[Numbers], *, skipped: int = 0) -> "KneserNey":
        """Count rows of tokens; the first `skipped` tokens of each row are read, and not predicted."""
        symbols, predicted = self.padded(rows, skipped)
        self.tables, history = [], np.zeros(len(symbols), dtype=np.int64)
        found: list[tuple[Numbers, Numbers, Numbers, Numbers]] = []  # of each length of history
        for length in range(self.order):
            histories = np.zeros(1, dtype=np.int64)
            if length:
                extended = self.paired(history, np.roll(symbols, length))
                histories, history = np.unique(extended, return_inverse=True)
            ngrams, first, counts = np.unique(
                self.paired(history, symbols)[predicted], return_index=True, return_counts=True
            )
            found.append((histories, ngrams, first, counts))
        places = np.flatnonzero(predicted)
        for length, (histories, ngrams, _, counts) in enumerate(found):
            if length + 1 < self.order:  # distinct tokens before each n-gram: the n-grams that are one token longer
                ends = places[found[length + 1][2]]  # (K′,) where each longer one was first met
                counts = np.bincount(self.index_of_ending(found, symbols, ends, length), minlength=len(ngrams))
            self.tables.append(self.table(histories, ngrams, counts))
        return self

    def index_of_ending(
        self, found: Sequence[tuple[Numbers, Numbers, Numbers, Numbers]], symbols: Numbers, ends: Numbers, length: int
    ) -> Numbers:
        """Which n-gram with a history of this length ends at each place."""
        history = np.zeros(len(ends), dtype=np.int64)
        for back in range(1, length + 1):
            history = np.searchsorted(found[back][0], self.paired(history, symbols[ends - back]))
        return np.asarray(np.searchsorted(found[length][1], self.paired(history, symbols[ends])))

    def table(self, histories: Numbers, ngrams: Numbers, counts: Numbers) -> NGramTable:
        """Counts of one order, discounted."""
        owner = ngrams // self.symbols  # (K,) the history of each n-gram
        discount = np.asarray((0.0, *discounts(counts)))[np.minimum(counts, 3)]
        totals = np.bincount(owner, weights=counts, minlength=len(histories))
        taken = np.bincount(owner, weights=discount, minlength=len(histories))
        backoffs = np.divide(taken, totals, out=np.ones(len(histories)), where=totals > 0)
        return NGramTable(histories, ngrams, np.maximum(counts - discount, 0.0) / totals[owner], backoffs)

    def score(self, row: Numbers, *, skipped: int = 0) -> TokenScores:
        """Each token of a row after the first `skipped` ones, given those before it."""
        symbols, predicted = self.padded([row], skipped)
        probabilities = np.full(len(symbols), 1.0 / self.vocabulary)
        history, matched = np.zeros(len(symbols), dtype=np.int64), np.zeros(len(symbols), dtype=np.int64)
        for length, table in enumerate(self.tables):
            if length:
                history = index_of(table.histories, self.paired(history, np.roll(symbols, length)))
            place = index_of(table.ngrams, self.paired(history, symbols))
            probabilities *= np.where(history < 0, 1.0, table.backoffs[history])
            probabilities += np.where(place < 0, 0.0, table.shares[place])
            matched[history >= 0] = length
        return TokenScores(probabilities[predicted], matched[predicted])

    def following(self, past: Sequence[int]) -> tuple[Floats, int]:
        """The probability (V,) of every token after these, and the length of the longest known history."""
        before = [0] * (self.order - 1) + [token + SYMBOL for token in past]
        probabilities, history, matched = np.full(self.vocabulary, 1.0 / self.vocabulary), 0, 0
        for length, table in enumerate(self.tables):
            if length:
                history = int(index_of(table.histories, np.array([history * self.symbols + before[-length]]))[0])
                if history < 0:
                    break
            first, last = np.searchsorted(table.ngrams, [history * self.symbols, (history + 1) * self.symbols])
            probabilities *= table.backoffs[history]
            probabilities[table.ngrams[first:last] % self.symbols - SYMBOL] += table.shares[first:last]
            matched = length
        return probabilities, matched

    @property
    def symbols(self) -> int:
        """The number of tokens, with the boundary."""
        return self.vocabulary + SYMBOL

    def paired(self, history: Numbers, symbols: Numbers) -> Numbers:
        """A history and one token as one number; what follows an unknown history, −1, is negative too."""
        return np.asarray(history * self.symbols + symbols)

    def padded(self, rows: Sequence[Numbers], skipped: int) -> tuple[Numbers, NDArray[np.bool_]]:
        """All rows as one (N,), each after boundaries as long as a history; and which tokens are predicted."""
        before = max(1, self.order - 1)
        lengths = [len(row) + before for row in rows]
        symbols, predicted = np.zeros(sum(lengths), dtype=np.int64), np.zeros(sum(lengths), dtype=np.bool_)
        begin = 0
        for row, length in zip(rows, lengths, strict=True):
            symbols[begin + before : begin + length] = np.asarray(row) + SYMBOL
            predicted[begin + before + skipped : begin + length] = True
            begin += length
        return symbols, predicted


def discounts(counts: Numbers) -> tuple[float, float, float]:
    """D₁, D₂, D₃₊ from how many n-grams have a count of 1 to 4: D_k = k − (k + 1) Y n_{k+1} / n_k, Y = n₁ / (n₁ + 2 n₂)
    (eq. 17).
    """
    n1, n2, n3, n4 = np.bincount(np.minimum(counts, 5), minlength=6)[1:5].tolist()
    if not n1 or not n2 or not n3:
        return FALLBACK
    y = n1 / (n1 + 2 * n2)
    found = (1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3)
    return found if all(0 < one <= most for most, one in enumerate(found, start=1)) else FALLBACK


def index_of(known: Numbers, queries: Numbers) -> Numbers:
    """The index of each query in a sorted array of numbers; −1 where it is not there."""
    places = np.minimum(np.searchsorted(known, queries), len(known) - 1)
    return np.asarray(np.where(known[places] == queries, places, -1))
