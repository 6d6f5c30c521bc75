"""The level of a vocabulary (characters, words or subwords): chosen, learned and loaded; texts read with it.

A text may have features after a tab, as in `manducar<tab>V.PTCP;PST;MASC;SG`: each of them is one token.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple

from atento.data.records import LIST_SEPARATOR
from atento.data.text.subwords import Subwords
from atento.data.text.vocabulary import END, UNKNOWN, Characters, LosslessWords, TokenList, Vocabulary, Words
from atento.data.text.words import split_sentences
from atento.errors import InputError
from atento.extras import install_line, missing_packages

LEVELS: dict[str, type[TokenList] | type[Subwords]] = {"char": Characters, "word": Words, "subword": Subwords}
SAMPLE_TEXTS = 20_000
CLOSED_VOCABULARY = 1000  # so few distinct words are all seen in training, and whole words are best
USES_OF_A_WORD = 20  # ... if each is used so often
FEATURE_SEPARATORS = re.compile(r"[;,|\s]+")


class LearnedVocabulary(NamedTuple):
    """A vocabulary, its level and the reason for that level."""

    vocabulary: Vocabulary
    level: str
    reason: str


def choose_level(texts: Sequence[str]) -> tuple[Literal["char", "word", "subword"], str]:
    """The level that suits the training texts, and the reason in words."""
    words = Words([])
    sample = texts[:: 1 + len(texts) // SAMPLE_TEXTS]  # evenly spaced: files are often sorted by length
    counts = [len(text.split()) for text in sample]
    mean = sum(counts) / max(1, len(counts))
    distinct = set(chain.from_iterable(map(words.tokenize, sample)))
    if mean < 1.5:
        return "char", f"mostly single words ({mean:.1f} per text)"
    if len(distinct) <= CLOSED_VOCABULARY and sum(counts) >= USES_OF_A_WORD * len(distinct):
        return "word", f"only {len(distinct)} distinct words"
    return subword_level(f"{len(distinct)} distinct words, {mean:.1f} per text")


def subword_level(reason: str) -> tuple[Literal["word", "subword"], str]:
    """Subwords, and the reason for them; whole words where the package that finds subwords is not installed."""
    if not missing_packages("subwords"):
        return "subword", reason
    return "word", f"{reason}; subwords would suit them better: {install_line('subwords')}"


def learn_vocabulary(level: str, texts: Sequence[str], *, size: int, least_count: int) -> Vocabulary:
    """A vocabulary of a given level, learned from training text."""
    return LEVELS[level].learn(texts, size=size, least_count=least_count)


def learn_target(asked: str, texts: Sequence[str], *, size: int, least_count: int) -> LearnedVocabulary:
    """The vocabulary of target texts, at the given level or, with "auto", the one that suits them."""
    level, reason = (asked, "as asked") if asked != "auto" else choose_level(texts)
    return LearnedVocabulary(learn_vocabulary(level, texts, size=size, least_count=least_count), level, reason)


def learn_source(asked: str, texts: Sequence[str], *, size: int, least_count: int) -> LearnedVocabulary:
    """The vocabulary of source texts; features after a tab are one token each."""
    if 2 * sum(LIST_SEPARATOR in text for text in texts) <= len(texts):  # most have no features
        return learn_target(asked, texts, size=size, least_count=least_count)
    plain = learn_target(asked, [split_features(text)[0] for text in texts], size=size, least_count=least_count)
    features = common_features(texts, least_count=least_count)
    reason = f"{plain.reason}; {len(features)} of them are features after a tab"
    return LearnedVocabulary(FeaturedVocabulary(plain.vocabulary, features), plain.level, reason)


def split_features(text: str) -> tuple[str, list[str]]:
    """The text before the first tab, and the features after it."""
    words, _, features = text.partition(LIST_SEPARATOR)
    return words, [feature for feature in FEATURE_SEPARATORS.split(features) if feature]


def common_features(texts: Iterable[str], *, least_count: int) -> list[str]:
    """The features of training text, the most frequent first, ties in alphabetical order."""
    counts = Counter(feature for text in texts for feature in split_features(text)[1])
    common = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [feature for feature, count in common if count >= least_count]


class FeaturedVocabulary(Vocabulary):
    """A vocabulary of text with one more token for each feature."""

    level = "featured"

    def __init__(self, text: Vocabulary, features: Sequence[str]) -> None:
        self.text, self.features = text, tuple(features)
        self.feature_to_id = {feature: len(text) + at for at, feature in enumerate(self.features)}
        if len(self.feature_to_id) != len(self.features):
            raise InputError("a vocabulary holds a feature twice.", fix="train the model again")

    def __len__(self) -> int:
        return len(self.text) + len(self.features)

    def encode(self, text: str) -> list[int]:
        """The ids of the text, then those of its features."""
        words, features = split_features(text)
        return [*self.text.encode(words), *(self.feature_to_id.get(feature, UNKNOWN) for feature in features)]

    def decode(self, ids: Sequence[int]) -> str:
        """The text, and after a tab its features."""
        words = self.text.decode([id for id in ids if id < len(self.text)])
        features = self.tokens([id for id in ids if id >= len(self.text)])
        return f"{words}{LIST_SEPARATOR}{';'.join(features)}" if features else words

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """The tokens of the text and the names of the features."""
        size = len(self.text)
        return [self.text.tokens([id])[0] if id < size else self.features[id - size] for id in ids]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """The spans of the tokens, then those of the features."""
        words, features = split_features(text)
        spans, end = self.text.offsets(words), len(words)
        for feature in features:
            start = text.index(feature, end)
            end = start + len(feature)
            spans.append((start, end))
        return spans

    def to_json(self) -> dict[str, object]:
        """The vocabulary of the text, and the features."""
        return {"level": self.level, "text": self.text.to_json(), "features": list(self.features)}


def load_vocabulary(saved: Any) -> Vocabulary:
    """The vocabulary that `Vocabulary.to_json` wrote; anything else raises an error."""
    level = saved.get("level") if isinstance(saved, dict) else None
    features = saved.get("features") if level == "featured" else None
    if isinstance(features, list) and all(isinstance(feature, str) for feature in features):
        return FeaturedVocabulary(load_text_vocabulary(saved.get("text")), features)
    return load_text_vocabulary(saved)


def load_text_vocabulary(saved: Any) -> Vocabulary:
    """A vocabulary without features."""
    level = saved.get("level") if isinstance(saved, dict) else None
    if level == "subword" and isinstance(saved.get("tokenizer"), str):
        return Subwords.from_text(saved["tokenizer"])
    tokens = saved.get("tokens") if isinstance(saved, dict) else None
    known: dict[str, type[TokenList]] = {"char": Characters, "word": Words, "lossless": LosslessWords}
    if level in known and isinstance(tokens, list) and all(isinstance(token, str) for token in tokens):
        return known[level](tokens)
    raise InputError("this is not a vocabulary.", found=str(saved)[:80], fix="train the model again")


def prepare(text: str, *, lower: bool) -> str:
    """Composed characters (NFC), no outer white space, small letters where asked."""
    text = unicodedata.normalize("NFC", text).strip()
    return text.lower() if lower else text


def encode_text(
    vocabulary: Vocabulary, source: str, *, lower: bool, sentences: bool, max_length: int | None
) -> list[int]:
    """Token numbers, with an end token between `sentences`; a text of nothing is one unknown token."""
    text = prepare(source, lower=lower)
    if not sentences:
        return vocabulary.encode(text)[:max_length] or [UNKNOWN]
    rows = [vocabulary.encode(sentence) for sentence in split_sentences(text)]
    return [token for row in rows for token in (*row, END)][:-1][:max_length] or [UNKNOWN]
