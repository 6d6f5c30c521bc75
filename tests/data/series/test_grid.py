"""Rows without times: by their place in the file, a refused row leaving a hole; by numbers that count."""

import numpy as np
import pytest
from tests.data.series.series_files import DRIFT, ROWS, WAVE, table

from atento.data.series import read_series
from atento.errors import InputError
from atento.spec import DataRecipe

half = ROWS // 2


def read(folder, text, **keys):
    (folder / "c.csv").write_text(text)
    return read_series(DataRecipe(**keys), str(folder / "c.csv"))


def test_series_that_take_turns(tmp_path):
    found = read(tmp_path, table("who,x", ["p", "q"] * half, WAVE), series="who")
    np.testing.assert_array_equal(found.series[0].values[:, 0], WAVE[::2])
    np.testing.assert_array_equal(found.series[1].values[:, 0], WAVE[1::2])


def test_series_in_blocks_with_a_hole(tmp_path):
    lines = table("who,x", ["p"] * half + ["q"] * half, WAVE).splitlines()
    lines[half + 5] = "q,1,2"
    found = read(tmp_path, "\n".join(lines) + "\n", bad_rows="skip", gaps="previous")
    assert [len(one) for one in found.series] == [half, half]
    assert found.series[1].values[4, 0] == WAVE[half + 3]
    np.testing.assert_array_equal(found.series[1].values[5:, 0], WAVE[half + 5 :])


def test_several_rows_that_are_refused_one_after_another(tmp_path):
    lines = table("x,y", WAVE, DRIFT).splitlines()
    lines[4:7] = ["1", "2", "3"]
    with pytest.raises(InputError, match=r"c\.csv:8:1: 3 rows are missing"):
        read(tmp_path, "\n".join(lines) + "\n", bad_rows="skip")


@pytest.mark.parametrize("distance", [1, 10, 0.05])
def test_numbers_that_count_show_gaps_and_twins(distance, tmp_path):
    counts = [f"{100 + distance * at:.2f}" for at in range(ROWS)]
    whole = table("t,x", counts, WAVE)
    assert len(read(tmp_path, whole).series[0]) == ROWS
    lines = whole.splitlines()
    with pytest.raises(InputError, match=r"c\.csv:21:1: 2 rows are missing"):
        read(tmp_path, "\n".join([*lines[:20], *lines[22:]]) + "\n")
    with pytest.raises(InputError, match=r"c\.csv:22:1: an earlier row has the same timestamp"):
        read(tmp_path, "\n".join([*lines[:21], lines[20], *lines[21:]]) + "\n")
    shifted = [*counts[:30], f"{float(counts[30]) + 0.5 * distance:.3f}", *counts[31:]]
    with pytest.raises(InputError, match=r"c\.csv:32:1: this time is not at a time step"):
        read(tmp_path, table("t,x", shifted, WAVE))


def test_times_at_no_equal_distances(tmp_path):
    chance = np.random.default_rng(4).exponential(size=ROWS).cumsum()
    with pytest.raises(InputError, match="not at equal time steps") as caught:
        read(tmp_path, table("when,x", (np.datetime64("2020-01-01T00:00:00") + (5000 * chance).astype(int)), WAVE))
    assert "data.frequency" in caught.value.fix


def test_uneven_times_at_the_frequency_that_is_asked_for(tmp_path):
    """Each step has the mean of its rows, or the value before; what is unavailable is none."""
    clock = ["00:01:11", "00:06:03", "00:09:59", "00:21:40", "00:26:00"]
    stamps = [f"2024-01-31T{time}" for time in clock]
    found = read(tmp_path, table("when,x", stamps, ["1", "2", "4", "unavailable", "7"]), frequency="5min")
    assert found.series[0].values[:, 0].tolist() == [1, 3, 3, 3, 3, 7]
    assert found.series[0].times[1] == np.datetime64("2024-01-31T00:05") and "uneven" in "; ".join(found.notes)
