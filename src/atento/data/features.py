"""A text with features after a tab, as in `manducar<tab>V.PTCP;PST;MASC;SG`: the text is cut, features stay whole."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from atento.data.lists import BETWEEN
from atento.data.vocabulary import UNKNOWN, Vocabulary
from atento.errors import InputError

PARTS = re.compile(r"[;,|\s]+")


def divide(text: str) -> tuple[str, list[str]]:
    """The text before the first tab, and the features after it."""
    words, _, features = text.partition(BETWEEN)
    return words, [part for part in PARTS.split(features) if part]


def have_features(texts: Sequence[str]) -> bool:
    """Whether most texts have features."""
    return 2 * sum(BETWEEN in text for text in texts) > len(texts)


class Featured(Vocabulary):
    """The tokens of a vocabulary, then one token a feature."""

    level = "featured"

    def __init__(self, text: Vocabulary, features: Sequence[str]) -> None:
        self.text, self.features = text, tuple(features)
        self.numbers = {feature: len(text) + place for place, feature in enumerate(self.features)}
        if len(self.numbers) != len(self.features):
            raise InputError("a vocabulary holds a feature twice.", fix="train the model again")

    def __len__(self) -> int:
        return len(self.text) + len(self.features)

    def encode(self, text: str) -> list[int]:
        """The tokens of the text, then its features."""
        words, features = divide(text)
        return [*self.text.encode(words), *(self.numbers.get(feature, UNKNOWN) for feature in features)]

    def decode(self, numbers: Sequence[int]) -> str:
        """The text, and after a tab its features."""
        words = self.text.decode([number for number in numbers if number < len(self.text)])
        features = self.named(numbers)
        return f"{words}{BETWEEN}{';'.join(features)}" if features else words

    def pieces(self, numbers: Sequence[int]) -> list[str]:
        """Tokens and features, one by one."""
        return [
            self.text.pieces([number])[0] if number < len(self.text) else self.features[number - len(self.text)]
            for number in numbers
        ]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Those of the text, then where the features stand."""
        words, features = divide(text)
        places, end = self.text.offsets(words), len(words)
        for feature in features:
            start = text.index(feature, end)
            end = start + len(feature)
            places.append((start, end))
        return places

    def named(self, numbers: Sequence[int]) -> list[str]:
        """The features among the tokens."""
        return [self.features[number - len(self.text)] for number in numbers if number >= len(self.text)]

    def to_json(self) -> dict[str, Any]:
        """The vocabulary of the text, and the features."""
        return {"level": self.level, "text": self.text.to_json(), "features": list(self.features)}


def count_features(texts: Iterable[str], *, least_count: int) -> list[str]:
    """The features of training text, the commonest first, ties in alphabetical order."""
    counts = Counter(feature for text in texts for feature in divide(text)[1])
    common = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [feature for feature, count in common if count >= least_count]
