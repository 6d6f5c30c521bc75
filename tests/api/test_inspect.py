"""What inspect proposes to mend a file is what the errors carry, not what their words happen to say."""

import shlex
from dataclasses import replace
from datetime import date, timedelta

import pytest

from atento.api import inspect
from atento.api.inspect import read_mended
from atento.data.numbers.dialects import is_number
from atento.data.series import series_in_rows
from atento.data.tables import headers, wide
from atento.errors import InputError, RunError
from atento.spec import DataRecipe
from atento.tasks.catalogue import TASKS

DAYS = [(str(date(2020, 1, 1) + timedelta(day)), str(day % 7)) for day in range(56)]


def days(folder, rows=DAYS):
    (folder / "days.csv").write_text("ds,y\n" + "".join(f"{when},{value}\n" for when, value in rows), encoding="utf-8")
    return DataRecipe(train=str(folder / "days.csv"), bad_rows="skip")


def waves(folder, rows, label="label"):
    (folder / "waves.csv").write_text("\n".join([f"x,{label}", *rows]) + "\n", encoding="utf-8")
    return DataRecipe(train=str(folder / "waves.csv"), bad_rows="skip")


def a_gap(folder):
    return "forecast", days(folder, [*DAYS[:9], *DAYS[10:]])


def an_empty_cell(folder):
    return "forecast", days(folder, [*DAYS[:9], (DAYS[9][0], ""), *DAYS[10:]])


def another_order(folder):
    return "forecast", days(folder, [*DAYS[:9], DAYS[10], DAYS[9], *DAYS[11:]])


def a_twin(folder):
    return "forecast", days(folder, [*DAYS[:9], *DAYS[8:]])


def a_long_past(folder):
    return "forecast", days(folder).model_copy(update={"look_back": 53, "horizon": 3})


def a_number_missing_in_each(folder):
    return "classify-series", waves(folder, [f"1 ? {n},{'ab'[n % 2]}" for n in range(20)])


def no_label(folder):
    return "classify-series", waves(folder, [f"1 2 {n},{n}z" for n in range(20)], "of what")


FAULTS = {
    a_gap: {"data.gaps": "linear"},
    an_empty_cell: {"data.gaps": "linear"},
    another_order: {"data.order": "sort"},
    a_twin: {"data.duplicates": "first"},
    a_long_past: {"data.look_back": "23"},  # half of the 50 rows to train on, less the horizon
    a_number_missing_in_each: {"data.gaps": "linear"},
    no_label: {"data.label": "of what"},
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_an_error_carries_the_settings_that_its_fix_names(fault, tmp_path):
    task, recipe = fault(tmp_path)
    with pytest.raises(InputError) as told:
        TASKS[task].reading.read(recipe, 0)
    assert told.value.settings == FAULTS[fault]
    assert all(f"--set {key}={value}" in told.value.fix for key, value in FAULTS[fault].items())


def test_an_error_that_no_setting_mends_carries_none():
    assert InputError("wrong").settings == RunError("wrong").settings == {}


def test_what_mends_a_file_is_tried_and_proposed(tmp_path):
    """Whatever the words of an error are."""
    path = days(tmp_path).train
    whole = TASKS["forecast"]

    def read(recipe, seed):
        if recipe.gaps != "linear":
            raise InputError("first.", fix="try --set data.duplicates=mean", settings={"data.gaps": "linear"})
        if recipe.order != "sort":
            raise InputError("second.", fix="sort it", settings={"data.order": "sort"})
        return whole.reading.read(recipe, seed)

    data, stopped, mend = read_mended(replace(whole, reading=replace(whole.reading, read=read)), {"data.train": path})
    assert [error.problem for error in stopped] == ["first.", "second."]
    assert mend == {"data.gaps": "linear", "data.order": "sort"}
    assert len(data.reading.test) > 0

    def never(recipe, seed):
        raise InputError("never.", settings={"data.gaps": "linear"})

    with pytest.raises(InputError, match=r"never\."):
        read_mended(replace(whole, reading=replace(whole.reading, read=never)), {"data.train": path})


def test_the_command_holds_them_as_they_are_typed(tmp_path):
    path = a_gap(tmp_path)[1].train
    found = inspect(path)
    typed = f"{shlex.quote(path)} --set data.gaps=linear"
    assert found.next == [f"atento compare {typed}", f"atento train {typed}"]
    assert found.problems[0].command == found.next[0]


@pytest.mark.parametrize("cell", ["word{}", "{}.5"], ids=["texts", "numbers"])
def test_the_work_hardly_grows_with_the_columns_of_a_very_wide_table(cell, tmp_path, monkeypatch):
    """Each further column of five cells is compared with numbers about once; of texts, one cell of it."""
    asked = []

    def counted(text):
        asked.append(text)
        return is_number(text)

    for module in (headers, wide, series_in_rows):
        monkeypatch.setattr(module, "is_number", counted)
    counts = []
    for width in (2503, 4007):
        lines = [",".join(cell.format(at * row) for at in range(width)) for row in range(1, 6)]
        (tmp_path / f"{width}.csv").write_text("\n".join([",".join(f"c{at}" for at in range(width)), *lines]) + "\n")
        asked.clear()
        inspect(tmp_path / f"{width}.csv")
        counts.append(len(asked))
    assert counts[1] - counts[0] < 6 * (4007 - 2503)


def test_the_past_that_is_proposed_is_never_shorter_than_a_season(tmp_path):
    """12 years of months leave few windows, and half of the look-back would be half a year."""
    rows = [f"{1949 + at // 12}-{at % 12 + 1:02},{100 + at % 12 * 9 + at % 7},3,4" for at in range(144)]
    path = tmp_path / "air.csv"
    path.write_text("\n".join(["month,y,still,flat", *rows]) + "\n")
    problems = inspect(str(path)).problems
    still = next(one for one in problems if "never" in one.where)
    assert (still.where.partition(":")[0], still.fix) == (
        "2 channels never change in the training part",
        "leave them out",
    )
    few = next(one for one in problems if "windows" in one.where)
    assert "look_back=6" not in few.command
    assert few.fix == "a shorter past leaves more of them" if "look_back=12" in few.command else "give more rows"
