"""Files of the UCR and UEA archives: what is read, and exactly where what cannot be."""

import pytest

from atento.data import read_table
from atento.errors import InputError

HEAD = "# waves\n@problemName Waves\n@timeStamps false\n@missing true\n@univariate false\n@dimensions 2\n"
LABELS = "@equalLength false\n@classLabel true up down\n@data\n"


def table_of(tmp_path, text, **options):
    path = tmp_path / "Waves_TRAIN.ts"
    path.write_text(text, encoding="utf-8")
    return read_table(str(path), **options)


@pytest.mark.spec("K02")
def test_channels_are_parted_by_colons_and_lengths_may_differ(tmp_path):
    table = table_of(tmp_path, HEAD + LABELS + "1.5,2,-3e-1:4,5,6:up\n7:8:down\n")
    assert table.columns == ("sequence", "label")
    assert table.rows == (("1.5,4 2,5 -3e-1,6", "up"), ("7,8", "down"))
    assert table.lines == (10, 11)
    assert table.kind == "ts"
    assert table.notes[-1] == "Waves_TRAIN.ts is read as a .ts file: 2 sequences of 2 channels"


def test_places_are_those_of_the_line(tmp_path):
    table = table_of(tmp_path, HEAD + LABELS + "1.5, 2,?:4,5,6:up\n")
    assert table.rows[0][0] == "1.5,4 2,5 nan,6"
    assert table.locate_number(10, 2, 0) == ("Waves_TRAIN.ts", 10, 8)
    assert table.locate_number(10, 1, 0).column == 6, "the blank before a number is no part of it"
    assert table.locate_number(10, 2, 1).column == 14
    assert table.place(0, 0).column == 1
    assert table.place(0, 1).column == 16


@pytest.mark.parametrize(
    "case, column, problem",
    [
        ("1,2:3:up", 5, "channel 2 has 1 steps where channel 1 has 2."),
        ("1,2:3,4:sideways", 9, "the label is not in @classLabel."),
        ("1,2:up", 1, "the case has 1 channel: there should be 2 channels."),
        ("1,2:3,4:5,6:up", 1, "the case has 3 channels: there should be 2 channels."),
    ],
)
def test_cases_that_do_not_fit_are_refused_where_they_stand(tmp_path, case, column, problem):
    with pytest.raises(InputError, match=rf"Waves_TRAIN\.ts:11:{column}: {problem}"):
        table_of(tmp_path, HEAD + LABELS + f"1:2:up\n{case}\n")
    table = table_of(tmp_path, HEAD + LABELS + f"1:2:up\n{case}\n", bad_rows="skip")
    assert (len(table.rows), len(table.refused)) == (1, 1)


def test_without_labels_and_with_numbers_to_estimate(tmp_path):
    plain = "@problemName P\n@univariate true\n@classLabel false\n@data\n1,2,3\n4,5\n"
    assert table_of(tmp_path, plain).columns == ("sequence",)
    assert table_of(tmp_path, plain).rows == (("1 2 3",), ("4 5",))
    numbers = "@problemName P\n@univariate true\n@targetlabel true\n@data\n1,2,3:0.25\n"
    assert table_of(tmp_path, numbers).columns == ("sequence", "target")
    assert table_of(tmp_path, numbers).rows == (("1 2 3", "0.25"),)


def test_time_stamps_are_left_aside_and_that_is_said(tmp_path):
    text = "@timeStamps true\n@univariate true\n@classLabel true a b\n@data\n"
    table = table_of(tmp_path, text + "(2026-01-01 00:00:00,1.5),(2026-01-01 01:00:00,?):a\n(0,3),(1,4):b\n")
    assert table.rows == (("1.5 nan", "a"), ("3 4", "b"))
    assert table.locate_number(5, 1, 0).column == 48
    assert "timestamps are not read: steps are taken in the order of the file" in table.notes


def test_a_file_without_its_head_is_none(tmp_path):
    with pytest.raises(InputError, match="there is no line @data"):
        table_of(tmp_path, "1,2,3:a\n")


def test_the_head_and_the_end_of_a_case_are_named_where_they_are_at_fault(tmp_path):
    head = "@problemName P\n@univariate true\n@classLabel true up down\n@data\n"
    with pytest.raises(InputError, match=r":5:1: the case has 2 channels: @univariate is true") as caught:
        table_of(tmp_path, head + "1,2:3,4:up\n1,2:3,4:down\n")
    assert "@univariate false and @dimensions 2" in caught.value.fix
    mended = head.replace("@univariate true", "@univariate false\n@dimensions 2")
    assert len(table_of(tmp_path, mended + "1,2:3,4:up\n1,2:3,4:down\n").rows) == 2
    with pytest.raises(InputError, match=r":6:1: the case has no label after a colon") as caught:
        table_of(tmp_path, head + "1,2:up\n3,4\n")
    assert "write a colon and one of up and down at its end" in caught.value.fix
