"""Associative recall: keys with their values, then one of the keys; it and its value are the answer.

(After Graves et al., 2014, sec. 4.3.) A model that writes the key first asks with what it has just written, and learns
where to look in a minute; one that must answer with the value alone is still guessing then.
"""

import random

from atento.data.builtin.parts import BuiltinParts, Lengths, refuse_keys, three_parts
from atento.spec import DataRecipe

KEYS = tuple(consonant + vowel for consonant in "bcdfghjklmnprstv" for vowel in "aeio")  # 64 syllables
VALUES = tuple("0123456789")
LENGTHS = Lengths(usual=8, most=len(KEYS), unit="pairs")
SIZES = (20_000, 500, 1000)


def question(generator: random.Random, count: int) -> tuple[str, str]:
    """`ba 3 ke 7 ti 1 ? ke`, `ke 7`."""
    keys = generator.sample(KEYS, count)
    values = generator.choices(VALUES, k=len(keys))
    asked = generator.randrange(len(keys))
    pairs = [word for pair in zip(keys, values, strict=True) for word in pair]
    return " ".join([*pairs, "?", keys[asked]]), f"{keys[asked]} {values[asked]}"


def recall(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Questions about one to data.length pairs; in training those about few are more often."""
    refuse_keys(recipe, "source", "target")
    most, generator = LENGTHS.of(recipe), random.Random(seed)
    train, valid, test = three_parts(
        lambda length: question(generator, length()), most=most, sizes=SIZES, generator=generator
    )
    note = (
        f"the value of one key among 1 to {most} pairs (--set data.length=, at most {len(KEYS)}): {len(train)} "
        f"questions to train, {len(valid)} to validate, {len(test)} to test; a guess is right once in {len(VALUES)}"
    )
    return BuiltinParts(train, valid, test, (note,))
