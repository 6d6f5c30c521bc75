"""Distances of rows and walks along them, against pandas."""

import numpy as np
import pandas as pd
import pytest

from atento.data.series import Frequency
from atento.data.series.frequency import (
    date_range,
    frequency_text,
    infer_frequency,
    infer_spacing,
    near_frequency,
    parse_frequency,
    time_steps,
)
from atento.errors import InputError

COUNT = 61
FREQUENCIES = {
    "250ms": Frequency(250, "ms"),
    "30s": Frequency(30, "s"),
    "15min": Frequency(15, "min"),
    "h": Frequency(1, "h"),
    "6h": Frequency(6, "h"),
    "D": Frequency(1, "d"),
    "W": Frequency(7, "d"),
    "B": Frequency(1, "wd"),
    "MS": Frequency(1, "mo"),
    "ME": Frequency(1, "mo"),
    "QS": Frequency(3, "mo"),
    "QE": Frequency(3, "mo"),
    "YS": Frequency(1, "y"),
    "YE": Frequency(1, "y"),
    "2YS": Frequency(2, "y"),
}


def dates(frequency: str, start: str = "2019-01-31 06:00", count: int = COUNT) -> np.ndarray:
    return pd.date_range(start, periods=count, freq=frequency).to_numpy().astype("datetime64[us]")


@pytest.mark.parametrize("frequency", FREQUENCIES)
def test_the_step_of_a_range_is_found_and_walked(frequency):
    times = dates(frequency)
    whole, code = times.astype(np.int64), np.zeros(COUNT, np.int64)
    step = infer_frequency(whole, code)
    assert step == FREQUENCIES[frequency]
    np.testing.assert_array_equal(date_range(times[0], step, COUNT), times)
    at, fits = time_steps(whole, np.full(COUNT, whole[0]), step)
    assert fits.all()
    np.testing.assert_array_equal(at, np.arange(COUNT))
    np.testing.assert_array_equal(date_range(times[49], step, COUNT - 49), times[49:])
    np.testing.assert_array_equal(date_range(times[49], step, 30, begin=-20), times[29:59])
    kept = np.delete(np.arange(COUNT), [3, 4, 5, 17, 40])  # gaps change neither the step nor the places
    whole = times[kept].astype(np.int64)
    assert infer_frequency(whole, np.zeros(len(kept), np.int64)) == step
    at, fits = time_steps(whole, np.full(len(kept), whole[0]), step)
    np.testing.assert_array_equal(at, kept)
    assert fits.all()


def test_the_step_is_that_of_each_series():
    times = np.concatenate([dates("h", count=7), dates("h", start="2020-05-05", count=11), dates("h", count=3)])
    code = np.repeat([0, 1, 2], [7, 11, 3])
    assert infer_frequency(times.astype(np.int64), code) == Frequency(1, "h")
    assert infer_frequency(times[[0, 7, 18]].astype(np.int64), np.arange(3)) is None


def test_a_time_between_two_steps_does_not_fit():
    times = dates("h").astype(np.int64)
    times[9] += 1
    _, fits = time_steps(times, np.full(COUNT, times[0]), Frequency(1, "h"))
    assert np.flatnonzero(~fits).tolist() == [9]
    month = dates("MS").astype(np.int64)
    month[9] += 86_400_000_000
    assert np.flatnonzero(~time_steps(month, np.full(COUNT, month[0]), Frequency(1, "mo"))[1]).tolist() == [9]


@pytest.mark.parametrize("distance", [1, 5, 0.02, 1 / 3])
def test_numbers_that_count(distance):
    counted = np.round(3 + distance * np.arange(COUNT), 4)
    assert infer_spacing(counted, np.zeros(COUNT, np.int64)) == pytest.approx(distance, rel=1e-2)
    chance = np.sort(np.random.default_rng(1).exponential(size=COUNT).cumsum())
    assert infer_spacing(chance, np.zeros(COUNT, np.int64)) == 0


@pytest.mark.parametrize(
    "text, step",
    [
        *[("15min", (15, "min")), ("h", (1, "h")), ("1H", (1, "h")), ("week", (7, "d")), ("2w", (14, "d"))],
        *[("1mo", (1, "mo")), ("quarter", (3, "mo")), ("years", (1, "y")), ("10 minutes", (10, "min"))],
        *[("500ms", (500, "ms")), ("3 days", (3, "d")), ("MS", (1, "mo")), ("M", (1, "mo")), ("B", (1, "wd"))],
    ],
)
def test_a_frequency_in_words(text, step):
    assert parse_frequency(text) == Frequency(*step)


@pytest.mark.parametrize("text", ["", "often", "0h", "h1", "-1d", "1 fortnight"])
def test_what_is_no_frequency(text):
    with pytest.raises(InputError, match=r"data\.frequency"):
        parse_frequency(text)


def test_in_words():
    assert [frequency_text(Frequency(*step)) for step in ((7, "d"), (3, "mo"), (15, "min"))] == [
        "a week",
        "a quarter",
        "15min",
    ]


@pytest.mark.parametrize(("seconds", "text"), [(28, "30s"), (290, "5min"), (3000, "1h"), (80_000, "1d"), (0.2, "1s")])
def test_the_usual_frequency_nearest_to_a_step(seconds, text):
    assert near_frequency(seconds * 1e6) == text
