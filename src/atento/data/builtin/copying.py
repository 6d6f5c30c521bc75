"""Copy: write again what was read. One fixed vector has room for only so much of it."""

import random

from atento.data.builtin.parts import BuiltinParts, Lengths, distinct, refuse_keys
from atento.spec import DataRecipe

LETTERS = "abcdefgh"
LENGTHS = Lengths(usual=30, most=1000, unit="letters")
SIZES = (10_000, 500, 500)


def letters(generator: random.Random, longest: int) -> tuple[str, str]:
    """`c a a h`, twice."""
    text = " ".join(generator.choices(LETTERS, k=generator.randint(1, longest)))
    return text, text


def copy(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Texts of one to data.length letters, all lengths equally often."""
    refuse_keys(recipe, "source", "target")
    longest, generator, known = LENGTHS.of(recipe), random.Random(seed), set[str]()
    test, valid, train = (distinct(lambda: letters(generator, longest), size, known) for size in reversed(SIZES))
    note = (
        f"copy 1 to {longest} letters (--set data.length=): {len(train)} texts to train, {len(valid)} to validate, "
        f"{len(test)} to test"
    )
    return BuiltinParts(train, valid, test, (note,))
