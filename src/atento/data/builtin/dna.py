"""DNA-like strings with no words: does the motif stand anywhere, on either strand?

The motif is TATA, a gap of 2 or 3 letters, GC. On the other strand a string is read backwards with A for T and C for G,
so that the motif is GC, the gap, TATA. Every string has a TATA, and many a GC too near or too far: which letters or
short runs occur is not enough to know.
"""

import random
import re

from atento.data.builtin.parts import BuiltinParts, Lengths, distinct, refuse_keys
from atento.spec import DataRecipe

LENGTHS = Lengths(usual=30, most=1000, unit="letters")
SIZES = (10_000, 500, 1000)
FEWEST = 16
FIRST, LAST, GAPS = "TATA", "GC", (2, 3)
MOTIF = re.compile(f"{FIRST}.{{{GAPS[0]},{GAPS[1]}}}{LAST}")
STRANDS = str.maketrans("ACGT", "TGCA")
LABELS = ("motif", "none")


def has_motif(string: str) -> bool:
    """On this strand or the other."""
    return bool(MOTIF.search(string) or MOTIF.search(string.translate(STRANDS)[::-1]))


def strand(generator: random.Random, letters: int) -> tuple[str, str]:
    """A string and its label, both labels equally often."""
    wanted = generator.random() < 0.5
    while True:
        string = plant(generator, "".join(generator.choices("ACGT", k=letters)), wanted)
        if has_motif(string) == wanted:
            return string, LABELS[0 if wanted else 1]


def plant(generator: random.Random, string: str, whole: bool) -> str:
    """TATA somewhere; the whole motif somewhere, on either strand, where it is wanted."""
    sign = FIRST
    if whole:
        gap = generator.randint(*GAPS)
        sign += "".join(generator.choices("ACGT", k=gap)) + LAST
        sign = sign.translate(STRANDS)[::-1] if generator.random() < 0.5 else sign
    place = generator.randint(0, len(string) - len(sign))
    return string[:place] + sign + string[place + len(sign) :]


def dna(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Strings of data.length letters, up to half of them fewer."""
    refuse_keys(recipe, "source", "target")
    most, generator = max(FEWEST, LENGTHS.of(recipe)), random.Random(seed)
    fewest, known = max(FEWEST, most // 2), set[str]()
    test, valid, train = (
        distinct(lambda: strand(generator, generator.randint(fewest, most)), size, known) for size in reversed(SIZES)
    )
    note = (
        f"strings of {fewest} to {most} letters (--set data.length=), half of them with the motif TATA, 2 or 3 "
        f"letters, GC on either strand: {len(train)} to train, {len(valid)} to validate, {len(test)} to test"
    )
    return BuiltinParts(train, valid, test, (note,))
