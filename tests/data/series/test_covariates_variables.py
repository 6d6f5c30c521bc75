"""Tables melted by variable: channels where all have the same times, series of their own where not."""

import numpy as np
import pytest
from tests.data.series.series_files import DAYS, DRIFT, ROWS, WAVE, table

from atento.data.series import read_series
from atento.errors import InputError
from atento.spec import DataRecipe


def read(folder, text, **keys):
    (folder / "m.csv").write_text(text)
    return read_series(DataRecipe(**keys), str(folder / "m.csv"))


def melted(first, second, names=("temp", "wind"), *, site=""):
    rows = [(site, day, names[0], value) for day, value in first] + [
        (site, day, names[1], value) for day, value in second
    ]
    return [row if site else row[1:] for row in rows]


def test_variables_of_the_same_times_are_channels(tmp_path):
    rows = melted(zip(DAYS, WAVE, strict=True), zip(DAYS, DRIFT, strict=True))
    found = read(tmp_path, table("date,variable,value", *zip(*rows, strict=True)))
    assert found.channels == ("temp", "wind")
    np.testing.assert_array_equal(found.series[0].values, np.stack([WAVE, DRIFT], axis=1))


def test_variables_of_several_sites(tmp_path):
    rows = [
        row
        for number, site in enumerate("pq")
        for row in melted(zip(DAYS, WAVE + number, strict=True), zip(DAYS, DRIFT - number, strict=True), site=site)
    ]
    found = read(tmp_path, table("site,date,parameter,value", *zip(*rows, strict=True)))
    assert [one.name for one in found.series] == ["p", "q"]
    np.testing.assert_array_equal(found.series[1].values, np.stack([WAVE + 1, DRIFT - 1], axis=1))


def test_variables_of_other_times_are_series(tmp_path):
    rows = melted(zip(DAYS, WAVE, strict=True), list(zip(DAYS, DRIFT, strict=True))[9:])
    found = read(tmp_path, table("date,variable,value", *zip(*rows, strict=True)))
    assert [(one.name, len(one)) for one in found.series] == [("temp", ROWS), ("wind", ROWS - 9)]
    assert found.channels == ("value",)
    assert any("different times" in note for note in found.notes)


def test_a_variable_that_lacks_a_row_is_named_there(tmp_path):
    rows = melted(zip(DAYS, WAVE, strict=True), zip(DAYS, DRIFT, strict=True))
    del rows[ROWS + 10]
    with pytest.raises(InputError, match=rf"m\.csv:{ROWS + 12}:1: 1 row is missing"):
        read(tmp_path, table("date,variable,value", *zip(*rows, strict=True)))
