"""Gaps are filled as pandas fills them, each series by itself; nothing else changes."""

import numpy as np
import pandas as pd
import pytest

from atento.data.series import read_series
from atento.data.series.cleaning import forward_fill, interpolate
from atento.spec import DataRecipe

ROWS = 97
DAYS = np.datetime64("2021-01-01") + np.arange(ROWS)


@pytest.fixture
def broken() -> np.ndarray:
    chance = np.random.default_rng(11)
    values = chance.normal(size=ROWS).cumsum()
    values[chance.random(ROWS) < 0.3] = np.nan
    values[[0, 1]] = np.nan
    return values


def test_as_pandas_fills(broken):
    frame = pd.Series(broken)
    np.testing.assert_allclose(interpolate(broken), frame.interpolate(limit_direction="both"), atol=1e-12)
    np.testing.assert_array_equal(forward_fill(broken), frame.ffill().bfill())


@pytest.mark.parametrize("way", ["linear", "previous"])
def test_rows_and_cells_of_two_series(broken, way, tmp_path):
    """Some rows are missing, some cells empty; the series take turns in the file."""
    values = {"a": broken, "b": broken[::-1] + 5}
    values["b"][-1], values["a"][-1] = 3.0, 4.0  # an empty end would be times to come
    dropped = {"a": {5, 6, 40}, "b": {1, 2, 60}}
    lines = [
        f"{day},{name},{'' if np.isnan(series[at]) else repr(float(series[at]))}"
        for at, day in enumerate(DAYS)
        for name, series in values.items()
        if at not in dropped[name]
    ]
    path = tmp_path / "two.csv"
    path.write_text("\n".join(["ds,name,y", *lines]) + "\n")
    found = read_series(DataRecipe(gaps=way), str(path))
    for one in found.series:
        frame = pd.Series(values[one.name].copy())
        frame[list(dropped[one.name])] = np.nan
        exact = frame.interpolate(limit_direction="both") if way == "linear" else frame.ffill().bfill()
        np.testing.assert_allclose(one.values[:, 0], exact, atol=1e-12)
        np.testing.assert_array_equal(one.times, DAYS.astype("datetime64[us]"))
    assert f"6 missing rows added and filled (data.gaps={way})" in found.notes
