"""A series cut into parts keeps its place, its times and what is known to the end."""

import numpy as np
import pytest

from atento.data import Series
from atento.data.series import Frequency, Past

ROWS, AHEAD = 29, 5
VALUES = np.arange(2.0 * ROWS).reshape(ROWS, 2)
KNOWN = np.arange(ROWS + AHEAD, dtype=float)[:, None]
HOURS = (np.datetime64("2021-03-04T22") + np.arange(ROWS + AHEAD)).astype("datetime64[us]")


def test_a_part_is_a_view_that_knows_where_it_was():
    whole = Series("a", VALUES, KNOWN, HOURS)
    part = whole.cut(7, 13).cut(2, 4)
    np.testing.assert_array_equal(part.values, VALUES[9:11])
    np.testing.assert_array_equal(part.future_covariates, KNOWN[9:])
    np.testing.assert_array_equal(part.times, HOURS[9:])
    assert part.start == 9
    assert part.values.base is VALUES.base
    assert part.timestamp(0) == whole.timestamp(9)


@pytest.mark.parametrize(
    "time, said",
    [
        ("2021-03-04", "2021-03-04"),
        ("2021-03-04T05", "2021-03-04 05:00"),
        ("2021-03-04T05:06:07", "2021-03-04 05:06:07"),
        ("2021-03-04T00:00:00.25", "2021-03-04 00:00:00.25"),
        ("1749-01", "1749-01-01"),
    ],
)
def test_times_in_words(time, said):
    series = Series("", VALUES[:1], KNOWN[:1], np.array([time], dtype="datetime64[us]"))
    assert series.timestamp(0) == said
    assert Series("", VALUES, KNOWN, start=3).timestamp(4) == "row 7"


def test_what_a_past_and_a_step_say():
    assert str(Past("a", "2021-03-04", VALUES, KNOWN)) == "a until 2021-03-04"
    assert str(Past("", "row 7", VALUES, KNOWN)) == "until row 7"
    assert [str(Frequency(15, "min")), str(Frequency(1, ""))] == ["15min", "1 row"]
