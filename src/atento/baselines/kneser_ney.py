"""Modified Kneser–Ney n-gram models of characters and of words: the simple baselines of plain text."""

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from atento.baselines.ngrams import WHOLE_TEXTS
from atento.baselines.validation import require_fitted, require_pairs
from atento.layers.kneser_ney import Floats, KneserNey, NGramTable, Numbers
from atento.metrics.language_model import text_score

CHARACTERS, WORDS = 7, 5  # in a row
UNKNOWN, END, FIRST = 0, 1, 2  # an unknown token, the end of a text, the first known token
SEEN_TWICE = 2  # a word that is seen once is unknown

Tokenize = Callable[[str], list[str]]


class KneserNeyText:
    """An n-gram model of the tokens of a text, smoothed by modified Kneser–Ney (`atento.layers.kneser_ney`).

    An unknown token of several characters costs its letters too, each as probable as any other, and a sign that ends
    them, so that models of characters and of words compare.
    """

    state_types: ClassVar[tuple[type, ...]] = (NGramTable,)

    def __init__(
        self, name: str, order: int, tokenize: Tokenize, join: Callable[[list[str]], str], *, least: int
    ) -> None:
        self.name, self.order, self.least = name, order, least
        self.summary = f"modified Kneser–Ney counts of {order} {'characters' if least == 1 else 'words'} in a row"
        self.tokenize, self.join = tokenize, join
        self.tokens: dict[str, int] = {}
        self.letters = 0
        self.tables: list[NGramTable] | None = None
        self.predicts_end = False

    def fit(self, sources: Sequence[str], targets: Sequence[Any]) -> "KneserNeyText":
        """Count the training texts; the targets are not used."""
        require_pairs(self.name, sources, targets)
        self.predicts_end, self.letters = len(sources) >= WHOLE_TEXTS, len(set().union(*sources))
        cut = [self.tokenize(text) for text in sources]
        counts: dict[str, int] = {}
        for tokens in cut:
            for token in tokens:
                counts[token] = counts.get(token, 0) + 1
        known = sorted(token for token, count in counts.items() if count >= self.least)
        self.tokens = {token: number for number, token in enumerate(known, start=FIRST)}
        self.tables = KneserNey(self.order, self.vocabulary).fit([self.row(tokens) for tokens in cut]).tables
        return self

    def predict(self, sources: Sequence[str]) -> list[list[Any]]:
        """The scored texts, as the metrics of language models take them."""
        return [text_score(text, self.log_probabilities(text).tolist()) for text in sources]

    def log_probabilities(self, text: str) -> Floats:
        """The log-probability of each token given those before it, and of the end where it is predicted."""
        cut = self.tokenize(text)
        found: Floats = np.log(self.model().score(self.row(cut)).probabilities)
        if self.least > 1:
            letter = math.log(self.letters + 2)  # the known ones, any other, the end
            spelled = [(len(token) + 1) * letter if token not in self.tokens else 0.0 for token in cut]
            found[: len(cut)] -= np.array(spelled)
        return found

    def continuation(self, text: str, length: int, choose: Callable[[Floats], int]) -> tuple[str, float]:
        """Up to so many tokens after a text, and their log-probability; `choose` takes one of the probabilities of the
        known tokens, where 0 is the end of the text.
        """
        model, names, past, score = self.model(), list(self.tokens), self.row(self.tokenize(text), ends=False), 0.0
        written = past.tolist()
        for _ in range(length):
            found, _ = model.following(written[-max(1, self.order - 1) :])
            known = np.concatenate([found[END:FIRST] if self.predicts_end else [0.0], found[FIRST:]])
            number = choose(known)
            score += float(np.log(known[number]))
            if not number:
                break
            written.append(number - 1 + FIRST)
        before = self.tokenize(text)
        added = [names[number - FIRST] for number in written[len(before) :]]
        return self.join([*before, *added])[len(self.join(before)) :], score

    def model(self) -> KneserNey:
        """The counts as a model."""
        return KneserNey(self.order, self.vocabulary, require_fitted(self.name, self.tables))

    @property
    def vocabulary(self) -> int:
        """The number of known tokens, with the unknown one and the end."""
        return len(self.tokens) + FIRST

    def row(self, tokens: Sequence[str], *, ends: bool = True) -> Numbers:
        """Tokens as numbers, with the end where texts are whole."""
        after = [END] if ends and self.predicts_end else []
        return np.array([*(self.tokens.get(token, UNKNOWN) for token in tokens), *after], dtype=np.int64)


def character_kneser_ney() -> KneserNeyText:
    """Of characters."""
    return KneserNeyText("kneser-ney", CHARACTERS, list, "".join, least=1)
