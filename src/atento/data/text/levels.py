"""At what level to cut a text: characters, words or subwords, judged from the training part.

A text with features after a tab, as in `manducar<tab>V.PTCP;PST;MASC;SG`: the text is cut, features stay whole.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from atento.data.records import BETWEEN
from atento.data.text.subwords import Subwords
from atento.data.text.vocabulary import UNKNOWN, Characters, RunningWords, TokenList, Vocabulary, Words
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


LEVELS: dict[str, type[TokenList] | type[Subwords]] = {"char": Characters, "word": Words, "subword": Subwords}

CLOSED_VOCABULARY = 1000  # so few distinct words are all seen in training, and whole words are best
SAMPLE = 20_000
USES_OF_A_WORD = 20  # ... if each is used so often


def choose_level(texts: Sequence[str]) -> tuple[Literal["char", "word", "subword"], str]:
    """The level and the reason, in words."""
    cutter = Words([])
    sample = texts[:: 1 + len(texts) // SAMPLE]  # spread: files are often sorted by length
    counts = [len(text.split()) for text in sample]
    mean = sum(counts) / max(1, len(counts))
    distinct = {token for text in sample for token in cutter.cut(text)}
    if mean < 1.5:
        return "char", f"mostly single words ({mean:.1f} a text)"
    if len(distinct) <= CLOSED_VOCABULARY and sum(counts) >= USES_OF_A_WORD * len(distinct):
        return "word", f"only {len(distinct)} distinct words"
    return "subword", f"{len(distinct)} distinct words, {mean:.1f} a text"


def learn_vocabulary(level: str, texts: Sequence[str], *, size: int, least_count: int) -> Vocabulary:
    """A vocabulary of that level, from training text alone."""
    vocabulary = LEVELS[level].learn(texts, most=size, least_count=least_count)
    return vocabulary


class Learned(NamedTuple):
    """A vocabulary, its level and why it is cut so."""

    vocabulary: Vocabulary
    level: str
    reason: str


def learn_target(asked: str, texts: Sequence[str], *, size: int, least_count: int) -> Learned:
    """The vocabulary of texts to be written, at the level that is asked or found."""
    level, reason = (asked, "as asked") if asked != "auto" else choose_level(texts)
    return Learned(learn_vocabulary(level, texts, size=size, least_count=least_count), level, reason)


def learn_source(asked: str, texts: Sequence[str], *, size: int, least_count: int) -> Learned:
    """The vocabulary of texts to be read; features after a tab stay whole."""
    if not have_features(texts):
        return learn_target(asked, texts, size=size, least_count=least_count)
    plain = learn_target(asked, [divide(text)[0] for text in texts], size=size, least_count=least_count)
    features = count_features(texts, least_count=least_count)
    reason = f"{plain.reason}; {len(features)} of them are features after a tab"
    return Learned(Featured(plain.vocabulary, features), plain.level, reason)


def load_vocabulary(saved: Any) -> Vocabulary:
    """What `Vocabulary.to_json` wrote; anything else is refused."""
    level = saved.get("level") if isinstance(saved, dict) else None
    features = saved.get("features") if level == "featured" else None
    if isinstance(features, list) and all(isinstance(feature, str) for feature in features):
        return Featured(load_plain(saved.get("text")), features)
    return load_plain(saved)


def load_plain(saved: Any) -> Vocabulary:
    """A vocabulary of text alone."""
    level = saved.get("level") if isinstance(saved, dict) else None
    if level == "subword" and isinstance(saved.get("tokenizer"), str):
        return Subwords.from_text(saved["tokenizer"])
    tokens = saved.get("tokens") if isinstance(saved, dict) else None
    known: dict[str, type[TokenList]] = {"char": Characters, "word": Words, "running": RunningWords}
    if level in known and isinstance(tokens, list) and all(isinstance(token, str) for token in tokens):
        return known[level](tokens)
    raise InputError("this is not a vocabulary.", found=str(saved)[:80], fix="train the model again")
