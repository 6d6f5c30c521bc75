"""Seasons: what repeats in the numbers, against the distance of rows; correlations by the formula."""

import numpy as np
import pytest
from scipy.signal import lfilter

from atento.data import Series
from atento.data.series import Frequency
from atento.data.series.seasons import autocorrelation, calendar_season, find_season

ROWS = 1201
TIME = np.arange(ROWS)


def one(values: np.ndarray) -> tuple[Series, ...]:
    return (Series("", values[:, None], np.zeros((len(values), 0))),)


def noise(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=ROWS)


@pytest.mark.parametrize(
    "step, season",
    [
        *[((1, "h"), 24), ((15, "min"), 96), ((30, "min"), 48), ((1, "d"), 7), ((7, "d"), 52), ((1, "mo"), 12)],
        *[((3, "mo"), 4), ((1, "y"), 1), ((1, "wd"), 5), ((10, "s"), 6), ((1, ""), 1), ((5, "h"), 1), ((12, "h"), 2)],
    ],
)
def test_what_the_distance_suggests(step, season):
    assert calendar_season(Frequency(*step)) == season


def test_correlation_is_that_of_the_formula():
    values = noise(0).cumsum()[:211] + 0.3 * np.arange(211)
    line = np.polynomial.Polynomial.fit(np.arange(211), values, 1)(np.arange(211))
    rest = values - line
    found = autocorrelation(values)
    for lag in (0, 1, 2, 7, 31, 70):
        exact = (rest[lag:] * rest[: 211 - lag]).mean() / np.square(rest).mean()
        assert found[lag] == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize(
    "period, step, season",
    [(24, (1, "h"), 24), (7, (1, "d"), 7), (12, (1, "mo"), 12), (132, (1, "mo"), 132), (37, (1, ""), 37)],
)
def test_a_season_is_found(period, step, season):
    values = 3 * np.sin(2 * np.pi * TIME / period) + 0.5 * noise(1) + 0.02 * TIME
    found, why = find_season(one(values), Frequency(*step))
    assert found == pytest.approx(season, abs=0.03 * season)
    assert str(found) in why


def test_a_slow_wave_is_no_year():
    """Neighbours are alike at a lag of 12, yet nothing repeats there: the wave of 132 does."""
    rough = lfilter([1], [1, -0.97], noise(3))
    values = np.sqrt(2) * np.sin(2 * np.pi * TIME / 132) + rough / rough.std()
    assert find_season(one(values), Frequency(1, "mo"))[0] == pytest.approx(132, abs=12)


def test_where_nothing_repeats():
    assert find_season(one(noise(4)), Frequency(1, ""))[0] == 1
    assert (
        find_season(one(noise(5)), Frequency(1, "h"))
        == (
            24,
            "a season has 24 rows, by their frequency; they repeat little (correlation 0.00)",
        )
        or find_season(one(noise(5)), Frequency(1, "h"))[0] == 24
    )
    assert find_season(one(noise(6)[:3]), Frequency(1, "mo"))[0] == 12


def test_the_end_of_a_series_is_not_looked_at():
    """What may be held out must not choose the season."""
    values = np.concatenate([noise(7)[:900], np.sin(2 * np.pi * np.arange(301) / 13) * 50])
    assert find_season(one(values[:ROWS]), Frequency(1, ""))[0] == 1


def test_a_wide_peak_near_a_year_is_a_year():
    days, chance = np.arange(3000), np.random.default_rng(3)
    weather = lfilter([1], [1, -0.9], chance.normal(size=3000))
    for shift in range(4):  # the ragged top of the peak lies anywhere near 365
        year = 3 * np.cos(2 * np.pi * days / 365) + np.roll(weather, 97 * shift)
        season, why = find_season(one(year), Frequency(1, "d"))
        assert season == 365 and "repeat" in why
    other, _ = find_season(one(9 * np.cos(2 * np.pi * days / 300) + weather), Frequency(1, "d"))
    assert abs(other - 300) < 20  # what is far from a year stays
