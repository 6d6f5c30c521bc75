"""Text as an input: one text per source, read as words, subwords or characters.

For labels and numbers a text is cut into sentences, with an end token between them; for a text to be written it is one
sequence, and features after a tab stay whole.
"""

from collections.abc import Sequence
from typing import Self

import torch

from atento.data.examples.batches import pad, read_as_unknown
from atento.data.text.copying import copied_tokens
from atento.data.text.levels import SAMPLE_TEXTS, encode_text, learn_source, learn_vocabulary, load_vocabulary, prepare
from atento.data.text.vocabulary import END, Vocabulary
from atento.data.text.words import split_sentences
from atento.errors import InputError
from atento.models.builders.choices import HeadMaker
from atento.models.builders.classifier import build_classifier
from atento.models.builders.encoder_decoder import Vocabularies, build_translator
from atento.models.classifier import Classifier, LabelledBatch
from atento.models.names import COPY, ModelName
from atento.models.protocols import Encoder
from atento.models.translator import Translator
from atento.spec import ModelRecipe, TokensRecipe
from atento.tasks.inputs.input import (
    EncoderDecoderInput,
    HasWords,
    ManyToOneInput,
    PaddedSources,
    SourceView,
    TakesVocabulary,
    align_sequence,
    batch_sequences,
    trace_sequence,
)
from atento.tasks.task import Saved
from atento.tasks.traces import TraceMatrix, trace_matrix

# Axes: B batch, N tokens.

LEVEL_WORDS = {"char": "characters", "word": "words", "subword": "subwords"}
WORDS_OF_A_TEXT = 1.5  # fewer on average: the texts are strings without words


class Text(
    ManyToOneInput[list[int], LabelledBatch, Classifier],
    EncoderDecoderInput[list[int]],
    HasWords[LabelledBatch],
    TakesVocabulary,
):
    """Texts <-> token numbers."""

    kind = "text"
    vocabulary: Vocabulary

    batch = batch_sequences
    align = align_sequence
    trace = trace_sequence

    def __init__(self, vocabulary: Vocabulary, *, lower: bool, sentences: bool, notes: tuple[str, ...] = ()) -> None:
        self.vocabulary, self.lower, self.sentences, self.notes = vocabulary, lower, sentences, notes

    @classmethod
    def learn(cls, recipe: TokensRecipe, sources: Sequence[str], *, writes: bool) -> Self:
        """Level and vocabulary from the training part alone."""
        if writes:
            texts = [source.lower() for source in sources] if recipe.lowercase else sources
            learned = learn_source(recipe.source, texts, size=recipe.vocab_size, least_count=recipe.min_count)
            small = ("source: capital letters are read as small ones",) if recipe.lowercase else ()
            note = f"source: {len(learned.vocabulary)} {LEVEL_WORDS[learned.level]} ({learned.reason})"
            return cls(learned.vocabulary, lower=recipe.lowercase, sentences=False, notes=(*small, note))
        level, reason, lower = reading_of(recipe, sources)
        cut = [sentence for text in sources for sentence in split_sentences(prepare(text, lower=lower))]
        vocabulary = learn_vocabulary(level, cut, size=recipe.vocab_size, least_count=recipe.min_count)
        note = f"text: {vocabulary_note(vocabulary, level, reason, lower=lower)}"
        return cls(vocabulary, lower=lower, sentences=True, notes=(note,))

    @classmethod
    def load(cls, saved: Saved) -> Self:
        """What `to_json` wrote."""
        vocabulary = load_vocabulary(saved.get("vocabulary"))
        return cls(vocabulary, lower=load_flag(saved, "lower"), sentences=load_flag(saved, "sentences"))

    def to_json(self) -> dict[str, object]:
        """The vocabulary and how texts are read with it."""
        return {"vocabulary": self.vocabulary.to_json(), "lower": self.lower, "sentences": self.sentences}

    def with_vocabulary(self, vocabulary: Vocabulary) -> Self:
        """The vocabulary of another run, which knows capital letters."""
        return type(self)(vocabulary, lower=False, sentences=self.sentences, notes=(adopted_note(vocabulary),))

    def encode(self, source: str) -> list[int]:
        """Token numbers; a text of nothing is one unknown token."""
        return encode_text(
            self.vocabulary, source, lower=self.lower, sentences=self.sentences, max_length=self.max_length
        )

    def length(self, encoded: list[int]) -> int:
        """How many tokens."""
        return len(encoded)

    def seed_key(self, source: str) -> Sequence[object]:
        """Texts that are read alike are sampled alike."""
        return self.encode(source)

    def tensors(self, encoded: Sequence[list[int]]) -> PaddedSources:
        """Tokens (B, N) and valid (B, N)."""
        return PaddedSources(*pad(encoded))

    @staticmethod
    def drop_words(batch: LabelledBatch, share: float) -> LabelledBatch:
        """Some of the tokens unknown."""
        return batch._replace(source=read_as_unknown(batch.source, share))

    def build(self, recipe: ModelRecipe, head: HeadMaker, width: int) -> Classifier:
        """A classifier of texts."""
        return build_classifier(recipe, len(self.vocabulary), head, width)

    def build_translator(self, recipe: ModelRecipe, target: Vocabulary) -> Translator:
        """An encoder–decoder of texts."""
        return build_translator(recipe, vocabularies_of(recipe, self.vocabulary, target))

    def view(self, encoder: Encoder, source: str) -> SourceView:
        """Each token as it is written; where every character is a token, the characters of the source."""
        tokens = self.encode(source)
        if not self.sentences and self.vocabulary.level == "char" and prepare(source, lower=False):
            return SourceView(list(prepare(source, lower=False))[: self.max_length])
        named = zip(tokens, self.vocabulary.tokens(tokens), strict=True)
        return SourceView(["¶" if token == END else text for token, text in named])

    def trace_source(self, encoder: Encoder, source: str, view: SourceView) -> list[TraceMatrix]:
        """The number of each token."""
        numbers = torch.tensor(self.encode(source)).unsqueeze(1).float()
        return [trace_matrix("tokens", "each token is a number", view.labels, numbers, columns=["number"])]


def vocabularies_of(recipe: ModelRecipe, source: Vocabulary, target: Vocabulary) -> Vocabularies:
    """Both sizes, and for a model that copies which source tokens are target tokens."""
    copied = copied_tokens(source, target) if ModelName.parse(recipe.name).has(COPY) else ()
    return Vocabularies(len(source), len(target), copied)


def reading_of(recipe: TokensRecipe, texts: Sequence[str]) -> tuple[str, str, bool]:
    """The level at which texts to be labelled are read, why, and whether in small letters. Strings without words keep
    their capital letters unless the recipe names the level.
    """
    level, reason = (recipe.source, "as asked") if recipe.source != "auto" else choose_level(texts)
    return level, reason, recipe.lowercase and (level != "char" or recipe.source != "auto")


def choose_level(texts: Sequence[str]) -> tuple[str, str]:
    """Words where there are any, else characters; and the reason, in words."""
    sample = texts[:: 1 + len(texts) // SAMPLE_TEXTS]
    mean = sum(len(text.split()) for text in sample) / max(1, len(sample))
    if mean < WORDS_OF_A_TEXT:
        return "char", f"strings without words, {mean:.1f} per text, capital letters kept"
    return "word", f"{mean:.1f} per text"


def vocabulary_note(vocabulary: Vocabulary, level: str, reason: str, *, lower: bool) -> str:
    """`8123 words (21.3 per text), lowercased`."""
    return f"{len(vocabulary)} {LEVEL_WORDS[level]} ({reason}){', lowercased' * lower}"


def adopted_note(vocabulary: Vocabulary) -> str:
    """The note on a vocabulary that another run learned."""
    return f"text: the {len(vocabulary)} tokens of the run started from"


def load_flag(saved: Saved, key: str) -> bool:
    """A yes or no that an input wrote."""
    flag = saved.get(key)
    if not isinstance(flag, bool):
        raise InputError(f"this file does not say {key!r} of its texts.", found=repr(flag)[:80], fix="train again")
    return flag
