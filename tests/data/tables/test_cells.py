"""Cells that hold several labels."""

import pytest

from atento.data.tables.cells import label_format


@pytest.mark.parametrize(
    "cells, separator",
    [
        (["a\tb", "a"], "\t"),
        (["1,2", "2", "1", "2,3", "3"], ","),
        (["joy; anger", "joy", "anger;  sad", "sad"], ";"),
        (["x|y", "y|z", "z|x", "x"], "|"),
        (["a1 b2", "b2 c3", "c3 a1", "a1 b2 c3", "b2 a1", "a1"] * 10, " "),
        (["very bad", "bad", "very good", "good"] * 9, None),
        (["Arts, Crafts", "Home, Garden", "Toys"] * 9, None),
        (["one", "two"] * 9, None),
        (["A sentence, and more of it, that is long enough to be no label"] * 9, None),
    ],
)
def test_separators(cells, separator):
    found = label_format(cells)
    assert (found.separator if found else None) == separator


def test_labels_are_kept_once_and_in_order():
    assert label_format(["b, a,,b "], ",").labels("b, a,,b ") == ["b", "a"]
    assert label_format(["x/y"], "/").labels("007/NA") == ["007", "NA"]
    assert label_format(["x/y"], "/").labels("") == []
