"""Weka's files, flat and with a relation a case."""

import pytest

from atento.data import read_table
from atento.errors import InputError

FLAT = "@relation waves\n" + "".join(f"@attribute a{n} numeric\n" for n in range(3)) + "@attribute target {up,down}\n"
DEEP = "@relation waves\n@attribute rel relational\n  @attribute a0 numeric\n  @attribute a1 numeric\n@end rel\n"


def table_of(tmp_path, text):
    path = tmp_path / "waves.arff"
    path.write_text(text, encoding="utf-8")
    return read_table(str(path))


def test_numeric_attributes_are_steps(tmp_path):
    table = table_of(tmp_path, FLAT + "\n@data\n% a comment\n1,2.5,?,up\n3,?,4,'down'\n")
    assert table.rows == (("1 2.5", "up"), ("3 nan 4", "down")), "missing at the end: shorter"
    assert table.locate_number(9, 1, 0).column == 3
    assert table.notes[-1] == "1 case with missing numbers at the end: read as shorter sequences"


def test_a_relation_holds_channels(tmp_path):
    table = table_of(tmp_path, DEEP + "@attribute target {a,b}\n@data\n'1,2\\n3,4',a\n\"5,?\\n7,8\",b\n")
    assert table.rows == (("1,3 2,4", "a"), ("5,7 nan,8", "b"))
    assert table.locate_number(9, 1, 0).column == 4
    assert table.locate_number(9, 1, 1).column == 9
    assert table.place(1, 1).column == 12


def test_what_is_no_labelled_sequence_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is no line @data"):
        table_of(tmp_path, FLAT)
    with pytest.raises(InputError, match="no labelled sequences"):
        table_of(tmp_path, "@relation r\n@attribute a numeric\n@data\n1\n")
    with pytest.raises(InputError, match=r"waves\.arff:7:1: the case does not fit its attributes"):
        table_of(tmp_path, FLAT + "@data\n1,2,up\n")
