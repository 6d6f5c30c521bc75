"""Times in every usual form, against Python's own calendar; what is no time is said to be none."""

from datetime import datetime, timedelta, timezone

import numpy as np
import pytest

from atento.data.series.timestamps import MONTHS, NO_ZONE, are_timestamps, parse_timestamps

COUNT = 211
MOMENTS = [datetime(1952, 2, 28, 23, 7, 9) + timedelta(days=97 * at, minutes=1013 * at) for at in range(COUNT)]
FORMS = {
    "%Y-%m-%d %H:%M:%S": "s",
    "%Y-%m-%dT%H:%M:%S": "s",
    "%Y/%m/%d %H:%M": "m",
    "%Y%m%dT%H%M%S": "s",
    "%Y-%m-%d": "D",
    "%Y.%m.%d": "D",
    "%d.%m.%Y %H:%M": "m",
    "%d-%b-%Y": "D",
    "%d %B %Y": "D",
    "%B %d, %Y": "D",
    "%Y-%m": "M",
    "%b %Y": "M",
    "%Y %B": "M",
    "%m/%Y": "M",
    "%Y-%m-%d %I:%M %p": "m",
    "%G-W%V-%u": "D",
    "%GW%V": "W",
    "W%V %G": "W",
    "Week %V, %G": "W",
    "%G KW %V": "W",
    "%d%b%Y": "D",
    "%d%b%Y:%H:%M:%S": "s",
    "%d/%b/%Y:%H:%M:%S": "s",
    "%a, %d %b %Y": "D",
    "%A, %B %d, %Y": "D",
    "%a %b %d %H:%M:%S %Y": "s",
    "%Y年%m月%d日": "D",
    "%Y. %m. %d.": "D",
    "%m.%Y": "M",
    "%Y-%m-%d %I %p": "h",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_time_that_python_wrote(form):
    found = parse_timestamps([moment.strftime(form) for moment in MOMENTS])
    exact = np.array(MOMENTS, dtype="datetime64[us]")
    if FORMS[form] == "W":
        monday = [moment.date() - timedelta(days=moment.weekday()) for moment in MOMENTS]
        exact = np.array(monday, dtype="datetime64[us]")
    else:
        exact = exact.astype(f"datetime64[{FORMS[form]}]").astype("datetime64[us]")
    assert found.valid.all()
    np.testing.assert_array_equal(found.day_first.astype("datetime64[us]"), exact)
    assert (found.offset == NO_ZONE).all()


@pytest.mark.parametrize("form", ["%d/%m/%Y", "%d-%m-%y", "%d/%m/%Y %H:%M:%S"])
def test_days_and_months_are_read_both_ways(form):
    since = [moment for moment in MOMENTS if moment.year >= 1970]
    found = parse_timestamps([moment.strftime(form) for moment in since])
    other = parse_timestamps(
        [moment.strftime(form.replace("%d", "%x").replace("%m", "%d").replace("%x", "%m")) for moment in since]
    )
    assert found.ambiguous.all()
    np.testing.assert_array_equal(found.day_first, other.month_first)
    days = np.array(since, dtype="datetime64[D]")
    np.testing.assert_array_equal(found.day_first.astype("datetime64[us]").astype("datetime64[D]"), days)
    assert (found.month_first_valid == [moment.day <= 12 for moment in since]).all()
    assert found.two_digit_years == ("%y" in form)


@pytest.mark.parametrize("minutes", [0, 120, -330, 845])
def test_zones(minutes):
    zone = timezone(timedelta(minutes=minutes))
    written = [moment.replace(tzinfo=zone).isoformat() for moment in MOMENTS]
    found = parse_timestamps(written)
    assert (found.offset == minutes).all()
    instants = [int(moment.replace(tzinfo=zone).timestamp()) for moment in MOMENTS]
    np.testing.assert_array_equal(found.day_first // 10**6 - 60 * found.offset, instants)
    assert (parse_timestamps([moment.isoformat() + "Z" for moment in MOMENTS]).offset == 0).all()


def test_fractions_quarters_and_midnight_at_the_end_of_a_day():
    found = parse_timestamps(
        ["2020-01-01 00:00:00.5", "2020-01-01T00:00:00,000123999", "2020Q3", "Q4 2020", "2020-03-31 24:00"]
    )
    expected = ["2020-01-01T00:00:00.5", "2020-01-01T00:00:00.000123", "2020-07-01", "2020-10-01", "2020-04-01"]
    np.testing.assert_array_equal(found.day_first.astype("datetime64[us]"), np.array(expected, dtype="datetime64[us]"))


@pytest.mark.parametrize(
    "cell, day",
    [
        ("1T2020", "2020-01-01"), ("3Q2020", "2020-07-01"), ("T2 2020", "2020-04-01"), ("FY19", "2019-01-01"),
        ("8. März 2021", "2021-03-08"), ("8 de marzo de 2021", "2021-03-08"), ("1er mars 2021", "2021-03-01"),
        ("March 8th, 2021", "2021-03-08"), ("lunes, 8 de marzo de 2021", "2021-03-08"), ("01JAN20", "2020-01-01"),
        ("ene. 2020", "2020-01-01"), ("marzo de 2021", "2021-03-01"), ("2021-03-08/2021-03-14", "2021-03-08"),
        ("Mar 8, 2021", "2021-03-08"), ("2021-03-08 00:00+01:00[Europe/Berlin]", "2021-03-08"),
        ("2021年3月", "2021-03-01"), ("2021-03-08 00:00 CET", "2021-03-08"),
    ],
)  # fmt: skip
def test_forms_of_other_languages_and_programs(cell, day):
    found = parse_timestamps([cell])
    assert found.valid.all() and found.day_first[0].astype("datetime64[us]") == np.datetime64(day)


@pytest.mark.parametrize(
    "cell",
    [
        *[
            "",
            "x",
            "Foo 8 2021",
            "5Q2020",
            "01FOO2020",
            "10.1234",
            "Week 60 2021",
            "2020-13-01",
            "2021-02-29",
            "2020-00-10",
            "2020-01-01 25:00",
            "2020-01-01 10:61",
            "12",
            "12.5",
        ],
        *["2020-01-01 24:01", "2020Q5", "2019-W53", "2020-W00", "32 Jan 2020", "Foo 2020", "2020-01-01 13:00 PM"],
        "x" * 90_000,
    ],
)
def test_what_is_no_time(cell):
    found = parse_timestamps(["2020-01-01", cell])
    assert found.valid.tolist() == [True, False]
    assert not are_timestamps([cell], 0.5)


def test_many_forms_in_one_column_each_by_itself():
    cells = ["2020-01-02", "3 Feb 2020", "no", "2020-03-04 05:06", "2020Q2", "maybe", "20200405T060708"]
    found = parse_timestamps(cells)
    alone = [parse_timestamps([cell]) for cell in cells]
    assert found.valid.tolist() == [one.valid[0] for one in alone]
    np.testing.assert_array_equal(found.day_first[found.valid], [one.day_first[0] for one in alone if one.valid[0]])


def test_names_of_months():
    assert [MONTHS[name] for name in ("january", "ene", "märz", "août", "dic", "giugno")] == [1, 1, 3, 8, 12, 6]
    assert "jui" not in MONTHS or not MONTHS["jui"]  # juin and juillet both begin so
