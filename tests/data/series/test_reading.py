"""Every usual table of series is read as it is meant; what is wrong is named at its place, and mended as asked."""

import re

import numpy as np
import pytest
from tests.data.series.series_files import DAYS, DRIFT, HOURS, ROWS, SHAPES, WAVE, table

from atento.data.series import read_series
from atento.errors import InputError
from atento.spec import DataRecipe


def read(folder, text, name="file.csv", **keys):
    (folder / name).write_text(text, encoding="utf-8")
    return read_series(DataRecipe(**keys), str(folder / name))


def refused(folder, text, **keys) -> InputError:
    with pytest.raises(InputError) as caught:
        read(folder, text, **keys)
    return caught.value


def without(text: str, *lines: int) -> str:
    """A text that lacks some lines, counted from 1."""
    return "".join(line + "\n" for at, line in enumerate(text.splitlines(), start=1) if at not in lines)


def with_line(text: str, line: int, new: str) -> str:
    lines = text.splitlines()
    lines[line - 1] = new
    return "\n".join(lines) + "\n"


DAILY = table("date,v", DAYS, WAVE)
WIDE = table("date,v,w", DAYS, WAVE, DRIFT)


@pytest.mark.spec("K08")
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_every_shape_is_read_whole(shape, tmp_path):
    """With no option, and again with the keys that were found."""
    path = shape.write(tmp_path)
    found = read_series(DataRecipe(), path)
    assert found.channels == shape.channels
    assert tuple(one.name for one in found.series) == shape.names
    assert str(found.frequency) == shape.step
    for one, values in zip(found.series, shape.values, strict=True):
        np.testing.assert_array_equal(one.values, values)
        assert one.future_covariates.shape == (len(values), 0)
        assert (one.times is None) == (not shape.first)
        if one.times is not None:
            assert one.times[0] == np.datetime64(shape.first)
            assert len(one.times) == len(values)
            assert (np.diff(one.times.astype(np.int64)) > 0).all()
    assert found.refused == ()
    if shape.name != "melted.csv":  # whose channels are cells, not columns
        again = read_series(DataRecipe(**dict(found.keys)), path)
        assert (again.channels, again.keys, again.frequency) == (found.channels, found.keys, found.frequency)
        for one, other in zip(found.series, again.series, strict=True):
            np.testing.assert_array_equal(one.values, other.values)


def test_columns_that_are_named_go_before_guesses(tmp_path):
    text = table("a,b,c,d", DAYS, WAVE, DRIFT, HOURS)
    found = read(tmp_path, text, time="d", target="c")
    assert (str(found.frequency), found.channels) == ("1h", ("c",))
    assert any("'a' and 'b' are not used" in note for note in found.notes)
    assert not any("data.time" in note or "data.target" in note for note in found.notes)
    error = refused(tmp_path, text, time="e")
    assert "file.csv:1: there is no column 'e'." in str(error)
    assert "--set data.time=" in error.fix


def test_several_series_by_several_columns(tmp_path):
    (stores,) = [shape for shape in SHAPES if shape.name == "stores.csv"]
    found = read(tmp_path, stores.text, series="store,item")
    assert [one.name for one in found.series] == ["1/1", "1/2", "2/1", "2/2"]


FAULTS = {
    "no time": (with_line(DAILY, 5, ",1.5"), 5, 1, "bad_rows"),
    "no such day": (with_line(DAILY, 6, "2021-02-30,1.5"), 6, 1, "bad_rows"),
    "words for a time": (with_line(DAILY, 6, "yesterday,1.5"), 6, 1, "bad_rows"),
    "no number": (with_line(DAILY, 7, "2021-01-30,high"), 7, 12, "bad_rows"),
    "a decimal comma": (with_line(DAILY, 7, '2021-01-30,"12,5"'), 7, 12, "bad_rows"),
    "a field too many": (with_line(DAILY, 8, "2021-01-31,1,2"), 8, 14, "bad_rows"),
    "an empty number": (with_line(DAILY, 9, "2021-02-01,"), 9, 12, "gaps"),
    "NA": (with_line(DAILY, 9, "2021-02-01,NA"), 9, 12, "gaps"),
    "NaN": (with_line(DAILY, 9, "2021-02-01,NaN"), 9, 12, "gaps"),
    "infinity": (with_line(DAILY, 9, "2021-02-01,inf"), 9, 12, "gaps"),
    "a row that is missing": (without(DAILY, 10), 10, 1, "gaps"),
    "a time that was there": (with_line(DAILY, 11, "2021-02-02,5"), 11, 1, "duplicates"),
    "a time before": (with_line(with_line(DAILY, 12, "2021-02-05,5"), 13, "2021-02-04,6"), 13, 1, "order"),
    "a time between": (with_line(DAILY, 12, "2021-02-04 07:30,5"), 12, 1, "frequency"),
    "another zone": (
        table("ds,y", [f"{h}:00+0{1 + (at > 9)}:00" for at, h in enumerate(HOURS)], WAVE),
        12,
        1,
        "timezone",
    ),
}


@pytest.mark.spec("K08")
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_its_place_and_the_flag_that_mends_it(name, tmp_path):
    text, line, column, key = FAULTS[name]
    error = refused(tmp_path, text, bad_rows="stop")
    assert error.problem.startswith(f"file.csv:{line}:{column}: "), error
    assert error.found
    assert f"--set data.{key}" in error.fix


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault[3] == "bad_rows"])
def test_a_bad_row_is_left_out_by_what_the_message_says_alone(name, tmp_path):
    text, *_ = FAULTS[name]
    typed = dict(re.findall(r"--set data\.(\w+)=(\w+)", refused(tmp_path, text, bad_rows="stop").fix))
    (series,) = read(tmp_path, text, **typed).series
    assert len(series) == len(text.splitlines()) - 1
    error = refused(tmp_path, text, gaps="previous", bad_rows="stop")
    assert error.fix.endswith("pass --set data.bad_rows=skip to leave such rows out")


def test_a_bad_row_among_a_hundred_needs_the_key_of_gaps_alone(tmp_path):
    text, line, column, _ = FAULTS["no number"]
    error = refused(tmp_path, text)
    assert error.problem.startswith(f"file.csv:{line}:{column}: ")
    assert error.fix.endswith("or pass --set data.gaps=linear to leave such rows out")
    found = read(tmp_path, text, gaps="linear")
    assert [refusal.line for refusal in found.refused] == [line]
    assert len(found.series[0]) == len(text.split("\n")) - 2


@pytest.mark.parametrize(
    "name, keys",
    [
        ("no time", {"bad_rows": "skip", "gaps": "linear"}),
        ("no such day", {"bad_rows": "skip", "gaps": "previous"}),
        ("no number", {"bad_rows": "skip", "gaps": "linear"}),
        ("a field too many", {"bad_rows": "skip", "gaps": "linear"}),
        ("an empty number", {"gaps": "linear"}),
        ("infinity", {"gaps": "previous"}),
        ("a row that is missing", {"gaps": "linear"}),
        ("a time that was there", {"duplicates": "first", "gaps": "linear"}),
        ("a time before", {"order": "sort"}),
    ],
)
def test_the_flag_mends_it_and_no_other_row_changes(name, keys, tmp_path):
    text, line, _, _ = FAULTS[name]
    found = read(tmp_path, text, **keys)
    (one,) = found.series
    assert len(one) == ROWS
    np.testing.assert_array_equal(one.times, DAYS.astype("datetime64[us]"))
    if name == "a time before":
        np.testing.assert_array_equal(np.delete(one.values[:, 0], [10, 11]), np.delete(WAVE, [10, 11]))
        np.testing.assert_array_equal(one.values[[10, 11], 0], [6.0, 5.0])
        return
    at = line - 2
    np.testing.assert_array_equal(np.delete(one.values[:, 0], at), np.delete(WAVE, at))
    between = WAVE[at - 1] if keys.get("gaps") == "previous" else (WAVE[at - 1] + WAVE[at + 1]) / 2
    assert one.values[at, 0] == pytest.approx(between, abs=1e-12)
    assert any("filled" in note for note in found.notes)


def test_a_row_that_is_skipped_leaves_a_hole_that_must_be_filled(tmp_path):
    """Dropping a row of a series would move all that follow."""
    error = refused(tmp_path, FAULTS["no number"][0], bad_rows="skip")
    assert error.problem == "file.csv:8:1: 1 row is missing before this one."
    counted = with_line(table("x,y", WAVE, DRIFT), 5, "1.0,oops")
    assert "1 row is missing" in str(refused(tmp_path, counted, bad_rows="skip"))
    found = read(tmp_path, counted, bad_rows="skip", gaps="linear")
    assert len(found.series[0]) == ROWS
    assert found.series[0].values[3, 1] == pytest.approx((DRIFT[2] + DRIFT[4]) / 2)
    broken = with_line(table("x,y", WAVE, DRIFT), 5, "1.0")
    assert len(read(tmp_path, broken, bad_rows="skip", gaps="linear").series[0]) == ROWS


@pytest.mark.parametrize("name", [name for name in FAULTS if FAULTS[name][3] == "bad_rows"])
def test_rows_in_are_rows_used_and_rows_listed(name, tmp_path):
    found = read(tmp_path, FAULTS[name][0], bad_rows="skip", gaps="linear")
    assert len(found.refused) == 1
    assert (found.refused[0].line, found.refused[0].column) == FAULTS[name][1:3]
    (filled,) = [note for note in found.notes if "filled" in note]
    assert filled.startswith("1 missing row added")


@pytest.mark.parametrize("way, expected", [("first", 2.0), ("last", 5.0), ("mean", 3.0)])
def test_twins_are_used_as_asked(way, expected, tmp_path):
    rows = [*DAYS[:4], DAYS[3], DAYS[3], *DAYS[4:]]
    values = [*WAVE[:3], 2.0, 2.0, 5.0, *WAVE[4:]]
    found = read(tmp_path, table("date,v", rows, values), duplicates=way)
    assert found.series[0].values[3, 0] == expected
    assert len(found.refused) == (0 if way == "mean" else 2)
    assert len(found.series[0]) == ROWS


def test_twins_far_apart_in_the_file_are_found_once_it_is_sorted(tmp_path):
    text = table("date,v", [*DAYS, DAYS[5], DAYS[2]], [*WAVE, 7.0, 9.0])
    assert "an earlier row has the same timestamp" in str(refused(tmp_path, text, order="sort"))
    found = read(tmp_path, text, order="sort", duplicates="last")
    np.testing.assert_array_equal(found.series[0].values[[2, 5], 0], [9.0, 7.0])
    assert sorted(one.line for one in found.refused) == [4, 7]


def test_an_hour_that_comes_twice_when_clocks_are_set_back(tmp_path):
    night = np.datetime64("2021-10-30T20") + np.arange(ROWS)
    local = np.concatenate([night[:7], night[6:-1]])  # 2:00 on Sunday 31 October again
    error = refused(tmp_path, table("date,v", local, WAVE))
    assert error.problem == "file.csv:9:1: this hour is there twice, as when clocks are set back."
    assert "--set data.duplicates=mean" in error.fix
    assert len(read(tmp_path, table("date,v", local, WAVE), duplicates="mean").series[0]) == ROWS - 1


def test_zones_come_together_in_utc(tmp_path):
    text, *_ = FAULTS["another zone"]
    local = HOURS - np.where(np.arange(ROWS) > 9, 2, 1)
    with_gap = np.delete(np.arange(ROWS), 10)  # 11:00+02:00 is 9:00 in UTC, as 10:00+01:00 before it
    error = refused(tmp_path, text, timezone="UTC")
    assert "an earlier row has the same timestamp" in str(error)
    stamps = [f"{hour}:00+0{1 + (at > 9)}:00" for at, hour in enumerate(HOURS)]
    found = read(tmp_path, table("ds,y", np.array(stamps)[with_gap], WAVE[with_gap]), timezone="UTC")
    np.testing.assert_array_equal(found.series[0].times, local[with_gap].astype("datetime64[us]"))


def test_days_written_with_zones_stay_days(tmp_path):
    stamps = [f"{day}T00:00:00+0{1 + (at > 50)}:00" for at, day in enumerate(DAYS)]
    found = read(tmp_path, table("ds,y", stamps, WAVE), timezone="UTC")
    np.testing.assert_array_equal(found.series[0].times, DAYS.astype("datetime64[us]"))
    assert any("they are days" in note for note in found.notes)


def test_dates_that_could_be_read_either_way_are_refused(tmp_path):
    either = ["01/02/2020", "02/01/2020", "05/06/2020", "06/05/2020"]
    error = refused(tmp_path, table("date,v", either, WAVE[:4]))
    assert error.problem.startswith("file.csv:2:1: nothing in this column shows whether")
    assert "2016-07-31" in error.fix


def test_what_is_known_beforehand_reaches_into_times_to_come(tmp_path):
    known = 7
    promo = ["yes" if at % 7 == 0 else "no" for at in range(ROWS)]
    sales = [*WAVE[:-known], *[""] * known]
    text = table("date,sales,promo,price", DAYS, sales, promo, DRIFT)
    found = read(tmp_path, text, target="sales", future_covariates="price,promo")
    (one,) = found.series
    assert found.covariates == ("price", "promo=no", "promo=yes")
    assert one.values.shape == (ROWS - known, 1)
    assert one.future_covariates.shape == (ROWS, 3)
    np.testing.assert_array_equal(one.future_covariates[:, 0], DRIFT)
    np.testing.assert_array_equal(one.future_covariates[:, 2], np.arange(ROWS) % 7 == 0)
    assert len(one.times) == ROWS
    assert any("future rows" in note for note in found.notes)
    hidden = text.replace("yes", "maybe", 1)
    error = refused(tmp_path, hidden, target="sales", future_covariates="price,promo=no,promo=yes")
    assert error.problem.startswith("file.csv:2:")
    assert "'no' and 'yes'" in error.fix
    other = read(
        tmp_path, text.replace("yes", "no"), target="sales", future_covariates=dict(found.keys)["future_covariates"]
    )
    assert other.covariates == found.covariates
    assert not other.series[0].future_covariates[:, 2].any()


def test_what_is_known_must_be_known_of_times_to_come(tmp_path):
    text = table("date,sales,price", DAYS, [*WAVE[:-3], "", "", ""], [*DRIFT[:-2], "", ""])
    error = refused(tmp_path, text, future_covariates="price")
    assert error.problem == f"file.csv:{ROWS}:13: the column 'price' holds no number here."
    assert "--set data.gaps" in error.fix
    found = read(tmp_path, text, future_covariates="price", gaps="previous")
    np.testing.assert_array_equal(found.series[0].future_covariates[-3:, 0], [DRIFT[-3]] * 3)


def test_nothing_is_a_covariate_by_guess(tmp_path):
    found = read(tmp_path, table("date,v,weekday", DAYS, WAVE, ["Mo", "Di"] * (ROWS // 2)))
    assert found.covariates == ()
    assert any("'weekday' is not used; --set data.future_covariates=" in note for note in found.notes)


def test_what_is_forecast_is_not_known_beforehand(tmp_path):
    error = refused(tmp_path, WIDE, target="v,w", future_covariates="w")
    assert error.problem == "file.csv:1: the column 'w' cannot be both data.target and data.future_covariates."
    assert error.fix == "leave it out of data.future_covariates"


def test_what_never_varies(tmp_path):
    found = read(tmp_path, table("date,v,w", DAYS, WAVE, [4] * ROWS))
    assert "warning: 'w' is constant" in found.notes
    error = refused(tmp_path, table("date,w", DAYS, [4] * ROWS))
    assert "all values are constant" in error.problem
    assert "'w' is 4 in every row" in error.found


def test_a_frequency_that_is_named_makes_gaps(tmp_path):
    even = without(DAILY, *range(3, ROWS + 2, 2))
    assert str(read(tmp_path, even).frequency) == "2d"
    assert "1 row is missing" in str(refused(tmp_path, even, frequency="1d"))
    found = read(tmp_path, even, frequency="1d", gaps="linear")
    assert len(found.series[0]) == ROWS - 1
    np.testing.assert_array_equal(found.series[0].values[::2, 0], WAVE[::2])
    assert "data.frequency" in str(refused(tmp_path, even, frequency="often"))


def test_a_table_without_numbers_or_rows_is_refused(tmp_path):
    assert "no column holds numbers" in str(refused(tmp_path, "date,v\n2020-01-01,low\n2020-01-02,high\n"))
    assert "no rows" in str(refused(tmp_path, "date,value\n", time="date"))
    assert "no series has rows of two different times" in str(refused(tmp_path, "date,v\n2020-01-01,5\n"))


def test_a_gap_far_larger_than_the_file_is_no_gap(tmp_path):
    text = with_line(DAILY, ROWS + 1, "9021-06-03,1")
    error = refused(tmp_path, text, gaps="linear")
    assert error.problem.startswith(f"file.csv:{ROWS + 1}:1: ")
