import random
from collections import Counter

import pytest

from atento.data.builtin import numbers
from atento.data.builtin.numbers import LANGUAGES, draw_numbers, number_pairs
from atento.errors import InputError

SIZES = (701, 53, 31)


def test_first_pairs_of_the_default_set_stay_the_same():
    assert number_pairs().train[:2] == (
        ("sechsundachtzigtausendfünfhundertdreiundsechzig", "eighty-six thousand five hundred sixty-three"),
        (
            "vierhundertachtunddreißigtausendfünfhundertzweiundfünfzig",
            "four hundred thirty-eight thousand five hundred fifty-two",
        ),
    )


@pytest.mark.parametrize("sizes", [SIZES, (0, 0, 0), (0, 3, 0), (20_000, 2_000, 2_000)])
def test_parts_have_the_sizes_asked_for_and_share_no_number(sizes):
    pairs = number_pairs(sizes=sizes)
    parts = (pairs.train, pairs.valid, pairs.test)

    assert tuple(len(part) for part in parts) == sizes
    assert len({source for part in parts for source, _ in part}) == sum(sizes)


def test_both_sides_of_a_pair_are_the_same_number():
    pairs = number_pairs("es", "eu", sizes=SIZES, seed=3)
    drawn = draw_numbers(sum(SIZES), random.Random(3))

    expected = tuple((LANGUAGES["es"](number), LANGUAGES["eu"](number)) for number in drawn)

    assert pairs.train + pairs.valid + pairs.test == expected


def test_the_seed_alone_chooses_the_numbers():
    forth, back = number_pairs("de", "eu", sizes=SIZES), number_pairs("eu", "de", sizes=SIZES)

    for part in ("train", "valid", "test"):
        assert getattr(forth, part) == tuple((german, basque) for basque, german in getattr(back, part))
    assert number_pairs(sizes=SIZES, seed=1) != number_pairs(sizes=SIZES, seed=2)


def test_every_length_has_an_equal_share_until_it_runs_out():
    lengths = Counter(len(str(number)) for number in draw_numbers(24_000, random.Random(0)))

    assert lengths == {1: 10, 2: 90, 3: 900, 4: 7666, 5: 7667, 6: 7667}


def test_every_part_has_the_same_mixture_of_lengths():
    drawn = draw_numbers(24_000, random.Random(0))

    for part in (drawn[:20_000], drawn[20_000:22_000], drawn[22_000:]):
        lengths = Counter(len(str(number)) for number in part)
        assert all(abs(lengths[digits] / len(part) - 0.32) < 0.03 for digits in (4, 5, 6))


def test_all_numbers_can_be_drawn(monkeypatch):
    monkeypatch.setattr(numbers, "MOST_DIGITS", 4)  # the whole million would take two seconds
    assert sorted(draw_numbers(10_000, random.Random(0))) == list(range(10_000))


@pytest.mark.parametrize("sizes", [(1_000_000, 0, 1), (-1, 5, 5)])
def test_impossible_sizes_are_refused(sizes):
    with pytest.raises(InputError, match=f"found: {sizes[0]}"):
        number_pairs(sizes=sizes)


@pytest.mark.parametrize("languages", [("dee", "en"), ("en", "dee")])
def test_an_unknown_language_is_refused(languages):
    with pytest.raises(InputError, match=r"no language 'dee'(.|\n)*did you mean 'de'"):
        number_pairs(*languages)
