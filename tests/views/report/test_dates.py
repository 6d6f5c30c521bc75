"""Time axes: round dates, few enough to be read, written as the span of the axis asks."""

import numpy as np
import pytest

from atento.views.report.dates import date_ticks, milliseconds
from atento.views.report.scales import Axis


@pytest.mark.parametrize(
    "first, last, labels",
    [
        ("1949-03-01", "1960-12-01", ["1950", "1952", "1954", "1956", "1958", "1960"]),
        ("2019-11-15", "2020-08-01", ["Dec 2019", "2020", "Feb 2020", "Mar 2020", "Apr 2020", "May 2020", "Jun 2020"]),
        ("2024-02-26", "2024-03-04", ["26 Feb", "27 Feb", "28 Feb", "29 Feb", "1 Mar", "2 Mar", "3 Mar", "4 Mar"]),
        ("2024-02-28T18:00", "2024-02-29T06:00", ["18:00", "21:00", "29 Feb", "03:00", "06:00"]),
        ("1700-01-01", "2000-01-01", ["1700", "1750", "1800", "1850", "1900", "1950", "2000"]),
    ],
)
def test_ticks_are_round_dates(first, last, labels):
    low, high = milliseconds([first, last])
    found = date_ticks(Axis(low, high, 0.0, 800.0), 9)
    assert list(found.values())[: len(labels)] == labels and len(found) <= 10
    assert all(low <= tick <= high for tick in found)


def test_milliseconds_are_those_of_numpy():
    times = ["1949-01-01", "2024-02-29T12:30:15"]
    wanted = [np.datetime64(time, "ms").astype(np.int64) for time in times]
    assert milliseconds(times) == wanted
