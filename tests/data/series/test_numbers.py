"""Cells to numbers: exactly as Python reads them, and never a number where there is none."""

import numpy as np
import pytest

from atento.data.series.numbers import read_numbers, suggest_fix

CELLS = ["1", " 2.5 ", "-3e-4", "+.5", "007", "1e400"]


def test_numbers_are_as_python_reads_them():
    found = read_numbers(CELLS)
    np.testing.assert_array_equal(found.values, [float(cell) for cell in CELLS])
    assert not found.invalid.any()
    assert not found.empty.any()
    mixed = read_numbers([*CELLS, "x", ""])
    np.testing.assert_array_equal(mixed.values[: len(CELLS)], found.values)
    assert mixed.invalid.tolist() == [False] * len(CELLS) + [True, False]
    assert mixed.empty.tolist() == [False] * len(CELLS) + [False, True]


@pytest.mark.parametrize("cell", ["", "NA", " NaN ", "null", "None", "?", "-", "#N/A"])
def test_what_stands_for_nothing_is_empty(cell):
    found = read_numbers(["1", cell])
    assert found.empty.tolist() == [False, True]
    assert np.isnan(found.values[1])


@pytest.mark.parametrize("cell", ["1_000", "12kW", "0x1F", "1,5,6", "--3", "one", "1.2.3", "½"])
def test_what_is_no_number_is_wrong(cell):
    found = read_numbers(["1.5", cell])
    assert found.invalid.tolist() == [False, True]


def test_decimal_commas_of_a_whole_column():
    found = read_numbers(["1,5", "-0,25", "3", "NA", "1,5e3"])
    assert found.decimal_commas
    np.testing.assert_array_equal(found.values, [1.5, -0.25, 3, np.nan, 1500])
    assert read_numbers(["0,125", "1,250"]).values.tolist() == [0.125, 1.25]
    thousands = read_numbers(["1,250", "2,500"])  # could be either: said, not guessed
    assert thousands.invalid.all()
    assert read_numbers(["1.5", "12,5"]).invalid.tolist() == [False, True]


@pytest.mark.parametrize(
    "cell, word",
    [("12,5", "12.5"), ("1,250.5", "1250.5"), ("13 kW", "13"), ("€4.2", "4.2"), ("high", "write a number there")],
)
def test_how_to_mend_a_cell(cell, word):
    assert word in suggest_fix(cell)


def test_what_a_column_is():
    assert read_numbers(["1", "2", "3", "4", "x"]).is_numeric
    assert not read_numbers(["1", "2", "x", "y"]).is_numeric
    assert not read_numbers(["", "NA"]).is_numeric
    assert read_numbers(["1", "2.0", ""]).is_whole
    assert not read_numbers(["1", "2.5"]).is_whole


def test_three_digits_behind_a_comma_are_decimals_where_commas_are_elsewhere():
    cells = ["10,123", "9,500", "12,001"]
    assert not read_numbers(cells).is_numeric  # 10123 or 10.123: nothing tells
    np.testing.assert_array_equal(read_numbers(cells, commas=True).values, [10.123, 9.5, 12.001])
    assert read_numbers(["1,234,567", "2,000"], commas=True).thousands_separators  # no number has two decimal commas


@pytest.mark.parametrize(
    "cells, values, sign",
    [
        (["$10.5", "$ 3", "", "$1.25"], [10.5, 3, np.nan, 1.25], "$"),
        (["10,5 €", "-3,25 €", "7 €"], [10.5, -3.25, 7], "€"),
        (["4%", "1e1%", ".5 %"], [4, 10, 0.5], "%"),
        (["-1.5 °C", "20 °C"], [-1.5, 20], "°C"),
    ],
)
def test_a_sign_beside_every_number_is_left_out(cells, values, sign):
    found = read_numbers(cells)
    np.testing.assert_array_equal(found.values, values)
    assert found.unit == sign and not found.invalid.any()


@pytest.mark.parametrize("cells", [["$5", "€6"], ["5%", "6", "7", "8", "9"], ["A5", "A6"], ["5 kW", "6 kW"]])
def test_other_signs_are_not(cells):
    assert read_numbers(cells).unit == "" and read_numbers(cells).invalid.any()


def test_commas_part_thousands_where_that_is_clear():
    assert read_numbers(["1,234", "950", "12,000"]).values.tolist() == [1234, 950, 12000]
    assert read_numbers(["1,234,567", "2,000"]).values.tolist() == [1234567, 2000]
    assert read_numbers(["$1,234.50", "$2,000.00"]).values.tolist() == [1234.5, 2000]
    assert read_numbers(["1,234", "1999"]).invalid.tolist() == [True, False]  # who parts thousands does so everywhere
