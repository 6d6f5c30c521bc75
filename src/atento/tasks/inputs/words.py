"""Words as an input: a list of words a source, each read as its number in the vocabulary and those of its letters."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Self

import torch
from torch import Tensor

from atento.data.examples.batches import pad
from atento.data.text.encoding import encode_word
from atento.data.text.vocabulary import JOINER, REMEMBERED, SPECIAL_TOKENS, UNKNOWN, LosslessWords, Vocabulary, Words
from atento.data.text.words import split_words
from atento.errors import InputError
from atento.layers.masking import valid_from_lengths
from atento.models.classifier import LabelledBatch
from atento.models.tagger import word_dropout
from atento.spec import TokensRecipe
from atento.tasks.inputs.input import HasWords, Input, PaddedSources, TakesVocabulary
from atento.tasks.inputs.text import adopted_note
from atento.tasks.task import Saved

# Axes: B batch, N words, L letters.

CUT = "a text without tabs is cut at white space, and punctuation at the ends of a word is a word of its own"


class WordList(Input[Tensor], HasWords[LabelledBatch], TakesVocabulary):
    """Lists of words <-> numbers (N, 1 + L): the word's number, then those of its letters, 0 after the last."""

    kind = "words"
    texts = "sentences"

    def __init__(
        self,
        words: Sequence[str],
        letters: Sequence[str],
        *,
        lower: bool,
        seen: Sequence[str],
        notes: tuple[str, ...] = (),
    ) -> None:
        self.words, self.letters, self.lower, self.notes = words, letters, lower, notes
        self.seen = frozenset(seen)
        self.known: dict[str, list[int]] = {}  # words, and what they are encoded as
        self.word_numbers = {word: number for number, word in enumerate(words, len(SPECIAL_TOKENS))}
        self.letter_numbers = {letter: number for number, letter in enumerate(letters, len(SPECIAL_TOKENS))}

    @classmethod
    def learn(cls, recipe: TokensRecipe, sources: Sequence[str], *, writes: bool) -> Self:
        """Words and letters of the training part alone, the commonest first, ties in alphabetical order."""
        for key in ("source", "target"):
            if getattr(recipe, key) not in ("auto", "word"):
                raise InputError(
                    f"tokens.{key}: a tagger takes words as they are given.",
                    found=f"tokens.{key}={getattr(recipe, key)}",
                    fix=f"leave tokens.{key} out; model.characters reads the letters inside words",
                )
        seen = Counter(word for source in sources for word in split_words(source))
        counts = Counter[str]()
        for word, count in seen.items():
            counts[word.lower() if recipe.lowercase else word] += count
        kept = [word for word in by_count(counts) if counts[word] >= recipe.min_count][: recipe.vocab_size]
        letters = Counter(letter for word, count in seen.items() for letter in word * count)
        note = f"{len(kept)} words, {len(letters)} letters; {CUT}"
        return cls(kept, by_count(letters), lower=recipe.lowercase, seen=sorted(seen), notes=(note,))

    @property
    def learned_tokens(self) -> Collection[str]:
        """All words and letters."""
        return {*self.words, *self.letters, *self.seen}

    @classmethod
    def load(cls, saved: Saved) -> Self:
        """What `to_json` wrote."""
        words, letters, seen = (load_texts(saved, key) for key in ("words", "letters", "seen"))
        return cls(words, letters, lower=saved.get("lower") is True, seen=seen)

    def to_json(self) -> dict[str, object]:
        """All lists."""
        lists = {"words": list(self.words), "letters": list(self.letters), "seen": sorted(self.seen)}
        return {**lists, "lower": self.lower}

    def with_vocabulary(self, vocabulary: Vocabulary) -> Self:
        """The words of another run, which must have read whole words."""
        if not isinstance(vocabulary, Words | LosslessWords):
            raise InputError(
                "a tagger takes whole words, and the run started from has none.",
                found=f"a vocabulary of {vocabulary.level}s",
                fix="train that run with --set tokens.source=word",
            )
        words = without_joins(vocabulary.id_to_token[len(SPECIAL_TOKENS) :])
        seen, notes = sorted(self.seen), (adopted_note(vocabulary),)
        return type(self)(words, self.letters, lower=False, seen=seen, notes=notes)

    def encode(self, source: str) -> Tensor:
        """The numbers (N, 1 + L) of words and letters; no word at all is one unknown word."""
        return self.encode_words(split_words(source)[: self.max_length])

    def parts(self, source: str) -> list[list[str]]:
        """The words of a source, in parts that are read at a time."""
        words = split_words(source)
        length = self.max_length or max(1, len(words))
        return [words[first : first + length] for first in range(0, max(1, len(words)), length)]

    def encode_words(self, words: Sequence[str]) -> Tensor:
        """The same of words that are already cut."""
        return pad([self.encode_word(word) for word in words] or [[UNKNOWN]])[0]

    def encode_word(self, word: str) -> list[int]:
        """A word's number, then those of its letters. The same words come again and again."""
        numbers = self.known.get(word)
        if numbers is None:
            if len(self.known) >= REMEMBERED:
                self.known.clear()
            numbers = encode_word(word, self.word_numbers, self.letter_numbers, lower=self.lower)
            self.known[word] = numbers
        return numbers

    def length(self, encoded: Tensor) -> int:
        """How many words."""
        return len(encoded)

    def tensors(self, encoded: Sequence[Tensor]) -> PaddedSources:
        """(N, 1 + L) each, L as they are -> (B, N, 1 + L), zeros behind, and valid (B, N)."""
        longest, width = max(map(len, encoded)), max(row.size(1) for row in encoded)
        words = torch.zeros(len(encoded), longest, width, dtype=torch.long)
        for place, row in enumerate(encoded):
            words[place, : len(row), : row.size(1)] = row
        return PaddedSources(words, valid_from_lengths(torch.tensor([len(row) for row in encoded]), longest))

    @staticmethod
    def drop_words(batch: LabelledBatch, share: float) -> LabelledBatch:
        """Some words unknown, so that the vector of unknown words is learned; their letters stay."""
        return batch._replace(source=word_dropout(batch.source, batch.valid, share, unknown=UNKNOWN))

    @property
    def sizes(self) -> tuple[int, int]:
        """How many words and letters there are, special tokens included."""
        return len(self.words) + len(SPECIAL_TOKENS), len(self.letters) + len(SPECIAL_TOKENS)


def by_count(counts: Counter[str]) -> list[str]:
    """The commonest first, ties in alphabetical order."""
    return sorted(counts, key=lambda item: (-counts[item], item))


def load_texts(saved: Saved, key: str) -> list[str]:
    """A list of texts that a codec wrote."""
    items = saved.get(key)
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise InputError(f"the vocabulary file holds no list of {key}.", found=repr(items), fix="train again")
    return items


def without_joins(tokens: Sequence[str]) -> list[str]:
    """Tokens without the signs that join them to their neighbours; of equal ones the first, the commonest, loses it."""
    words: dict[str, None] = {}
    for token in tokens:
        word = token.replace(JOINER, "")
        words[token if word in words or not word else word] = None
    return list(words)
