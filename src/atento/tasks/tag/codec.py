"""Words and tags <-> numbers: each word is its number in the vocabulary and the numbers of its letters."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from atento.data.examples.batches import pad
from atento.data.records import split
from atento.data.text.vocabulary import MARKS, UNKNOWN
from atento.data.text.words import words_of
from atento.errors import InputError
from atento.metrics.tags import SCHEMES, find_scheme
from atento.models.build.tagger import Tagset
from atento.spec import TokensRecipe

MOST_LETTERS = 20  # of a longer word the first and the last are read
CUT = "a text without tabs is cut at white space, and marks at the ends of a word are words of their own"


class EncodedSentence(NamedTuple):
    """Numbers of words and letters, and of their tags."""

    words: Tensor  # (N, 1 + L): the word's number, then those of its letters, 0 after the last
    tags: Tensor  # (N,)


class TagCodec:
    """Pairs of words and tags <-> numbers."""

    def __init__(
        self,
        words: Sequence[str],
        letters: Sequence[str],
        tagset: Tagset,
        *,
        lower: bool,
        seen: Sequence[str],
        notes: tuple[str, ...] = (),
    ) -> None:
        self.words, self.letters, self.tagset, self.lower, self.notes = words, letters, tagset, lower, notes
        self.seen = frozenset(seen)
        self.word_numbers = {word: number for number, word in enumerate(words, len(MARKS))}
        self.letter_numbers = {letter: number for number, letter in enumerate(letters, len(MARKS))}
        self.tag_numbers = {tag: number for number, tag in enumerate(tagset.tags)}

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[tuple[str, str]]) -> "TagCodec":
        """Words, letters and tags of the training part alone, the commonest first, ties in alphabetical order."""
        for key in ("source", "target"):
            if getattr(recipe, key) not in ("auto", "word"):
                raise InputError(
                    f"tokens.{key}: a tagger takes words as they are given.",
                    found=f"tokens.{key}={getattr(recipe, key)}",
                    fix=f"leave tokens.{key} out; model.characters reads the letters inside words",
                )
        sentences = [(words_of(source), split(target)) for source, target in pairs]
        seen = Counter(word for words, _ in sentences for word in words)
        counts = Counter[str]()
        for word, count in seen.items():
            counts[word.lower() if recipe.lower else word] += count
        kept = [word for word in by_count(counts) if counts[word] >= recipe.least_count][: recipe.size]
        letters = Counter(letter for word, count in seen.items() for letter in word * count)
        tags = Counter(tag for _, tags in sentences for tag in tags)
        scheme = find_scheme(tags for _, tags in sentences)
        notes = [f"{len(kept)} words, {len(letters)} letters, {len(tags)} tags; {CUT}"]
        if scheme:
            notes.append(f"tags mark spans ({scheme}): crf says no sequence that the scheme does not have")
        tagset = Tagset(tuple(by_count(tags)), scheme)
        return cls(kept, by_count(letters), tagset, lower=recipe.lower, seen=sorted(seen), notes=tuple(notes))

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> "TagCodec":
        """What `to_json` wrote."""
        lists = {key: saved.get(key) for key in ("words", "letters", "tags", "seen")}
        for key, items in lists.items():
            if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
                raise InputError(f"the vocabulary file holds no list of {key}.", found=repr(items), fix="train again")
        scheme = saved.get("scheme")
        if scheme not in ("", *SCHEMES) or not lists["tags"]:
            raise InputError("the vocabulary file names no tags.", found=repr(scheme), fix="train again")
        tagset = Tagset(tuple(lists["tags"]), scheme)
        return cls(
            lists["words"] or [],
            lists["letters"] or [],
            tagset,
            lower=saved.get("lower") is True,
            seen=lists["seen"] or [],
        )

    def to_json(self) -> dict[str, Any]:
        """All lists, and how tags mark spans."""
        return {
            "words": list(self.words),
            "letters": list(self.letters),
            "tags": list(self.tagset.tags),
            "scheme": self.tagset.scheme,
            "lower": self.lower,
            "seen": sorted(self.seen),
        }

    def encode(self, pair: tuple[str, str]) -> EncodedSentence:
        """A training example; a tag that training never saw is taken for the commonest."""
        words, tags = words_of(pair[0]), split(pair[1])
        return EncodedSentence(self.read(words), torch.tensor([self.tag_numbers.get(tag, 0) for tag in tags] or [0]))

    def read(self, words: Sequence[str]) -> Tensor:
        """The numbers (N, 1 + L) of words and letters; no word at all is one unknown word."""
        return pad([self.read_word(word) for word in words] or [[UNKNOWN]])[0]

    def read_word(self, word: str) -> list[int]:
        """A word's number, then those of its letters."""
        known = word.lower() if self.lower else word
        half = MOST_LETTERS // 2
        spelled = word if len(word) <= MOST_LETTERS else word[:half] + word[-half:]
        letters = [self.letter_numbers.get(letter, UNKNOWN) for letter in spelled]
        return [self.word_numbers.get(known, UNKNOWN), *letters]

    @property
    def sizes(self) -> tuple[int, int]:
        """How many words and letters there are, marks included."""
        return len(self.words) + len(MARKS), len(self.letters) + len(MARKS)


def by_count(counts: Counter[str]) -> list[str]:
    """The commonest first, ties in alphabetical order."""
    return sorted(counts, key=lambda item: (-counts[item], item))
