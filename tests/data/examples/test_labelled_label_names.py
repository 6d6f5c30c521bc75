"""Numbers of labels by name."""

import pytest

from atento.data.examples.labelled import names_beside
from atento.spec import DataRecipe


@pytest.mark.parametrize(
    "file, names, labels, expected",
    [
        ("labels.txt", "joy\nanger\nfear\n", ["0", "2"], {"0": "joy", "2": "fear"}),
        ("classes.txt", "World\nSports\n", ["1", "2"], {"1": "World", "2": "Sports"}),
        ("labels.txt", "joy\nanger\n", ["0", "5"], None),
        ("labels.txt", "joy\nanger\n", ["good", "1"], None),
        ("labels.txt", "joy\njoy\n", ["0", "1"], None),
        ("other.txt", "joy\nanger\n", ["0", "1"], None),
    ],
)
def test_names(tmp_path, file, names, labels, expected):
    (tmp_path / file).write_text(names, encoding="utf-8")
    found = names_beside(DataRecipe(), str(tmp_path / "train.tsv"), labels)
    assert (found.names if found else None) == expected
    if found:
        assert file in found.note
        assert names_beside(DataRecipe(beside="no"), str(tmp_path / "train.tsv"), labels) is None
