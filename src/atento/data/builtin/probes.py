"""Synthetic tasks for memory and attention: adding, copying, associative recall, known alignment, a state machine.

Each is the smallest set on which one ability shows: a sum over a distance, a sequence larger than one vector, a look-up
by key, an alignment that is known exactly, and a hidden state (the cook).
"""

import random
from collections.abc import Sequence
from itertools import accumulate

from atento.data.builtin.builtin import BuiltinParts, Lengths, distinct, draw_lengths, refuse_keys
from atento.spec import DataRecipe

# The adding problem (Hochreiter & Schmidhuber, 1997, sec. 5.4): two numbers are marked, one in each half, and the
# target is their sum. A constant prediction of 1 has a mean squared error of 1/6.

ADDING_LENGTHS = Lengths(usual=50, most=2000, unit="steps")
ADDING_SIZES = (10_000, 500, 1000)
DIGITS = 1000  # numbers are thousandths
PLAIN = tuple(f"{number / DIGITS:.3f},0" for number in range(DIGITS + 1))  # formatted once: each time takes seconds


def marked_numbers(generator: random.Random, steps: int) -> tuple[str, str]:
    """`0.531,0 0.902,1 0.127,0 0.480,1`, `1.382`."""
    numbers = generator.choices(range(DIGITS + 1), k=steps)
    texts = [PLAIN[number] for number in numbers]
    marked = generator.randrange(steps // 2), generator.randrange(steps // 2, steps)
    for step in marked:
        texts[step] = texts[step][:-1] + "1"
    return " ".join(texts), f"{sum(numbers[step] for step in marked) / DIGITS:.3f}"


def adding(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Sequences of 90 to 100 % of data.length steps, each with the sum of its two marked numbers."""
    refuse_keys(recipe, "source", "target")
    most, generator = max(2, ADDING_LENGTHS.of(recipe)), random.Random(seed)
    fewest = max(2, most - most // 10)
    test, valid, train = (
        tuple(marked_numbers(generator, generator.randint(fewest, most)) for _ in range(size))
        for size in reversed(ADDING_SIZES)
    )
    parts = BuiltinParts(train, valid, test)
    return parts.with_note(
        f"the sum of two marked numbers among {fewest} to {most} (--set data.length=): {parts.counts('sequences')}; "
        "always guessing 1 errs by 0.167 squared"
    )


# Copy: the target is the source. One fixed vector has room for only so much of it.

LETTERS = "abcdefgh"
COPY_LENGTHS = Lengths(usual=30, most=1000, unit="letters")
COPY_SIZES = (10_000, 500, 500)


def letters(generator: random.Random, count: int) -> tuple[str, str]:
    """A source such as `c a a h` and the same as target."""
    text = " ".join(generator.choices(LETTERS, k=count))
    return text, text


def copy(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Texts of one to data.length letters, each with itself as target; short ones are more frequent in training."""
    refuse_keys(recipe, "source", "target")
    most = COPY_LENGTHS.of(recipe)
    parts = draw_lengths(letters, most, COPY_SIZES, random.Random(seed))
    return parts.with_note(f"copy 1 to {most} letters (--set data.length=): {parts.counts('texts')}")


# Associative recall (after Graves et al., 2014, sec. 4.3): keys with values, then one of the keys; the target is that
# key and its value. A model that writes the key first can query with it and learns to attend in a minute; one that must
# write the value alone is still at chance then.

KEYS = tuple(consonant + vowel for consonant in "bcdfghjklmnprstv" for vowel in "aeio")  # 64 syllables
VALUES = tuple("0123456789")
RECALL_LENGTHS = Lengths(usual=8, most=len(KEYS), unit="pairs")
RECALL_SIZES = (20_000, 500, 1000)


def question(generator: random.Random, count: int) -> tuple[str, str]:
    """`ba 3 ke 7 ti 1 ? ke`, `ke 7`."""
    keys = generator.sample(KEYS, count)
    values = generator.choices(VALUES, k=len(keys))
    asked = generator.randrange(len(keys))
    pairs = [word for pair in zip(keys, values, strict=True) for word in pair]
    return " ".join([*pairs, "?", keys[asked]]), f"{keys[asked]} {values[asked]}"


def recall(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Questions about one to data.length pairs of key and value; short ones are more frequent in training."""
    refuse_keys(recipe, "source", "target")
    most = RECALL_LENGTHS.of(recipe)
    parts = draw_lengths(question, most, RECALL_SIZES, random.Random(seed))
    return parts.with_note(
        f"the value of one key among 1 to {most} pairs (--set data.length=, at most {len(KEYS)}): "
        f"{parts.counts('questions')}; a guess is right once in {len(VALUES)}"
    )


# Known alignment: each word has one translation and each block of three words is reversed, so the position to attend to
# is known for every target word.

BLOCK = 3
WORDS = tuple(consonant + vowel for consonant in "bdfgklmn" for vowel in "aeiou")  # 40 words
ALIGNMENT_LENGTHS = Lengths(usual=12, most=300, unit="words")
ALIGNMENT_SIZES = (10_000, 500, 500)


def true_positions(words: int) -> list[int]:
    """The source position of each target word: 2 1 0 5 4 3 ..."""
    positions: list[int] = []
    for first in range(0, words, BLOCK):
        positions += reversed(range(first, min(first + BLOCK, words)))
    return positions


def sentence(generator: random.Random, count: int) -> tuple[str, str]:
    """`ba ke lu fo`, `UL EK AB OF`: a word is translated to its letters in reverse, in capitals."""
    words = generator.choices(WORDS, k=count)
    return " ".join(words), " ".join(words[position][::-1].upper() for position in true_positions(len(words)))


def alignment(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Sentences of one to data.length words with their translation; short ones are more frequent in training."""
    refuse_keys(recipe, "source", "target")
    most = ALIGNMENT_LENGTHS.of(recipe)
    parts = draw_lengths(sentence, most, ALIGNMENT_SIZES, random.Random(seed))
    return parts.with_note(
        f"each word translated, each block of {BLOCK} words backwards, 1 to {most} words (--set data.length=): "
        f"{parts.counts('sentences')}"
    )


# The cook makes one of three dishes a day. The dish rotates when it rains and stays the same when the sun shines, which
# needs a hidden state: the source is the first dish and the weather of the days after it, the target the dishes of
# those days.

DISHES = ("pie", "burger", "chicken")
WEATHERS = ("sunny", "rainy")
COOK_SIZES = (4000, 300, 500)
DAYS = ((1, 10), (11, 14), (15, 20))  # minimum and maximum in training, validation and test: lengths extrapolate


def by_rain(first: str, weathers: Sequence[str]) -> list[str]:
    """The dishes of the days after the first: the next one when it rains, the same one when the sun shines."""
    dishes = accumulate((weather == "rainy" for weather in weathers), initial=DISHES.index(first))
    return [DISHES[dish % len(DISHES)] for dish in dishes][1:]


def week(generator: random.Random, days: tuple[int, int]) -> tuple[str, str]:
    """`pie sunny rainy rainy`, `pie burger chicken`."""
    first = generator.choice(DISHES)
    weathers = generator.choices(WEATHERS, k=generator.randint(*days))
    return " ".join([first, *weathers]), " ".join(by_rain(first, weathers))


def cook(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Weeks of dishes; those of validation and test are longer than any in training."""
    refuse_keys(recipe, "source", "target", "length")
    generator, known = random.Random(seed), set[str]()
    train, valid, test = (
        distinct(lambda days=days: week(generator, days), size, known)  # type: ignore[misc]
        for size, days in zip(COOK_SIZES, DAYS, strict=True)
    )
    note = (
        "the cook's next dish when it rains, the same when the sun shines: "
        f"{len(train)} weeks of 1 to {DAYS[0][1]} days to train, {len(valid)} of {DAYS[1][0]} to {DAYS[1][1]} to "
        f"validate, {len(test)} of {DAYS[2][0]} to {DAYS[2][1]} to test"
    )
    return BuiltinParts(train, valid, test, (note,))
