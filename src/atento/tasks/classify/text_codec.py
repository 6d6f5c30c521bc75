"""A vocabulary of the texts and the list of the labels, for one label a text or any number of them."""

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from atento.data.text.levels import SAMPLE, learn_vocabulary, load_vocabulary
from atento.data.text.vocabulary import END, UNKNOWN, Vocabulary
from atento.data.text.words import sentences
from atento.errors import InputError
from atento.spec import TokensRecipe
from atento.tasks.classify.labels import KnownLabels, labels_of, load_labels

LEVEL_WORDS = {"char": "characters", "word": "words", "subword": "subwords"}
WORDS_OF_A_TEXT = 1.5  # fewer on average: the texts are strings without words


class EncodedText(NamedTuple):
    """Token numbers of a text, an end mark between its sentences, and the numbers of its labels."""

    tokens: list[int]
    labels: list[int]


class LabelCodec(KnownLabels):
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
        super().__init__(labels, counts, notes=notes)
        self.source, self.texts, self.lower = source, texts, lower

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[tuple[str, str]], *, several: bool) -> "LabelCodec":
        """Level, vocabulary and labels from the training part alone; `several`: a target is a list of labels."""
        texts = [source for source, _ in pairs]
        level, reason = (recipe.source, "as asked") if recipe.source != "auto" else choose_level(texts)
        lower = recipe.lower and (level != "char" or recipe.source != "auto")
        cut = [sentence for text in texts for sentence in sentences(prepare(text, lower=lower))]
        source = learn_vocabulary(level, cut, size=recipe.size, least_count=recipe.least_count)
        labels, counts, common = labels_of([target for _, target in pairs], several=several)
        small = ", capital letters read as small ones" * lower
        notes = (f"text: {len(source)} {LEVEL_WORDS[level]} ({reason}){small}", common)
        return cls(source, labels, counts, texts=len(pairs), lower=lower, notes=notes)

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> "LabelCodec":
        """What `to_json` wrote."""
        labels, counts = load_labels(saved)
        texts, lower = saved.get("texts"), load_lower(saved)
        if type(texts) is not int:
            raise InputError("this file holds no number of texts.", found=repr(texts)[:80], fix="train again")
        return cls(load_vocabulary(saved.get("source")), labels, counts, texts=texts, lower=lower)

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

    def balanced_yes(self, balance: float) -> Tensor:
        """How much more a label's yes (C,) weighs than its no: ((n − n_c) / n_c)^balance."""
        counts = torch.tensor(self.counts, dtype=torch.float64)
        return ((self.texts - counts).clamp(min=1) / counts) ** balance


def prepare(text: str, *, lower: bool) -> str:
    """Composed characters, no outer white space, small letters where asked."""
    text = unicodedata.normalize("NFC", text).strip()
    return text.lower() if lower else text


def load_lower(saved: Mapping[str, Any]) -> bool:
    """Whether a codec wrote that capital letters are read as small ones."""
    lower = saved.get("lower")
    if not isinstance(lower, bool):
        raise InputError(
            "this file does not say how capital letters are read.", found=repr(lower)[:80], fix="train again"
        )
    return lower


def choose_level(texts: Sequence[str]) -> tuple[str, str]:
    """Words where there are any, else characters; and the reason, in words."""
    sample = texts[:: 1 + len(texts) // SAMPLE]
    mean = sum(len(text.split()) for text in sample) / max(1, len(sample))
    if mean < WORDS_OF_A_TEXT:
        return "char", f"strings without words, {mean:.1f} a text, capital letters kept"
    return "word", f"{mean:.1f} a text"
