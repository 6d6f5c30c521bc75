import random
from collections import Counter

import pytest

from atento.data.builtin.numbers import LANGUAGES, count_digits, draw_numbers, number_pairs
from atento.errors import InputError
from atento.spec import DataRecipe

SIZES = (701, 53, 31)


def digits_of(part):
    return Counter(len(str(number)) for number in part)


def test_first_pairs_of_the_default_set_stay_the_same():
    assert number_pairs().train[:2] == (
        ("vierhundertachtzehntausendachtundfünfzig", "four hundred eighteen thousand fifty-eight"),
        ("fünfzehntausenddreizehn", "fifteen thousand thirteen"),
    )


@pytest.mark.parametrize("sizes", [SIZES, (0, 0, 0), (0, 3, 0), (20_000, 2_000, 2_000)])
def test_parts_have_the_sizes_asked_for_and_share_no_number(sizes):
    pairs = number_pairs(sizes=sizes)
    parts = (pairs.train, pairs.valid, pairs.test)
    numbers = [{source for source, _ in part} for part in parts]

    assert tuple(len(part) for part in parts) == sizes
    assert len(set.union(*numbers)) == sum(map(len, numbers))
    assert (len(numbers[1]), len(numbers[2])) == sizes[1:], "a number is tested once"


def test_both_sides_of_a_pair_are_the_same_number():
    pairs = number_pairs("es", "eu", sizes=SIZES, seed=3)
    drawn = draw_numbers(SIZES, random.Random(3))

    for part, numbers in zip(pairs, drawn, strict=False):
        assert part == tuple((LANGUAGES["es"](number), LANGUAGES["eu"](number)) for number in numbers)


def test_the_seed_alone_chooses_the_numbers():
    forth, back = number_pairs("de", "eu", sizes=SIZES), number_pairs("eu", "de", sizes=SIZES)

    for part in ("train", "valid", "test"):
        assert getattr(forth, part) == tuple((german, basque) for basque, german in getattr(back, part))
    assert number_pairs(sizes=SIZES, seed=1) != number_pairs(sizes=SIZES, seed=2)


@pytest.mark.parametrize("seed", [0, 1])
def test_training_holds_every_number_of_digits_alike_and_every_word_that_is_not_composed(seed):
    train, valid, test = draw_numbers((20_000, 2_000, 2_000), random.Random(seed))

    assert set(digits_of(train)) == {1, 2, 3, 4, 5, 6}
    assert all(abs(count - 20_000 / 6) < 1 for count in digits_of(train).values())
    assert {*range(30), *range(30, 100, 10)} <= set(train)
    for part in (valid, test):
        assert set(digits_of(part)) == {2, 3, 4, 5, 6}


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_tell_how_many_digits_their_number_has(language):
    recipe = DataRecipe(source=language)
    for number in (0, 7, 12, 21, 100, 101, 999, 1000, 1001, 1100, 12_003, 21_000, 101_000, 999_999):
        assert count_digits(LANGUAGES[language](number), recipe) == len(str(number))
    assert count_digits("a film", recipe) == 0


@pytest.mark.parametrize("sizes", [(1_000_000, 0, 1), (-1, 5, 5)])
def test_impossible_sizes_are_refused(sizes):
    with pytest.raises(InputError, match=f"found: {sizes[0]}"):
        number_pairs(sizes=sizes)


@pytest.mark.parametrize("languages", [("dee", "en"), ("en", "dee")])
def test_an_unknown_language_is_refused(languages):
    with pytest.raises(InputError, match=r"no language 'dee'(.|\n)*did you mean 'de'"):
        number_pairs(*languages)
