"""Pairs of number words in two languages: a small translation set that needs no download."""

import random
from dataclasses import dataclass

from atento.data.builtin.number_words import LANGUAGES, LARGEST
from atento.errors import InputError, unknown_name

Pairs = tuple[tuple[str, str], ...]  # (source words, target words)

MOST_DIGITS = len(str(LARGEST))


@dataclass(frozen=True)
class NumberPairs:
    """Three parts that share no number."""

    train: Pairs
    valid: Pairs
    test: Pairs


def number_pairs(
    source: str = "de",
    target: str = "en",
    *,
    sizes: tuple[int, int, int] = (20_000, 2_000, 2_000),
    seed: int = 0,
) -> NumberPairs:
    """Numbers written in two languages; one seed gives the same numbers whatever the languages."""
    for code in (source, target):
        if code not in LANGUAGES:
            raise unknown_name("language", code, LANGUAGES)
    total = sum(sizes)
    if min(sizes) < 0 or total > LARGEST + 1:
        raise InputError(
            "the parts cannot have these sizes.",
            found=", ".join(map(str, sizes)),
            fix=f"use sizes of 0 or more that sum to at most {LARGEST + 1}",
        )
    source_words, target_words = LANGUAGES[source], LANGUAGES[target]
    numbers = draw_numbers(total, random.Random(seed))
    pairs = tuple((source_words(number), target_words(number)) for number in numbers)
    train, valid, _ = sizes
    return NumberPairs(train=pairs[:train], valid=pairs[train : train + valid], test=pairs[train + valid :])


def draw_numbers(total: int, generator: random.Random) -> list[int]:
    """Distinct numbers in random order, an equal share of each length while they last."""
    numbers: list[int] = []  # a plain draw would give six digits nine times in ten
    for digits in range(1, MOST_DIGITS + 1):
        known = range(10 ** (digits - 1) if digits > 1 else 0, 10**digits)
        share = (total - len(numbers)) // (MOST_DIGITS + 1 - digits)  # what a short length lacks, the longer ones give
        numbers += generator.sample(known, min(share, len(known)))
    generator.shuffle(numbers)
    return numbers
