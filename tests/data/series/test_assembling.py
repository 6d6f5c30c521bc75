"""A long table is read in time that grows with its rows, and its numbers are views of one array."""

from pathlib import Path

import numpy as np
import pytest

from atento.data.series import read_series
from atento.errors import InputError
from atento.spec import DataRecipe

SERIES, ROWS = 300, 50


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    chance = np.random.default_rng(0)
    values = chance.normal(size=(SERIES, ROWS)).cumsum(1).round(3)
    days = np.datetime64("2020-01-01") + np.arange(ROWS)
    lines = [f"s{one},{day},{value}" for one in range(SERIES) for day, value in zip(days, values[one], strict=True)]
    place = tmp_path_factory.mktemp("long") / "long.csv"
    place.write_text("\n".join(["unique_id,ds,y", *lines]) + "\n")
    return str(place), values


def test_many_series_share_one_array(path):
    file, values = path
    found = read_series(DataRecipe(), file)
    np.testing.assert_array_equal(np.stack([one.values[:, 0] for one in found.series]), values)
    assert "300 series of 50 rows, " in " ".join(found.notes)  # not of 50 to 50
    owners = {id(one.values.base) for one in found.series}
    assert len(owners) == 1
    assert found.series[7].cut(3, 40).values.base is found.series[7].values.base


def test_shuffled_rows_come_out_the_same_once_sorted(path, tmp_path):
    file, values = path
    header, *lines = Path(file).read_text(encoding="utf-8").splitlines()
    np.random.default_rng(1).shuffle(lines)
    place = tmp_path / "shuffled.csv"
    place.write_text("\n".join([header, *lines]) + "\n")
    found = read_series(DataRecipe(order="sort"), str(place))
    by_name = {one.name: one.values[:, 0] for one in found.series}
    np.testing.assert_array_equal(np.stack([by_name[f"s{at}"] for at in range(SERIES)]), values)


@pytest.mark.parametrize("power", ["e+300", "e+38"])
def test_numbers_whose_squares_overflow_are_refused(power, tmp_path):
    rows = [f"2020-01-{day:02},{day % 7}.5{power}" for day in range(1, 29)]
    (tmp_path / "huge.csv").write_text("date,y\n" + "\n".join(rows) + "\n")
    with pytest.raises(InputError, match="the numbers of 'y' are too large to compute with") as caught:
        read_series(DataRecipe(), str(tmp_path / "huge.csv"))
    assert caught.value.fix.endswith(f"divided by 1{power}")
