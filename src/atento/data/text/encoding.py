"""Two texts with what each has of the other's words, and words with their letters, as token numbers.

Training, prediction and exported models all read them by these functions; one text is read by `levels`.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from atento.data.records import LIST_SEPARATOR
from atento.data.text.levels import prepare
from atento.data.text.vocabulary import UNKNOWN, Vocabulary
from atento.errors import InputError

TYPED = "|||"  # between two texts where a tab cannot be typed
ONLY_HERE, ALIKE, SAME = 1, 2, 3  # what the other text has of a token; 0 is padding
PREFIX = 4  # letters in which words that are alike agree: walk, walks, walking
MOST_LETTERS = 20  # of a longer word the first and the last are read


class EncodedTexts(NamedTuple):
    """Token numbers of both texts, and of each token what the other text has of it."""

    first: list[int]
    first_overlap: list[int]
    second: list[int]
    second_overlap: list[int]


def encode_two_texts(vocabulary: Vocabulary, source: str, *, lower: bool, max_length: int | None) -> EncodedTexts:
    """Both texts, and what each has of the other's words; never no token at all."""
    first, second = (prepare(text, lower=lower) for text in two_texts(source))
    here, there = (surfaces(vocabulary, text, max_length) for text in (first, second))
    return EncodedTexts(
        vocabulary.encode(first)[:max_length] or [UNKNOWN],
        overlaps(here, there) or [ONLY_HERE],
        vocabulary.encode(second)[:max_length] or [UNKNOWN],
        overlaps(there, here) or [ONLY_HERE],
    )


def surfaces(vocabulary: Vocabulary, text: str, max_length: int | None) -> list[str]:
    """Each token as it stands in the text, in small letters, whether or not the vocabulary has it."""
    return [text[start:end].lower() for start, end in vocabulary.offsets(text)[:max_length]]


def two_texts(source: str) -> tuple[str, str]:
    """The two texts of a source."""
    for sign in (LIST_SEPARATOR, TYPED):
        first, found, second = source.partition(sign)
        if found:
            return first.strip(), second.strip()
    raise InputError(
        "this needs two texts, with a tab between them.",
        found=repr(source[:80]),
        fix=f"write both with a tab, or {TYPED}, between them",
    )


def overlaps(own: Sequence[str], other: Sequence[str]) -> list[int]:
    """What the other text has of each token: the same one, one that begins alike, or nothing."""
    words, prefixes = set(other), {prefix for word in other for prefix in prefixes_of(word)}
    return [SAME if word in words else ALIKE if prefixes.intersection(prefixes_of(word)) else ONLY_HERE for word in own]


def prefixes_of(word: str) -> set[str]:
    """What a word shares with those that are alike: its first letters, of a short word one letter fewer as well."""
    if len(word) < PREFIX - 1 or not word[:1].isalpha():
        return set()
    return {word[:PREFIX]} | ({word[: PREFIX - 1]} if len(word) <= PREFIX else set())


def encode_word(word: str, words: Mapping[str, int], letters: Mapping[str, int], *, lower: bool) -> list[int]:
    """A word's number, then those of its letters."""
    known = word.lower() if lower else word
    half = MOST_LETTERS // 2
    spelled = word if len(word) <= MOST_LETTERS else word[:half] + word[-half:]
    return [words.get(known, UNKNOWN), *(letters.get(letter, UNKNOWN) for letter in spelled)]
