"""Associative recall: keys with their values, then one of the keys; its value is the answer (Graves et al., 2014)."""

import random

from atento.data.builtin.parts import BuiltinParts, Lengths, distinct, refuse_keys
from atento.spec import DataRecipe

KEYS = tuple(consonant + vowel for consonant in "bcdfghjklmnprstv" for vowel in "aeio")  # 64 syllables
VALUES = tuple("0123456789")
LENGTHS = Lengths(usual=8, most=len(KEYS), unit="pairs")
SIZES = (20_000, 500, 1000)


def question(generator: random.Random, most: int) -> tuple[str, str]:
    """`ba 3 ke 7 ti 1 ? ke`, `7`."""
    keys = generator.sample(KEYS, generator.randint(1, most))
    values = generator.choices(VALUES, k=len(keys))
    asked = generator.randrange(len(keys))
    pairs = [word for pair in zip(keys, values, strict=True) for word in pair]
    return " ".join([*pairs, "?", keys[asked]]), values[asked]


def recall(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Questions about one to data.length pairs, all numbers of pairs equally often."""
    refuse_keys(recipe, "source", "target")
    most, generator, known = LENGTHS.of(recipe), random.Random(seed), set[str]()
    test, valid, train = (distinct(lambda: question(generator, most), size, known) for size in reversed(SIZES))
    note = (
        f"the value of one key among 1 to {most} pairs (--set data.length=, at most {len(KEYS)}): {len(train)} "
        f"questions to train, {len(valid)} to validate, {len(test)} to test; a guess is right once in {len(VALUES)}"
    )
    return BuiltinParts(train, valid, test, (note,))
