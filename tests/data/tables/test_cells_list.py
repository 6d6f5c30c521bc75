"""Lists in the cells of a table."""

import json
import random

import pytest

from atento.data import read_table
from atento.data.tables.cells import read_list


@pytest.mark.parametrize(
    "cell, items",
    [
        ('["a", "b c"]', ["a", "b c"]),
        ("['a', 'b c']", ["a", "b c"]),
        ("""['it', "'s", 'a\\'b']""", ["it", "'s", "a'b"]),
        ("['a' 'b']", ["a", "b"]),
        ("[3 10]", ["3", "10"]),
        ("[3, 007]", ["3", "007"]),
        ("[joy, anger]", ["joy", "anger"]),
        ("[]", []),
        ("", []),
        ("[a sentence, in brackets]", None),
        ("[[1], [2]]", None),
        ("no list", None),
        ("['a', 'b'", None),
    ],
)
def test_lists(cell, items):
    assert read_list(cell) == items


def test_lists_as_python_and_json_write_them():
    chance = random.Random(0)
    for _ in range(300):
        items = ["".join(chance.choices("ab'\" é,[]x", k=chance.randint(1, 6))) for _ in range(chance.randint(1, 4))]
        assert read_list(json.dumps(items)) == read_list(repr(items)) == items


def test_columns_of_a_table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text,labels\n\"a b\",\"['joy', 'fear']\"\nc d,['joy']\ne f,[]\n", encoding="utf-8")
    read = read_table(str(path))
    assert read.rows == (("a b", "joy\tfear"), ("c d", "joy"), ("e f", ""))
    assert "column 'labels' holds lists (3 rows)" in read.notes


def test_a_cell_that_is_no_list_is_refused_by_place(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("text\tlabels\n" + "a b\t['x', 'y']\n" * 20 + "c d\t['x'\n", encoding="utf-8")
    (refusal,) = read_table(str(path), bad_rows="skip").refused
    assert str(refusal) == "t.tsv:22:5: the column 'labels' holds lists, and this is none."


def test_text_in_brackets_stays(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("[laughs]\tx\n[sighs]\ty\n", encoding="utf-8")
    assert read_table(str(path)).rows[0] == ("[laughs]", "x")
