"""Cells to numbers by the dialect of the whole column: read right and said, or refused with both readings."""

import numpy as np
import pytest

from atento.data.numbers.cells import split_number
from atento.data.numbers.dialects import is_number
from atento.data.numbers.reading import Around, read_numbers, suggest_fix, tell_decided

CELLS = ["1", " 2.5 ", "-3e-4", "+.5", "007", "1e400"]
NAN = float("nan")
SEMICOLONS, TABS, JSON = Around(delimiter=";"), Around(delimiter="\t"), Around(delimiter="")


def test_numbers_are_as_python_reads_them():
    found = read_numbers(CELLS)
    np.testing.assert_array_equal(found.values, [float(cell) for cell in CELLS])
    assert not found.invalid.any() and not found.empty.any() and not found.decided
    mixed = read_numbers([*CELLS, "x", ""])
    np.testing.assert_array_equal(mixed.values[: len(CELLS)], found.values)
    assert mixed.invalid.tolist() == [False] * len(CELLS) + [True, False]
    assert mixed.empty.tolist() == [False] * len(CELLS) + [False, True]


MARKS = "NA,NaN,null,None,?,-,–,--,.,..,…,*,n/d,s/d,k.A.,n.a.,#N/A,#NULL!,#DIV/0!,#VALUE!,#¡VALOR!,#NV,\\N,(null),:"


@pytest.mark.parametrize("cell", ["", " ", *MARKS.split(","), "unavailable"])
def test_what_stands_for_nothing_is_empty(cell):
    found = read_numbers(["1.5", cell])
    assert found.empty.tolist() == [False, True]
    assert np.isnan(found.values[1])


@pytest.mark.parametrize(
    "cell",
    ["1_000", "12kW", "0x1F", "1,5,6", "--3", "one", "1.2.3", "½", "<0.5", "12:30", "5-7", "A5", "2019-01-02", "-(3)"],
)
def test_what_is_no_number_is_wrong(cell):
    found = read_numbers(["1.5", "2.5", "3.5", "4.5", "6.5", "7.5", cell])
    assert found.invalid.tolist() == [False] * 6 + [True]


@pytest.mark.parametrize(
    "cells, around, values, says",
    [
        # decimal commas, and what separates thousands beside them
        (["1,5", "-0,25", "3", "NA", "1,5e3"], Around(), [1.5, -0.25, 3, NAN, 1500], "decimals are written with"),
        (["0,125", "1,250"], Around(), [0.125, 1.25], "commas in 'y': 0,125 is 0.125"),
        (["12.336,60", "n/d", "963,10"], SEMICOLONS, [12336.6, NAN, 963.1], "12.336,60 is 12336.6"),
        (["1\u202f234,5", "963"], SEMICOLONS, [1234.5, 963], "spaces separate thousands"),
        (["1\u00a0234", "12\u00a0000"], SEMICOLONS, [1234, 12000], "spaces separate thousands"),
        (["1 024", "963", "12 000"], TABS, [1024, 963, 12000], "1 024 is 1024"),
        (["1'234.50", "2’000.00"], Around(), [1234.5, 2000], "apostrophes separate thousands"),
        (["1.234.567", "2.000"], SEMICOLONS, [1234567, 2000], "points separate thousands"),
        (["1,234,567", "2,000"], SEMICOLONS, [1234567, 2000], "commas separate thousands"),
        (["1,23,456", "12,34,567"], Around(), [123456, 1234567], "1,23,456 is 123456"),
        (["$1,234.50", "$2,000.00"], Around(), [1234.5, 2000], "commas separate thousands"),
        # three digits behind every separator: numbers below 1000 without one tell, then other columns, then semicolons
        (["1.438", "963", "1.016"], SEMICOLONS, [1438, 963, 1016], "points separate thousands in 'y': 1.438 is 1438"),
        (["1.438", "963", "1.016"], Around(), [1438, 963, 1016], "1.438 is 1438"),
        (["1,234", "950", "12,000"], Around(), [1234, 950, 12000], "1,234 is 1234"),
        (["1,234", "950", "12,000"], SEMICOLONS, [1234, 950, 12000], "1,234 is 1234"),
        (["1.125", "2", "3"], Around(), [1.125, 2, 3], "if it is 1125, pass --set data.decimal=comma"),
        (["1.062", "990"], JSON, [1.062, 990], ""),
        (["10,123", "9,500"], Around(elsewhere=","), [10.123, 9.5], "decimals are written with commas"),
        (["10.123", "9.500"], Around(elsewhere=",", delimiter=";"), [10123, 9500], "points separate thousands"),
        (["10,123", "9,500"], SEMICOLONS, [10.123, 9.5], "if it is 10123, pass --set data.decimal=point"),
        (["15.010", "14.222"], Around(), [15.01, 14.222], "if it is 15010, pass --set data.decimal=comma"),
        (["15.010", "14.222"], Around(asked=",", delimiter=";"), [15010, 14222], "15.010 is 15010"),
        (["15.010", "14.222"], Around(asked=".", delimiter=";"), [15.01, 14.222], ""),
        (["15.0", "14.22"], Around(asked=",", delimiter=";"), [15, 14.22], ""),  # the key settles only what is open
        # money: yen have no decimals, dollars have decimal points
        (["\\266,951", "\\250,000"], Around(), [266951, 250000], "commas separate thousands"),
        (["$4,200", "$3,150"], Around(), [4200, 3150], "commas separate thousands"),
        # signs
        (["(1,234.50)", "($3.00)", "$2.00", "$1", "$1", "$1"], Around(), [-1234.5, -3, 2, 1, 1, 1], "brackets are neg"),
        (["12.50-", "−3.5", "–4", "+1"], Around(), [-12.5, -3.5, -4, 1], ""),
        (["-R$ 1.234,50", "R$ -3,00"], SEMICOLONS, [-1234.5, -3], "the sign R$ of 'y' is left out"),
        (["١٢٫٥", "１２．５"], Around(), [12.5, 12.5], ""),
        (['="123.5"', "'7"], Around(), [123.5, 7], ""),
        # units
        (["$10.5", "$ 3", "", "$1.25"], Around(), [10.5, 3, NAN, 1.25], "the sign $ of 'y' is left out"),
        (["10,5 €", "-3,25 €", "7 €"], Around(), [10.5, -3.25, 7], "the sign € of 'y' is left out"),
        (["CHF 1’234.50", "CHF 3.00"], SEMICOLONS, [1234.5, 3], "the sign CHF of 'y' is left out"),
        (["1\u00a0234,50 zł", "3,00 zł"], SEMICOLONS, [1234.5, 3], "the sign zł of 'y' is left out"),
        (["4%", "1e1%", ".5 %", "3%", "0"], Around(), [4, 10, 0.5, 3, 0], "the sign % of 'y' is left out: 4% is 4"),
        (["-1.5 °C", "20 °C"], Around(), [-1.5, 20], "the sign °C of 'y' is left out"),
        (["5 kW", "6 kW"], Around(), [5, 6], "the sign kW of 'y' is left out"),
        (["4.2K", "1.1M", "900"], Around(), [4200, 1.1e6, 900], "4.2K is 4200"),
        (["12.3 p", "12.1", "11 e"], Around(), [12.3, 12.1, 11], "letters behind numbers are left out"),
        (["5", "Closed", "6", "Closed", "7"], Around(), [5, NAN, 6, NAN, 7], "'Closed' stands for a missing number"),
    ],
)  # fmt: skip
def test_a_dialect_is_read_and_said(cells, around, values, says):
    found = read_numbers(cells, around)
    np.testing.assert_allclose(found.values, values, rtol=1e-15)
    assert found.is_numeric and found.doubt is None and not found.invalid.any()
    assert says in "; ".join(tell_decided([("y", found)])) and (says or not found.decided)


@pytest.mark.parametrize(
    "cells, around, words",
    [
        (["15.010", "14.222"], SEMICOLONS, ["15010", "15.01", "data.decimal=comma for 15010", "data.decimal=point"]),
        (
            ["1.125", "2", "3"],
            SEMICOLONS,
            ["1125", "1.125"],
        ),  # nearer to 2 as a decimal, likelier thousands by the file
        (["15.010 €", "14.222 €"], SEMICOLONS, ["15010", "15.01"]),
        (["15.010", "0"], SEMICOLONS, ["15010", "15.01"]),
        (["1,250", "2,500"], Around(), ["1250", "1.25", "data.decimal=point for 1250"]),
        (["1,234", "1999"], Around(), ["1234"]),  # who separates thousands does so everywhere
        (["1.234", "1,234"], SEMICOLONS, ["1.234 and 1,234"]),
        (["1,5", "1.5", "2,5", "2.5"], Around(), ["1.5 and 1,5"]),
        (["$5", "€6", "$7"], Around(), ["$ and €"]),
    ],
)
def test_what_fits_two_readings_is_in_doubt(cells, around, words):
    found = read_numbers(cells, around)
    assert found.is_numeric and found.doubt is not None
    assert all(word in f"{found.doubt.found} {found.doubt.fix}" for word in words)


def test_a_bare_number_among_percents_is_wrong():
    found = read_numbers(["19.8%"] * 9 + ["0.198"])
    assert found.invalid.tolist() == [False] * 9 + [True]
    assert "other numbers of its column" in suggest_fix("0.198")


@pytest.mark.parametrize("cells", [["120 130", "110 140"], ["A5", "A6"], ["5 pm", "6 kW"]])
def test_other_columns_are_not_numbers(cells):
    assert not read_numbers(cells).is_numeric


@pytest.mark.parametrize(
    "cell, number",
    [("12,5", "12.5"), ("1,250.5", "1250.5"), ("13 kW", "13"), ("€4.2", "4.2"), ("(1,234.50)", "-1234.5"),
     ("−5.0", "-5"), ("123.45-", "-123.45"), ("1 234,50", "1234.5"), ("1'234.50", "1234.5"),
     ("1.234.567,89", "1234567.89"), ("12.336,60", "12336.6"), ("1,23,456", "123456")],
)  # fmt: skip
def test_how_to_mend_a_cell(cell, number):
    assert suggest_fix(cell) == f"write the number alone: {number}"


@pytest.mark.parametrize("cell", ["1.234", "1,234", "2019-01-02", "5-7", "12:30", "10k", "<0.5", "high"])
def test_no_number_is_proposed_that_may_be_wrong(cell):
    assert not any(map(str.isdigit, suggest_fix(cell)))


def test_what_a_column_is():
    assert read_numbers(["1", "2", "3", "4", "x"]).is_numeric
    assert not read_numbers(["1", "2", "x", "y"]).is_numeric
    assert not read_numbers(["", "NA"]).is_numeric
    assert read_numbers(["1", "2.0", ""]).is_whole
    assert not read_numbers(["1", "2.5"]).is_whole


@pytest.mark.parametrize(
    "cell, expected", [("1.234,50 €", True), ("CHF 3", True), ("5 stars", False), ("120 130", False)]
)
def test_a_number_in_any_dialect(cell, expected):
    assert is_number(cell) is expected


def test_a_cell_of_hundreds_of_blanks_is_no_number():
    assert split_number("1" + " " * 5 + "kg") is not None
    assert split_number("1" + " " * 300 + "kg") is None
