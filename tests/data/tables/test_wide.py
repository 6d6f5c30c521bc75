"""A column a step: what is plainly a sequence becomes one, and nothing else does."""

import pytest

from atento.data import read_table
from atento.data.tables.wide import NUMBERED_NAME, is_label
from atento.errors import InputError


def table_of(tmp_path, name, lines):
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_table(str(path))


def ucr(rows, steps=11, delimiter="\t"):
    return [delimiter.join([str(row % 2 + 1), *(f"{row}.{step}" for step in range(steps))]) for row in range(rows)]


@pytest.mark.spec("K02")
def test_the_archive_s_own_tables(tmp_path):
    lines = ucr(6)
    lines[3] = lines[3].replace("3.10", "NaN").replace("3.9", "NaN")
    table = table_of(tmp_path, "Waves_TRAIN.tsv", lines)
    assert table.kind == "sequences"
    assert table.columns == ("sequence", "label")
    assert table.rows[0] == ("0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 0.10", "1")
    assert table.rows[3] == ("3.0 3.1 3.2 3.3 3.4 3.5 3.6 3.7 3.8", "2"), "missing at the end: shorter"
    assert table.notes[-2:] == (
        "11 columns are the steps of 1 channel beside label",
        "1 row with missing numbers at the end: read as shorter sequences",
    )
    assert table.locate_number(2, 3, 0) == ("Waves_TRAIN.tsv", 2, 15)
    assert table.place(1, 1).column == 1


def test_names_that_count_are_steps_and_channels(tmp_path):
    names = [f"x_{step}" for step in range(1, 9)] + [f"y_{step}" for step in range(1, 9)]
    rows = [",".join([*(f"{row}{step}" for step in range(16)), "ab"[row % 2]]) for row in range(4)]
    table = table_of(tmp_path, "wide.csv", [",".join([*names, "gesture"]), *rows])
    assert table.columns == ("sequence", "gesture")
    assert table.rows[1][0].split()[:2] == ["10,18", "11,19"]
    assert table.locate_number(2, 1, 1).column == table.locate_number(2, 0, 1).column + 3


@pytest.mark.parametrize(
    "lines",
    [
        [
            "date," + ",".join(f"s{n}" for n in range(9)),
            *(f"2026-01-0{n}," + ",".join("123456789") for n in range(1, 7)),
        ],
        [",".join(f"s{n}" for n in range(9)) + ",OT", *(",".join("123456789") + f",{n}.5" for n in range(1, 7))],
        ["a,b,label", "1,2,x", "3,4,y", "5,6,x", "7,8,y"],
        [",".join(f"{row}.{step}" for step in range(9)) for row in range(6)],
        ["age,height,weight,hand,foot,head,arm,leg,sex", *(f"1,2,3,4,5,6,7,{n},{'fm'[n % 2]}" for n in range(6))],
    ],
    ids=["channels by time", "no label", "few columns", "all numbers", "names that do not count"],
)
def test_other_tables_stay_as_they_are(tmp_path, lines):
    assert table_of(tmp_path, "table.csv", lines).kind == "csv"


def test_a_step_that_is_missing_inside_stays_to_be_judged(tmp_path):
    lines = ucr(6)
    lines[2] = lines[2].replace("2.4", "")
    assert table_of(tmp_path, "gaps.tsv", lines).rows[2][0] == "2.0 2.1 2.2 2.3 nan 2.5 2.6 2.7 2.8 2.9 2.10"


def test_labels_are_few_and_whole():
    assert is_label(["1", "2", "1", "2"])
    assert is_label(["1.0000000e+00", "-1.0", "1.0000000e+00", "-1.0"])
    assert not is_label(["1.5", "2", "1.5", "2"])
    assert not is_label(["a", "a", "a", "a"])
    assert not is_label(["a", "b", "c", "d"])
    assert NUMBERED_NAME.fullmatch("att12")[1] == "att"


def test_rows_of_another_width_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"short\.tsv:7:18: the row has 5 fields where 12 are expected"):
        table_of(tmp_path, "short.tsv", [*ucr(6), "1\t1.0\t2.0\t3.0\t4.0"])
