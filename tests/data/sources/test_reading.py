"""Whatever a user names becomes one table."""

import gzip
import lzma

import pytest

from atento.data import read_source
from atento.data.files.archives import is_zip

CONLL = "The\tDET\ncat\tNOUN\n\nIt\tPRON\n"


@pytest.mark.parametrize("name, pack", [("a.conll.gz", gzip.compress), ("a.conll.xz", lzma.compress)])
def test_packed_files_of_any_format(tmp_path, name, pack):
    (tmp_path / name).write_bytes(pack(CONLL.encode()))
    table = read_source(str(tmp_path / name))
    assert (table.kind, table.rows[0]) == ("conll", ("The\tcat", "DET\tNOUN"))


def test_a_folder_of_parts_is_its_training_file(tmp_path):
    (tmp_path / "train.csv").write_text("text,label\nx y,1\n", encoding="utf-8")
    (tmp_path / "test.csv").write_text("text,label\nz w,0\n", encoding="utf-8")
    assert read_source(str(tmp_path)).rows == (("x y", "1"),)


def test_archives(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"")
    assert is_zip(str(tmp_path / "a.zip"))
    assert not is_zip(str(tmp_path / "b.zip"))
    assert not is_zip(str(tmp_path))
