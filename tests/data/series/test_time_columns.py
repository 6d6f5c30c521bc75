"""Columns of times: day or month first by the whole column, zones, and numbers that are times."""

import numpy as np
import pytest

from atento.data.numbers.reading import read_numbers
from atento.data.series import Frequency
from atento.data.series.time_columns import in_repeated_hour, timestamps_from_numbers, timestamps_from_text

DAYS = np.datetime64("2021-01-25") + np.arange(40)


def stamps(cells, *, to_utc=False):
    return timestamps_from_text([str(cell) for cell in cells], to_utc=to_utc)


def numbers(values, name):
    return timestamps_from_numbers(read_numbers([str(value) for value in values]), name)


@pytest.mark.parametrize("form, said", [("{2}/{1}/{0}", "the day"), ("{1}/{2}/{0}", "the month")])
def test_day_or_month_by_all_of_the_column(form, said):
    found = stamps(form.format(*str(day).split("-")) for day in DAYS)
    np.testing.assert_array_equal(found.values.astype("datetime64[us]"), DAYS.astype("datetime64[us]"))
    assert found.notes == (f"dates begin with {said}, by all of the column",)


@pytest.mark.parametrize("form", ["{1:02}/{0:02}/{2}", "{0:02}/{1:02}/{2}"])
def test_where_both_can_be_the_even_one_is_taken(form):
    """The first of every month, or the months' number of January days that jump once a year."""
    found = stamps(form.format(at % 12 + 1, 1, 2000 + at // 12) for at in range(30))
    months = found.values.astype("datetime64[us]").astype("datetime64[M]")
    np.testing.assert_array_equal(months, np.datetime64("2000-01") + np.arange(30))
    assert not found.ambiguous


def test_where_both_are_even_nothing_is_taken():
    assert stamps(f"{day:02}/02/2001" for day in range(1, 13)).ambiguous  # days of February, or a day of each month


def test_a_bad_cell_does_not_change_the_reading_of_the_others():
    cells = [f"{int(str(day)[8:])}/{int(str(day)[5:7])}/2021" for day in DAYS]
    found = stamps([*cells, "77/1/2021", "x"])
    assert found.valid.tolist() == [True] * 40 + [False] * 2
    np.testing.assert_array_equal(found.values[:40].astype("datetime64[us]"), DAYS.astype("datetime64[us]"))


@pytest.mark.parametrize("count", [24, 40])  # of March alone: 21 March of 24 years is as regular
def test_a_year_of_two_digits_may_come_first(count):
    found = stamps(str(day).replace("-", "/")[2:] for day in np.datetime64("2021-03-08") + np.arange(count))
    assert found.values[0].astype("datetime64[us]") == np.datetime64("2021-03-08")
    assert found.notes[0] == "dates begin with the year, by all of the column"
    day_first = stamps(
        "/".join(reversed(str(day)[2:].split("-"))) for day in np.datetime64("2021-01-01") + np.arange(365)
    )
    assert day_first.notes[0] == "dates begin with the day, by all of the column"


def test_zones():
    east = stamps(f"{day} 05:00+02:00" for day in DAYS)
    np.testing.assert_array_equal(east.values.astype("datetime64[us]"), DAYS + np.timedelta64(3, "h"))
    assert east.notes == ("times at +02:00 are converted to UTC",)
    several = [f"{day} 05:00{'+02:00' if at < 7 else 'Z'}" for at, day in enumerate(DAYS)]
    assert stamps(several).other_zone_row == 7
    hours = np.where(np.arange(40) < 7, 3, 5).astype("timedelta64[h]")
    np.testing.assert_array_equal(stamps(several, to_utc=True).values.astype("datetime64[us]"), DAYS + hours)


@pytest.mark.parametrize("unit, factor", [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
def test_numbers_since_1970(unit, factor):
    seconds = DAYS.astype("datetime64[s]").astype(np.int64)
    found = numbers(seconds * factor, "timestamp")
    assert found.calendar
    np.testing.assert_array_equal(found.values.astype("datetime64[us]"), DAYS.astype("datetime64[us]"))
    assert not numbers(seconds * factor, "volume").calendar


def test_years_months_and_dates_without_signs():
    assert numbers(range(1800, 1840), "Año").values[0].astype("datetime64[us]") == np.datetime64("1800-01-01")
    assert not numbers(range(1800, 1840), "step").calendar
    months = numbers([199011, 199012, 199101], "month")
    np.testing.assert_array_equal(
        months.values.astype("datetime64[us]").astype("datetime64[M]").astype(str), ["1990-11", "1990-12", "1991-01"]
    )
    assert not numbers([199011, 199055, 199101], "month").calendar
    dates = numbers([str(day).replace("-", "") for day in DAYS], "anything")
    np.testing.assert_array_equal(dates.values.astype("datetime64[us]"), DAYS.astype("datetime64[us]"))
    assert numbers([0.0, 0.5, 1.0], "t").values.tolist() == [0, 0.5, 1]


@pytest.mark.parametrize(
    "values, name, first, said",
    [
        ([44263, 44264, 44265], "Date", "2021-03-08", "44263 is 2021-03-08"),
        ([44263, 44263 + 1 / 24, 44263 + 2 / 24], "Fecha", "2021-03-08", "as a spreadsheet writes dates"),
        ([738223, 738224], "date", "2021-03-08", "MATLAB"),
        ([2021365, 2022001], "day", "2021-12-31", "yyyyddd"),
    ],
)
def test_numbers_of_days_are_dates_and_that_is_said(values, name, first, said):
    found = numbers(values, name)
    assert found.calendar and found.values[0].astype("datetime64[us]") == np.datetime64(first)
    assert said in found.notes[0]
    assert not numbers(values, "y").calendar
    assert set(np.diff(found.values).tolist()) <= {3_600_000_000, 86_400_000_000}


def test_when_clocks_are_set_back():
    found = stamps(["2021-10-31 02:00", "2021-10-31 05:00", "2021-10-30 02:00", "2021-07-04 02:00"])
    assert [in_repeated_hour(found, row, Frequency(1, "h")) for row in range(4)] == [True, False, False, False]
    assert not in_repeated_hour(found, 0, Frequency(1, "d"))
