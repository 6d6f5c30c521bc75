"""The adding problem: among many numbers two are marked, and the answer is their sum.

One is marked in each half (Hochreiter & Schmidhuber, 1997, sec. 5.4). Whoever guesses 1 every time has a mean squared
error of 1/6.

Copy: write again what was read. One fixed vector has room for only so much of it.
Associative recall: keys with their values, then one of the keys; it and its value are the answer.
(After Graves et al., 2014, sec. 4.3.) A model that writes the key first asks with what it has just written, and learns
where to look in a minute; one that must answer with the value alone is still guessing then.
Known alignment: words translated one by one and written in another order, so that where to look is known exactly.
Each block of three words is written backwards, and each word has one translation. A model that aligns looks, for every
word it writes, at the word that it comes from: `true_places` says which.
The cook, who makes one of three dishes a day: the smallest story in which a network must remember.
Three rules, each harder: the dish follows the weather; it rotates each day; it rotates only when it rains, and stays
the same when the sun shines. The set is of the third rule: a source tells the first dish and the weather of the days
after it, its target the dishes of those days.
"""

import random
from collections.abc import Sequence
from itertools import accumulate

from atento.data.builtin.builtin import BuiltinParts, Lengths, distinct, refuse_keys, three_parts
from atento.spec import DataRecipe

ADDING_LENGTHS = Lengths(usual=50, most=2000, unit="steps")
ADDING_SIZES = (10_000, 500, 1000)
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
    most, generator = max(2, ADDING_LENGTHS.of(recipe)), random.Random(seed)
    fewest = max(2, most - most // 10)
    test, valid, train = (
        tuple(marked_numbers(generator, generator.randint(fewest, most)) for _ in range(size))
        for size in reversed(ADDING_SIZES)
    )
    note = (
        f"the sum of two marked numbers among {fewest} to {most} (--set data.length=): {len(train)} sequences to "
        f"train, {len(valid)} to validate, {len(test)} to test; always guessing 1 errs by 0.167 squared"
    )
    return BuiltinParts(train, valid, test, (note,))


LETTERS = "abcdefgh"
COPY_LENGTHS = Lengths(usual=30, most=1000, unit="letters")
COPY_SIZES = (10_000, 500, 500)


def letters(generator: random.Random, count: int) -> tuple[str, str]:
    """`c a a h`, twice."""
    text = " ".join(generator.choices(LETTERS, k=count))
    return text, text


def copy(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Texts of one to data.length letters; in training the short ones are more often."""
    refuse_keys(recipe, "source", "target")
    longest, generator = COPY_LENGTHS.of(recipe), random.Random(seed)
    train, valid, test = three_parts(
        lambda length: letters(generator, length()), most=longest, sizes=COPY_SIZES, generator=generator
    )
    note = (
        f"copy 1 to {longest} letters (--set data.length=): {len(train)} texts to train, {len(valid)} to validate, "
        f"{len(test)} to test"
    )
    return BuiltinParts(train, valid, test, (note,))


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
    """Questions about one to data.length pairs; in training those about few are more often."""
    refuse_keys(recipe, "source", "target")
    most, generator = RECALL_LENGTHS.of(recipe), random.Random(seed)
    train, valid, test = three_parts(
        lambda length: question(generator, length()), most=most, sizes=RECALL_SIZES, generator=generator
    )
    note = (
        f"the value of one key among 1 to {most} pairs (--set data.length=, at most {len(KEYS)}): {len(train)} "
        f"questions to train, {len(valid)} to validate, {len(test)} to test; a guess is right once in {len(VALUES)}"
    )
    return BuiltinParts(train, valid, test, (note,))


BLOCK = 3
WORDS = tuple(consonant + vowel for consonant in "bdfgklmn" for vowel in "aeiou")  # 40 words
ALIGNMENT_LENGTHS = Lengths(usual=12, most=300, unit="words")
ALIGNMENT_SIZES = (10_000, 500, 500)


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
    longest, generator = ALIGNMENT_LENGTHS.of(recipe), random.Random(seed)
    train, valid, test = three_parts(
        lambda length: sentence(generator, length()), most=longest, sizes=ALIGNMENT_SIZES, generator=generator
    )
    note = (
        f"each word translated, each block of {BLOCK} words backwards, 1 to {longest} words (--set data.length=): "
        f"{len(train)} sentences to train, {len(valid)} to validate, {len(test)} to test"
    )
    return BuiltinParts(train, valid, test, (note,))


DISHES = ("pie", "burger", "chicken")
WEATHERS = ("sunny", "rainy")

COOK_SIZES = (4000, 300, 500)
DAYS = ((1, 10), (11, 14), (15, 20))  # fewest and most days in training, validation and test weeks: ever longer


def by_weather(weathers: Sequence[str]) -> list[str]:
    """The first rule: pie in the sun, a burger in the rain."""
    return [DISHES[WEATHERS.index(weather)] for weather in weathers]


def by_day(first: str, days: int) -> list[str]:
    """The second rule: each day the dish after yesterday's."""
    return [DISHES[(DISHES.index(first) + day) % len(DISHES)] for day in range(1, days + 1)]


def by_rain(first: str, weathers: Sequence[str]) -> list[str]:
    """The third rule: the next dish when it rains, the same one when the sun shines."""
    moved = accumulate((weather == "rainy" for weather in weathers), initial=DISHES.index(first))
    return [DISHES[place % len(DISHES)] for place in moved][1:]


def week(generator: random.Random, days: tuple[int, int]) -> tuple[str, str]:
    """`pie sunny rainy rainy`, `pie burger chicken`."""
    first = generator.choice(DISHES)
    weathers = generator.choices(WEATHERS, k=generator.randint(*days))
    return " ".join([first, *weathers]), " ".join(by_rain(first, weathers))


def cook(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Weeks of the third rule; those of validation and test are longer than any that was trained on."""
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
