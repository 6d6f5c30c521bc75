"""Known alignment: words translated one by one and written in another order, so that where to look is known exactly.

Each block of three words is written backwards, and each word has one translation. A model that aligns looks, for every
word it writes, at the word that it comes from: `true_places` says which.
"""

import random
from collections.abc import Sequence

from atento.data.builtin.parts import BuiltinParts, Lengths, refuse_keys, three_parts
from atento.spec import DataRecipe

BLOCK = 3
WORDS = tuple(consonant + vowel for consonant in "bdfgklmn" for vowel in "aeiou")  # 40 words
LENGTHS = Lengths(usual=12, most=300, unit="words")
SIZES = (10_000, 500, 500)


def translated(word: str) -> str:
    """One word for one word: the syllable turned round, as a word of the other language."""
    return word[::-1].upper()


def true_places(words: int) -> list[int]:
    """For each word written, the place of the word it comes from: 2 1 0 5 4 3 ..."""
    places: list[int] = []
    for first in range(0, words, BLOCK):
        places += reversed(range(first, min(first + BLOCK, words)))
    return places


def sentence(generator: random.Random, count: int) -> tuple[str, str]:
    """`ba ke lu fo`, `UL EK AB OF`."""
    words = generator.choices(WORDS, k=count)
    return " ".join(words), " ".join(translated(words[place]) for place in true_places(len(words)))


def alignment_error(weights: Sequence[Sequence[float]], words: int) -> float:
    """The share of written words whose largest weight is not on the word they come from; weights (written, read)."""
    largest = [max(range(words), key=lambda place, row=row: row[place]) for row in weights[:words]]  # type: ignore[misc]
    wrong = sum(found != true for found, true in zip(largest, true_places(words), strict=False))
    return (wrong + words - len(largest)) / words


def alignment(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Sentences of one to data.length words; in training the short ones are more often."""
    refuse_keys(recipe, "source", "target")
    longest, generator = LENGTHS.of(recipe), random.Random(seed)
    train, valid, test = three_parts(
        lambda length: sentence(generator, length()), most=longest, sizes=SIZES, generator=generator
    )
    note = (
        f"each word translated, each block of {BLOCK} words backwards, 1 to {longest} words (--set data.length=): "
        f"{len(train)} sentences to train, {len(valid)} to validate, {len(test)} to test"
    )
    return BuiltinParts(train, valid, test, (note,))
