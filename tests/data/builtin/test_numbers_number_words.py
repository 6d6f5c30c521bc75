import copy
import random

import pytest
from num2words import CONVERTER_CLASSES

from atento.data.builtin.numbers import LANGUAGES
from atento.errors import InputError

GERMAN = {
    0: "null",
    1: "eins",
    16: "sechzehn",
    17: "siebzehn",
    21: "einundzwanzig",
    30: "dreißig",
    100: "einhundert",
    101: "einhunderteins",
    1000: "eintausend",
    1001: "eintausendeins",
    21_000: "einundzwanzigtausend",
    101_000: "einhunderteintausend",
    101_101: "einhunderteintausendeinhunderteins",
    743_221: "siebenhundertdreiundvierzigtausendzweihunderteinundzwanzig",
}
ENGLISH = {
    0: "zero",
    14: "fourteen",
    40: "forty",
    100: "one hundred",
    101: "one hundred one",
    1000: "one thousand",
    1001: "one thousand one",
    743_221: "seven hundred forty-three thousand two hundred twenty-one",
}
SPANISH = {
    0: "cero",
    1: "uno",
    16: "dieciséis",
    21: "veintiuno",
    22: "veintidós",
    23: "veintitrés",
    26: "veintiséis",
    31: "treinta y uno",
    100: "cien",
    101: "ciento uno",
    500: "quinientos",
    1000: "mil",
    1001: "mil uno",
    2000: "dos mil",
    21_000: "veintiún mil",
    31_000: "treinta y un mil",
    100_000: "cien mil",
    101_000: "ciento un mil",
    121_021: "ciento veintiún mil veintiuno",
    743_221: "setecientos cuarenta y tres mil doscientos veintiuno",
}
BASQUE = {
    0: "zero",
    11: "hamaika",
    18: "hemezortzi",
    19: "hemeretzi",
    20: "hogei",
    21: "hogeita bat",
    30: "hogeita hamar",
    35: "hogeita hamabost",
    59: "berrogeita hemeretzi",
    60: "hirurogei",
    90: "laurogeita hamar",
    100: "ehun",
    101: "ehun eta bat",
    234: "berrehun eta hogeita hamalau",
    567: "bostehun eta hirurogeita zazpi",
    600: "seiehun",
    1000: "mila",
    1001: "mila eta bat",
    1100: "mila eta ehun",
    1120: "mila ehun eta hogei",
    1200: "mila eta berrehun",
    1201: "mila berrehun eta bat",
    2022: "bi mila eta hogeita bi",
    2345: "bi mila hirurehun eta berrogeita bost",
    13_425: "hamahiru mila laurehun eta hogeita bost",
    47_689: "berrogeita zazpi mila seiehun eta laurogeita bederatzi",
    100_000: "ehun mila",
    221_000: "berrehun eta hogeita bat mila",
    457_908: "laurehun eta berrogeita hamazazpi mila bederatziehun eta zortzi",
}
BY_HAND = {"de": GERMAN, "en": ENGLISH, "es": SPANISH, "eu": BASQUE}

# What num2words 0.5.14 writes, and what we write instead; it knows no Basque.
DIFFERENCES = {
    "de": [("einstausend", "eintausend")],  # a mistake in 101 000, 201 000 ...: "eins" only ends a number (Duden)
    "en": [(" and", ""), (",", "")],  # a convention: British there, American here
    "es": [  # a mistake in 21 000, 31 000, 101 000 ...: "uno" is cut before "mil" (Real Academia Española)
        ("veintiuno mil", "veintiún mil"),
        (" uno mil", " un mil"),
    ],
}


@pytest.mark.parametrize("code", BY_HAND)
def test_words_written_by_hand(code):
    assert {number: LANGUAGES[code](number) for number in BY_HAND[code]} == BY_HAND[code]


@pytest.mark.parametrize("code", DIFFERENCES)
def test_words_agree_with_num2words(code):
    other = copy.copy(CONVERTER_CLASSES[code])
    # It tries every name it knows, up to 10**600, for every number: ten times slower than without them.
    other.cards = type(other.cards)((size, name) for size, name in other.cards.items() if size <= 10**6)
    numbers = [*range(10_000), *random.Random(0).sample(range(10_000, 1_000_000), 20_000)]

    for number in numbers:
        expected = other.to_cardinal(number)
        for theirs, ours in DIFFERENCES[code]:
            expected = expected.replace(theirs, ours)
        assert LANGUAGES[code](number) == expected


@pytest.mark.parametrize("code", LANGUAGES)
def test_no_two_numbers_share_their_words(code):
    numbers = {*range(10_000), *range(0, 1_000_000, 7)}  # 7 and 1000 share no factor: every ending appears
    assert len({LANGUAGES[code](number) for number in numbers}) == len(numbers)


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_number_out_of_range_is_refused(code):
    for number in (-1, 1_000_000):
        with pytest.raises(InputError, match=f"found: {number}"):
            LANGUAGES[code](number)
