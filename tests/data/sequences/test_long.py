"""A row a step: cases are put together, in order of time, and what does not fit is refused at its row."""

import pytest

from atento.data import read_table
from atento.data.sequences.long import LongColumns, find_cases, fold_cases
from atento.errors import InputError
from atento.spec import DataRecipe
from atento.tasks.reading.sequences import LABELLED_SEQUENCES

LINES = ["case_id,time,ax,ay,label"] + [
    f"{case},{step},{case}.{step},-{step},{'ab'[case % 2]}" for case in range(4) for step in range(3 + case)
]


@pytest.fixture
def file(tmp_path):
    def write(lines=LINES):
        path = tmp_path / "long.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(path)

    return write


@pytest.mark.spec("K02")
def test_rows_of_a_case_become_a_sequence(file):
    table = read_table(file())
    long = find_cases(table)
    assert long == LongColumns(case=0, time=1, channels=[2, 3], label=4)
    folded = fold_cases(table, long, order="stop")
    assert folded.columns == ("sequence", "case_id", "label")
    assert folded.rows[1] == ("1.0,-0 1.1,-1 1.2,-2 1.3,-3", "1", "b")
    assert folded.locate_number(5, 2, 1) == ("long.csv", 7, 9)
    assert folded.place(1, 2).column == 12


def test_order_is_never_mended_in_silence(file):
    lines = [*LINES]
    lines[5], lines[6] = lines[6], lines[5]
    with pytest.raises(InputError, match=r"long\.csv:7:3: case '1' goes back in time here") as caught:
        LABELLED_SEQUENCES.rows(DataRecipe(), file(lines))
    assert "--set data.order=sort" in str(caught.value)
    sorted_too = LABELLED_SEQUENCES.rows(DataRecipe(order="sort"), file(lines))
    assert sorted_too.pairs == LABELLED_SEQUENCES.rows(DataRecipe(), file()).pairs
    assert "1 case sorted by time" in sorted_too.notes


def test_a_label_that_changes_and_a_number_that_is_missing(file):
    lines = [*LINES]
    lines[6] = lines[6].replace(",b", ",a")
    with pytest.raises(InputError, match=r"long\.csv:7:12: the label of case '1' changes here"):
        LABELLED_SEQUENCES.rows(DataRecipe(label="label"), file(lines))
    lines = [*LINES]
    lines[6] = lines[6].replace("-2", "")
    with pytest.raises(InputError, match=r"long\.csv:7:9: step 3 of channel 2 is missing"):
        LABELLED_SEQUENCES.rows(DataRecipe(), file(lines))
    mended = LABELLED_SEQUENCES.rows(DataRecipe(gaps="linear"), file(lines))
    assert mended.pairs[1][0] == "1.0,-0 1.1,-1 1.2,-2.0 1.3,-3"
    assert "1 missing number filled (data.gaps=linear)" in mended.notes


def test_named_columns_go_before_guesses(file):
    read = LABELLED_SEQUENCES.rows(DataRecipe(series="case_id", source="ay", label="label"), file())
    assert read.pairs[0] == ("-0 -1 -2", "a")
    assert dict(read.keys) == {"series": "case_id", "source": "ay", "time": "time", "label": "label"}


def test_a_table_without_cases_is_none(file):
    assert find_cases(read_table(file(["date,value", *(f"2026-01-{day:02},{day}" for day in range(1, 9))]))) is None


def test_a_long_table_in_german_with_decimal_commas(tmp_path):
    lines = ["Messung Nr;Zeit [s];Beschl. x (m/s²);Aktivität"]
    lines += [
        f"{case};0,{step};{step},{case:03};{('gehen', 'laufen')[case % 2]}"
        for case in range(1, 7)
        for step in range(1, 6)
    ]
    (tmp_path / "long.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = read_table(str(tmp_path / "long.csv"))
    assert find_cases(table) == LongColumns(0, 1, [2], 3)
    folded = fold_cases(table, LongColumns(0, 1, [2], 3), order="stop")
    assert folded.rows[1] == ("1.002 2.002 3.002 4.002 5.002", "2", "gehen") and len(folded.rows) == 6
    assert any("decimals are written with commas" in note for note in folded.notes)
    assert table.rows[0][1] == "0,1"  # what was read stays as it is written
