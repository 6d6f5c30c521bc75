"""Copy: write again what was read. One fixed vector has room for only so much of it."""

import random

from atento.data.builtin.parts import BuiltinParts, Lengths, refuse_keys, three_parts
from atento.spec import DataRecipe

LETTERS = "abcdefgh"
LENGTHS = Lengths(usual=30, most=1000, unit="letters")
SIZES = (10_000, 500, 500)


def letters(generator: random.Random, count: int) -> tuple[str, str]:
    """`c a a h`, twice."""
    text = " ".join(generator.choices(LETTERS, k=count))
    return text, text


def copy(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Texts of one to data.length letters; in training the short ones are more often."""
    refuse_keys(recipe, "source", "target")
    longest, generator = LENGTHS.of(recipe), random.Random(seed)
    train, valid, test = three_parts(
        lambda length: letters(generator, length()), most=longest, sizes=SIZES, generator=generator
    )
    note = (
        f"copy 1 to {longest} letters (--set data.length=): {len(train)} texts to train, {len(valid)} to validate, "
        f"{len(test)} to test"
    )
    return BuiltinParts(train, valid, test, (note,))
