import itertools

import pytest

from cases import all_pairs, asked_of, in_case, law_over

SIZES = (5, 3, 4, 2)


def pairs_of(cases):
    return {pair for case in cases for pair in itertools.combinations(enumerate(case), 2)}


def test_every_two_values_meet_in_few_cases():
    factors = [range(size) for size in SIZES]
    cases = all_pairs(*factors)
    assert pairs_of(cases) == pairs_of(itertools.product(*factors))
    assert 5 * 4 <= len(cases) <= 1.2 * 5 * 4  # the two largest factors need as many
    assert all_pairs(*factors) == cases


def test_two_factors_are_their_product():
    assert sorted(all_pairs("abc", [1, 2])) == list(itertools.product("abc", [1, 2]))


def test_what_is_not_allowed_is_left_out_and_the_rest_still_meets():
    def allowed(first, second, third):
        return first != second or third == 0

    cases = all_pairs(range(3), range(4), range(3), allowed=allowed)
    assert all(allowed(*case) for case in cases)
    possible = [case for case in itertools.product(range(3), range(4), range(3)) if allowed(*case)]
    assert pairs_of(cases) == pairs_of(possible)


def test_a_failure_names_its_case():
    with pytest.raises(AssertionError) as caught, in_case("dot", 3):
        raise AssertionError("unequal")
    assert caught.value.__notes__ == ["in the case dot, 3"]


def test_a_law_is_a_test_for_each_group():
    met = []

    @asked_of({"even": [2, 4], "odd": [3]})
    def law(case):
        met.append(case)
        assert case < 4

    assert (law.__name__, [mark.args for mark in law.pytestmark]) == ("law", [("group", {"even": [2, 4], "odd": [3]})])
    law("odd")
    with pytest.raises(AssertionError) as caught:
        law("even")
    assert met == [3, 2, 4] and caught.value.__notes__ == ["in the case 4"]


@pytest.fixture
def met():
    return []


@law_over(letter="abc", number=[1, 2, 3], sign=[True, False])
def test_a_law_over_factors_meets_all_pairs_of_one_value_and_its_fixtures(met, letter, number, sign):
    met.append((letter, number, sign))
    assert len(set(met)) == len(met) and {one[0] for one in met} == {letter}


def test_a_law_over_factors_is_a_test_for_each_value_of_the_first():
    met = []

    @law_over(letter="abc", number=[1, 2, 3], sign=[True, False])
    def law(letter, number, sign):
        met.append((letter, number, sign))

    for letter in law.pytestmark[0].args[1]:
        law(letter)
    assert met == sorted(all_pairs("abc", [1, 2, 3], [True, False]), key=lambda case: case[0])
