"""Windows of rows in time order, each with the label of its newest row."""

from datetime import date, timedelta
from pathlib import Path

import pytest

from atento.errors import InputError
from atento.spec import DataRecipe
from atento.tasks.reading.windows import LABELLED_WINDOWS

LOOK_BACK, ROWS = 3, 40


def label_of(row):
    return "busy, noisy" if row % 7 > 3 else "calm"


def write(folder, *, rows=ROWS, label=label_of, name="m.csv"):
    days = [str(date(2020, 1, 1) + timedelta(days=row)) for row in range(rows)]
    lines = [f'{day},{row}.5,{(row * 7) % 11},"{label(row)}"' for row, day in enumerate(days)]
    (folder / name).write_text("\n".join(["day,load,speed,state", *lines]) + "\n")
    return str(folder / name)


def recipe_of(path, **values):
    return DataRecipe(train=path, look_back=LOOK_BACK, split="60/20/20", **values)


def rows_in(source):
    """The numbers of the rows of a window."""
    return [int(float(step.split(",")[0])) for step in source.split()]


def test_no_window_crosses_a_border_and_its_newest_row_gives_the_label(tmp_path):
    read = LABELLED_WINDOWS.read(recipe_of(write(tmp_path)), 0)
    parts = [list(read.train), *([(one.source, one.references[0]) for one in part] for part in (read.valid, read.test))]
    for part, (first, last) in zip(parts, ((0, 24), (24, 32), (32, 40)), strict=True):
        windows = [rows_in(source) for source, _ in part]
        assert windows == [list(range(row, row + LOOK_BACK)) for row in range(first, last - LOOK_BACK + 1)]
        assert [label for _, label in part] == [label_of(window[-1]) for window in windows]
    assert parts[0][0][0] == "0.5,0 1.5,7 2.5,3"
    assert dict(read.roles) == {"load": "channel", "speed": "channel", "day": "time", "state": "label"}
    assert any(note.startswith("'load' and 'speed' are read, as channels; --set data.source=") for note in read.notes)
    assert not any("forecast" in note or "data.target" in note for note in read.notes)


def test_series_are_told_apart(tmp_path):
    lines = [f"{name},{row},{row + 100 * at},{'ab'[at]}" for at, name in enumerate("xy") for row in range(20)]
    (tmp_path / "two.csv").write_text("\n".join(["pump,t,load,state", *lines]) + "\n")
    recipe = recipe_of(str(tmp_path / "two.csv"), series="pump", time="t", label="state")
    read = LABELLED_WINDOWS.read(recipe, 0)
    everything = [*read.train, *((one.source, one.references[0]) for one in (*read.valid, *read.test))]
    assert all(len({row // 100 for row in rows_in(source)}) == 1 for source, _ in everything)
    assert all(label == "ab"[rows_in(source)[0] // 100] for source, label in everything)
    assert len(everything) == 2 * (10 + 2 + 2)


def test_labels_that_are_numbers_are_no_channel(tmp_path):
    path = write(tmp_path, label=lambda row: "07" if row % 7 > 3 else "1")
    read = LABELLED_WINDOWS.read(recipe_of(path, label="state"), 0)
    assert {label for _, label in read.train} == {"07", "1"}
    assert all(step.count(",") == 1 for source, _ in read.train for step in source.split())


def test_other_files_and_files_without_labels(tmp_path):
    path, other = write(tmp_path), write(tmp_path, rows=11, name="other.csv")
    read = LABELLED_WINDOWS.read(recipe_of(path, test=other), 0)
    assert len(read.test) == 11 - LOOK_BACK + 1
    recipe = recipe_of(path, label="state")
    asked = LABELLED_WINDOWS.read_labelled(recipe, other, 0)
    assert asked.questions[-1] == (read.test[-1].source, (label_of(10),))
    bare = tmp_path / "bare.csv"
    lines = Path(other).read_text().splitlines()
    bare.write_text("".join(line.split(',"')[0].removesuffix(",state") + "\n" for line in lines))
    for file in (other, str(bare)):
        opened = LABELLED_WINDOWS.read_unlabelled(recipe, file, 0)
        assert opened.sources == [one.source for one in asked.questions]
        assert opened.columns == {"day": [*opened.columns["day"][:-1], "2020-01-11"]}  # as the file calls it


def test_a_part_shorter_than_a_window_and_keys_that_have_no_meaning(tmp_path):
    path = write(tmp_path, rows=12)
    with pytest.raises(InputError, match=r"(?s)no window of 3 rows fits.*data.look_back=1"):
        LABELLED_WINDOWS.read(recipe_of(path), 0)
    with pytest.raises(InputError, match=r"data\.future_covariates has no meaning"):
        LABELLED_WINDOWS.read(recipe_of(path, future_covariates="load"), 0)
    bare = tmp_path / "bare.csv"
    bare.write_text("t,load\n" + "".join(f"{row},{row}.5\n" for row in range(ROWS)))
    with pytest.raises(InputError, match="no column looks like a label"):
        LABELLED_WINDOWS.read(recipe_of(str(bare)), 0)
    with pytest.raises(InputError, match="its rows have no labels"):
        LABELLED_WINDOWS.read(DataRecipe(train="numbers"), 0)
