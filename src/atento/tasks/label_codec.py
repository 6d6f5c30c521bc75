"""A vocabulary of the texts and the list of the labels, for one label a text or any number of them."""

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from atento.data.levels import SAMPLE, learn_vocabulary, load_vocabulary
from atento.data.lists import split
from atento.data.records import counted
from atento.data.sentences import sentences
from atento.data.vocabulary import END, UNKNOWN, Vocabulary
from atento.errors import InputError
from atento.spec import TokensRecipe

LEVEL_WORDS = {"char": "characters", "word": "words", "subword": "subwords"}
WORDS_OF_A_TEXT = 1.5  # fewer on average: the texts are strings without words
MOST_LABELS = 100_000
SHOWN = 3  # labels that a note names


class EncodedText(NamedTuple):
    """Token numbers of a text, an end mark between its sentences, and the numbers of its labels."""

    tokens: list[int]
    labels: list[int]


class LabelCodec:
    """Texts and labels <-> token numbers and label numbers."""

    def __init__(
        self,
        source: Vocabulary,
        labels: Sequence[str],
        counts: Sequence[int],
        *,
        texts: int,
        lower: bool,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.source, self.labels, self.counts, self.texts = source, tuple(labels), tuple(counts), texts
        self.lower, self.notes = lower, notes
        self.numbers = {label: number for number, label in enumerate(self.labels)}

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[tuple[str, str]], *, several: bool) -> "LabelCodec":
        """Level, vocabulary and labels from the training part alone; `several`: a target is a list of labels."""
        texts = [source for source, _ in pairs]
        level, reason = (recipe.source, "as asked") if recipe.source != "auto" else choose_level(texts)
        lower = recipe.lower and (level != "char" or recipe.source != "auto")
        cut = [sentence for text in texts for sentence in sentences(prepare(text, lower=lower))]
        source = learn_vocabulary(level, cut, size=recipe.size, least_count=recipe.least_count)
        counts = Counter(label for _, target in pairs for label in (split(target) if several else [target]))
        labels = sorted(counts)
        require_labels(labels, several=several)
        common = ", ".join(f"{label} {counts[label] / len(pairs):.0%}" for label, _ in counts.most_common(SHOWN))
        small = ", capital letters read as small ones" * lower
        notes = (
            f"text: {len(source)} {LEVEL_WORDS[level]} ({reason}){small}",
            f"{counted(len(labels), 'label')}, most often {common}",
        )
        return cls(source, labels, [counts[label] for label in labels], texts=len(pairs), lower=lower, notes=notes)

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> "LabelCodec":
        """What `to_json` wrote."""
        labels, counts, texts = saved.get("labels"), saved.get("counts"), saved.get("texts")
        named = isinstance(labels, list) and 1 <= len(labels) <= MOST_LABELS and all(isinstance(x, str) for x in labels)
        numbers = isinstance(counts, list) and all(type(count) is int and count >= 0 for count in counts)
        if not (named and numbers and type(texts) is int and isinstance(saved.get("lower"), bool)):
            raise InputError("this file holds no labels.", found=str(saved)[:80], fix="train again")
        if len(set(labels or ())) != len(labels or ()) or len(labels or ()) != len(counts or ()):
            raise InputError("this file holds a label twice, or one without its count.", fix="train again")
        source = load_vocabulary(saved.get("source"))
        return cls(source, labels or (), counts or (), texts=texts or 0, lower=saved["lower"])

    def to_json(self) -> dict[str, Any]:
        """The vocabulary, and every label with how often it was true."""
        return {
            "source": self.source.to_json(),
            "labels": list(self.labels),
            "counts": list(self.counts),
            "texts": self.texts,
            "lower": self.lower,
        }

    def read(self, text: str) -> list[int]:
        """Token numbers; never none at all."""
        rows = [self.source.encode(sentence) for sentence in sentences(prepare(text, lower=self.lower))]
        tokens = [token for row in rows for token in (*row, END)]
        return tokens[:-1] or [UNKNOWN]

    def pieces(self, tokens: Sequence[int]) -> list[str]:
        """Each token as a person reads it."""
        return ["¶" if token == END else piece for token, piece in zip(tokens, self.source.pieces(tokens), strict=True)]

    def encode(self, source: str, labels: Sequence[str]) -> EncodedText:
        """A training example; a label that training never met has no number."""
        return EncodedText(self.read(source), [self.numbers[label] for label in labels if label in self.numbers])

    def balanced(self, balance: float) -> Tensor:
        """Weights (C,) of the labels of one text each: (n / (C n_c))^balance, so scaled that the mean case weighs 1."""
        return balanced_weights(self.counts, balance)

    def balanced_yes(self, balance: float) -> Tensor:
        """How much more a label's yes (C,) weighs than its no: ((n − n_c) / n_c)^balance."""
        counts = torch.tensor(self.counts, dtype=torch.float64)
        return ((self.texts - counts).clamp(min=1) / counts) ** balance


def balanced_weights(counts: Sequence[int], balance: float) -> Tensor:
    """Weights (C,) of labels that occur so often: (n / (C n_c))^balance, so scaled that the mean case weighs 1."""
    often = torch.tensor(counts, dtype=torch.float64)
    weights = (often.sum() / (len(often) * often)) ** balance
    return weights * often.sum() / (weights * often).sum()


def prepare(text: str, *, lower: bool) -> str:
    """Composed characters, no outer white space, small letters where asked."""
    text = unicodedata.normalize("NFC", text).strip()
    return text.lower() if lower else text


def choose_level(texts: Sequence[str]) -> tuple[str, str]:
    """Words where there are any, else characters; and the reason, in words."""
    sample = texts[:: 1 + len(texts) // SAMPLE]
    mean = sum(len(text.split()) for text in sample) / max(1, len(sample))
    if mean < WORDS_OF_A_TEXT:
        return "char", f"strings without words, {mean:.1f} a text, capital letters kept"
    return "word", f"{mean:.1f} a text"


def require_labels(labels: Sequence[str], *, several: bool) -> None:
    """What can be told apart."""
    if len(labels) < (1 if several else 2):
        raise InputError(
            "the training part has nothing to tell apart.",
            found=f"{counted(len(labels), 'label')}{': ' + labels[0] if labels else ''}",
            fix="add texts with other labels, or name the column: --set data.label=...",
        )
