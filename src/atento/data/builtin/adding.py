"""The adding problem: among many numbers two are marked, and the answer is their sum.

One is marked in each half (Hochreiter & Schmidhuber, 1997, sec. 5.4). Whoever guesses 1 every time has a mean squared
error of 1/6.
"""

import random

from atento.data.builtin.parts import BuiltinParts, Lengths, refuse_keys
from atento.spec import DataRecipe

LENGTHS = Lengths(usual=50, most=2000, unit="steps")
SIZES = (10_000, 500, 1000)
DIGITS = 1000  # numbers are thousandths
PLAIN = tuple(f"{number / DIGITS:.3f},0" for number in range(DIGITS + 1))  # writing each anew would take seconds


def marked_numbers(generator: random.Random, steps: int) -> tuple[str, str]:
    """`0.531,0 0.902,1 0.127,0 0.480,1`, `1.382`."""
    numbers = generator.choices(range(DIGITS + 1), k=steps)
    texts = [PLAIN[number] for number in numbers]
    marked = generator.randrange(steps // 2), generator.randrange(steps // 2, steps)
    for step in marked:
        texts[step] = texts[step][:-1] + "1"
    return " ".join(texts), f"{sum(numbers[step] for step in marked) / DIGITS:.3f}"


def adding(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Sequences of data.length steps, up to a tenth of them shorter."""
    refuse_keys(recipe, "source", "target")
    most, generator = max(2, LENGTHS.of(recipe)), random.Random(seed)
    fewest = max(2, most - most // 10)
    test, valid, train = (
        tuple(marked_numbers(generator, generator.randint(fewest, most)) for _ in range(size))
        for size in reversed(SIZES)
    )
    note = (
        f"the sum of two marked numbers among {fewest} to {most} (--set data.length=): {len(train)} sequences to "
        f"train, {len(valid)} to validate, {len(test)} to test; always guessing 1 errs by 0.167 squared"
    )
    return BuiltinParts(train, valid, test, (note,))
