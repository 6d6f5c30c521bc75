"""Rows in are rows used and rows listed as refused, exactly, in every format."""

import random

import pytest
from tests.data.mutated_files import FAULTS, FORMATS, READERS, ROWS, plant

from atento.spec import DataRecipe


def counted(reader, path):
    found = READERS[reader].rows(DataRecipe(train=path, bad_rows="skip"), path)
    return len(found.pairs), len(found.refused)


def test_a_valid_file_loses_nothing(tmp_path):
    for kind in (kind for kind in FORMATS if kind.name != "prose.txt"):
        (tmp_path / kind.name).write_bytes(kind.make(random.Random(3)))
        source = str(tmp_path / kind.name)
        if kind.partner:
            (tmp_path / kind.partner).write_bytes(kind.make(random.Random(4)))
            source += f",{tmp_path / kind.partner}"
        assert counted(kind.reader, source) == (ROWS, 0), kind.name


def test_a_bad_row_is_listed_and_the_others_are_used(tmp_path):
    for name in FAULTS:
        planted = plant(name, random.Random(5))
        folder = tmp_path / name
        folder.mkdir()
        assert counted(planted.reader, planted.write(folder)) == (ROWS - 1, 1), name


@pytest.mark.parametrize("documents, expected", [("file", 1), ("lines", 4), ("paragraphs", 2)])
def test_documents_of_a_plain_text(tmp_path, documents, expected):
    path = tmp_path / "prose.txt"
    path.write_text("One line.\nAnother.\n\n \nA third\nand a fourth.\n\n", encoding="utf-8")
    found = READERS["documents"].rows(DataRecipe(documents=documents), str(path))
    assert (len(found.pairs), found.refused) == (expected, ())
