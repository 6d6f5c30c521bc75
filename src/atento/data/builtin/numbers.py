"""Pairs of number words in two languages, 0 to 999 999 in German, English, Spanish and Basque: a set for translation.

Every language reads a number as thousands and a rest, both under 1000, so each has one function for such a group.
"""

import random
from collections.abc import Callable
from functools import cache

from atento.data.builtin.builtin import BuiltinParts, refuse_keys
from atento.errors import InputError, unknown_name
from atento.spec import DataRecipe

LARGEST = 999_999
MOST_DIGITS = len(str(LARGEST))
MOST_DRAWN = 500_000
LANGUAGE_NAMES = {"de": "German", "en": "English", "es": "Spanish", "eu": "Basque"}
THOUSAND = {"de": "tausend", "en": "thousand", "es": "mil", "eu": "mila"}


def join_groups(number: int, group: Callable[[int], str], thousands: Callable[[int], str], between: str = " ") -> str:
    """The words of a number: its thousands and the group after them; a number out of range is refused."""
    if not 0 <= number <= LARGEST:
        raise InputError(
            "there are no words for this number.", found=str(number), fix=f"use a whole number from 0 to {LARGEST}"
        )
    first, rest = divmod(number, 1000)
    if not first:
        return group(rest)
    return f"{thousands(first)}{between}{group(rest)}" if rest else thousands(first)


# German: one word, the unit before the ten; "ein" inside the word, "eins" at its end.

GERMAN_SMALL = (
    "null", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun",
    "zehn", "elf", "zwölf", "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn",
)  # fmt: skip
GERMAN_TENS = ("", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig")


@cache
def german_group(number: int) -> str:
    """The German words of a number under 1000, as they stand inside a longer word."""
    hundreds, rest = divmod(number, 100)
    if hundreds:
        return f"{GERMAN_SMALL[hundreds]}hundert{german_group(rest) if rest else ''}"
    if rest < 20:
        return GERMAN_SMALL[rest]
    tens, units = divmod(rest, 10)
    return f"{GERMAN_SMALL[units]}und{GERMAN_TENS[tens]}" if units else GERMAN_TENS[tens]


def german(number: int) -> str:
    """21 -> einundzwanzig, 1001 -> eintausendeins."""
    words = join_groups(number, german_group, lambda count: f"{german_group(count)}tausend", "")
    return f"{words}s" if number % 100 == 1 else words


# English: American, without "and"; a hyphen in 21 to 99.

ENGLISH_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
ENGLISH_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


@cache
def english_group(number: int) -> str:
    """The English words of a number under 1000."""
    hundreds, rest = divmod(number, 100)
    if hundreds:
        return f"{ENGLISH_SMALL[hundreds]} hundred{' ' + english_group(rest) if rest else ''}"
    if rest < 20:
        return ENGLISH_SMALL[rest]
    tens, units = divmod(rest, 10)
    return f"{ENGLISH_TENS[tens]}-{ENGLISH_SMALL[units]}" if units else ENGLISH_TENS[tens]


def english(number: int) -> str:
    """21 -> twenty-one, 1001 -> one thousand one."""
    return join_groups(number, english_group, lambda count: f"{english_group(count)} thousand")


# Spanish: one word up to 29, then "y"; "uno" loses its o before "mil".

SPANISH_SMALL = (
    "cero", "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve",
    "diez", "once", "doce", "trece", "catorce", "quince", "dieciséis", "diecisiete", "dieciocho", "diecinueve",
    "veinte", "veintiuno", "veintidós", "veintitrés", "veinticuatro", "veinticinco", "veintiséis", "veintisiete",
    "veintiocho", "veintinueve",
)  # fmt: skip
SPANISH_TENS = ("", "", "", "treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa")
SPANISH_HUNDREDS = (
    "", "ciento", "doscientos", "trescientos", "cuatrocientos", "quinientos", "seiscientos", "setecientos",
    "ochocientos", "novecientos",
)  # fmt: skip


@cache
def spanish_group(number: int) -> str:
    """The Spanish words of a number under 1000."""
    if number == 100:
        return "cien"
    hundreds, rest = divmod(number, 100)
    if hundreds:
        return f"{SPANISH_HUNDREDS[hundreds]}{' ' + spanish_group(rest) if rest else ''}"
    if rest < 30:
        return SPANISH_SMALL[rest]
    tens, units = divmod(rest, 10)
    return f"{SPANISH_TENS[tens]} y {SPANISH_SMALL[units]}" if units else SPANISH_TENS[tens]


@cache
def spanish_thousands(thousands: int) -> str:
    """The Spanish words of whole thousands: mil, dos mil, veintiún mil, treinta y un mil."""
    if thousands == 1:
        return "mil"
    words = spanish_group(thousands)
    if words.endswith("veintiuno"):
        return f"{words.removesuffix('uno')}ún mil"
    if words.endswith("uno"):
        return f"{words.removesuffix('o')} mil"
    return f"{words} mil"


def spanish(number: int) -> str:
    """21 -> veintiuno, 1001 -> mil uno."""
    return join_groups(number, spanish_group, spanish_thousands)


# Basque: counts in twenties; "eta" joins the last part only: mila eta ehun, mila ehun eta bat (Euskaltzaindia, rule 7).

BASQUE_SMALL = (
    "zero", "bat", "bi", "hiru", "lau", "bost", "sei", "zazpi", "zortzi", "bederatzi",
    "hamar", "hamaika", "hamabi", "hamahiru", "hamalau", "hamabost", "hamasei", "hamazazpi", "hemezortzi", "hemeretzi",
)  # fmt: skip
BASQUE_TWENTIES = ("", "hogei", "berrogei", "hirurogei", "laurogei")
BASQUE_HUNDREDS = (
    "", "ehun", "berrehun", "hirurehun", "laurehun", "bostehun", "seiehun", "zazpiehun", "zortziehun", "bederatziehun",
)  # fmt: skip


@cache
def basque_group(number: int) -> str:
    """The Basque words of a number under 1000."""
    hundreds, rest = divmod(number, 100)
    if hundreds:
        return f"{BASQUE_HUNDREDS[hundreds]}{' eta ' + basque_group(rest) if rest else ''}"
    twenties, units = divmod(rest, 20)
    if not twenties:
        return BASQUE_SMALL[units]
    return f"{BASQUE_TWENTIES[twenties]}ta {BASQUE_SMALL[units]}" if units else BASQUE_TWENTIES[twenties]


def basque(number: int) -> str:
    """21 -> hogeita bat, 1001 -> mila eta bat, 1101 -> mila ehun eta bat."""
    rest = number % 1000
    between = " " if rest > 100 and rest % 100 else " eta "  # in the first case the rest has its own eta
    return join_groups(
        number, basque_group, lambda count: "mila" if count == 1 else f"{basque_group(count)} mila", between
    )


LANGUAGES: dict[str, Callable[[int], str]] = {"de": german, "en": english, "es": spanish, "eu": basque}


def numbers(recipe: DataRecipe, seed: int) -> BuiltinParts:
    """Number words in the languages data.source and data.target; no number is in two parts."""
    refuse_keys(recipe, "length")
    source, target = languages_of(recipe)
    parts = number_pairs(source, target, seed=seed)
    return parts.with_note(
        f"number words, {LANGUAGE_NAMES[source]} to {LANGUAGE_NAMES[target]}, 0 to 999 999: {parts.counts()}; no "
        "number is in two parts; training holds equally many rows of each number of digits, and all numbers whose "
        "words are not composed: 0 to 29 and the tens"
    )


def languages_of(recipe: DataRecipe) -> tuple[str, str]:
    """The languages that data.source and data.target name."""
    return recipe.source or "de", recipe.target or "en"


def number_pairs(
    source: str = "de", target: str = "en", *, sizes: tuple[int, int, int] = (20_000, 2_000, 2_000), seed: int = 0
) -> BuiltinParts:
    """Numbers written in two languages, in three parts; a seed gives the same numbers for all languages."""
    for key, code in (("data.source", source), ("data.target", target)):
        if code not in LANGUAGES:
            raise unknown_name("language", code, LANGUAGES, where=key)
    if min(sizes) < 0 or sum(sizes) > MOST_DRAWN:
        raise InputError(
            "the parts cannot have these sizes.",
            found=", ".join(map(str, sizes)),
            fix=f"use sizes of 0 or more that sum to at most {MOST_DRAWN}",
        )
    source_words, target_words = LANGUAGES[source], LANGUAGES[target]
    drawn = draw_numbers(sizes, random.Random(seed))
    train, valid, test = (tuple((source_words(one), target_words(one)) for one in part) for part in drawn)
    return BuiltinParts(train, valid, test)


def draw_numbers(sizes: tuple[int, int, int], generator: random.Random) -> tuple[list[int], list[int], list[int]]:
    """The numbers of the three parts, in random order. Validation and test hold different numbers, all of composed
    words; training holds equally many rows of each number of digits, where short numbers repeat.
    """
    train, valid, test = sizes
    groups = [range(10 ** (digits - 1) if digits > 1 else 0, 10**digits) for digits in range(1, MOST_DIGITS + 1)]
    apart: list[int] = []  # for validation and test
    for place, group in enumerate(groups):
        share = (valid + test - len(apart)) // (len(groups) - place)  # longer numbers make up for too few short ones
        composed = [number for number in group if number >= 30 and (number > 99 or number % 10)]
        most = len(composed) // 4 if len(group) < 1000 else len(composed)  # most of the short ones are trained on
        apart += generator.sample(composed, min(share, most))
    generator.shuffle(apart)
    known = set(apart)
    learned: list[int] = []
    for place, group in enumerate(groups):
        share = (train - len(learned)) // (len(groups) - place)
        left = [number for number in group if number not in known]
        rounds, rest = divmod(share, len(left))
        learned += left * rounds + generator.sample(left, rest)
    generator.shuffle(learned)
    return learned, apart[:valid], apart[valid:]


def count_digits(words: str, recipe: DataRecipe) -> int:
    """How many digits the number has that these source words name: 5 of zwölftausenddrei; 0 where they name none."""
    language = languages_of(recipe)[0]
    thousands, separator, _ = words.partition(THOUSAND[language])
    known = groups_of(language)
    return known.get(thousands + separator if separator else words, 0)


@cache
def groups_of(language: str) -> dict[str, int]:
    """The digits of all numbers under 1000, and of all whole thousands, by their words."""
    write = LANGUAGES[language]
    numbers = (*range(1000), *range(1000, LARGEST, 1000))
    return {write(number): len(str(number)) for number in numbers}
