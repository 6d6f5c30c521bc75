"""A folder or an archive of texts."""

import io
import zipfile

import pytest

from atento.data import read_source
from atento.data.tables.folders import read_archive, read_folder
from atento.errors import InputError


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(folder)


def zipped(folder, files):
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    path = folder / "set.zip"
    path.write_bytes(sink.getvalue())
    return str(path)


REVIEWS = {
    "set/README": "about it",
    "set/pos/1.txt": "good film .\nvery good .\r\n",
    "set/pos/2.txt": "NA",
    "set/neg/1.txt": b"caf\xe9 was bad",
    "set/neg/2.txt": b"bro\0ken",
    "set/neg/3.txt": " \n",
}


@pytest.mark.parametrize("read, make", [(read_folder, write), (read_archive, zipped)])
def test_sub_folders_are_labels(tmp_path, read, make):
    table = read(make(tmp_path, REVIEWS))
    assert (table.kind, table.columns) == ("folder", ("text", "label", "file"))
    assert table.rows == (
        ("café was bad", "neg", "set/neg/1.txt"),
        ("good film .\nvery good .\n", "pos", "set/pos/1.txt"),
        ("NA", "pos", "set/pos/2.txt"),
    )
    assert [str(one) for one in table.refused] == [
        "set/neg/3.txt:1:1: the file is empty.",
        "set/neg/2.txt:1:4: this is not text in any encoding we know.",
    ]
    assert "not read as texts: set/README" in table.notes
    assert "1 file not in UTF-8, read as cp1252" in table.notes
    assert any("neg (1) and pos (2)" in note for note in table.notes)
    assert table.place(1, 0) == ("set/pos/1.txt", 1, 1)


def test_files_side_by_side_are_texts(tmp_path):
    table = read_source(write(tmp_path, {"a.txt": "one\ntwo", "b.txt": "three", "LICENSE.txt": "free"}))
    assert table.columns == ("text", "file")
    assert table.rows == (("one\ntwo", "a.txt"), ("three", "b.txt"))


def test_an_archive_of_one_table_is_that_table(tmp_path):
    table = read_source(zipped(tmp_path, {"inner/reviews.csv": "text,label\ngood one,1\n", "README.md": "x"}))
    assert (table.kind, table.columns, table.rows) == ("csv", ("text", "label"), (("good one", "1"),))
    assert "set.zip holds reviews.csv" in table.notes


@pytest.mark.parametrize("files", [{"a.csv": "x,y\n", "b.csv": "x,y\n"}, {"src/a.py": "x", "docs/b.html": "y"}, {}])
def test_a_folder_of_other_files_is_no_set(tmp_path, files):
    with pytest.raises(InputError) as caught:
        read_source(write(tmp_path, files))
    assert caught.value.problem == f"{tmp_path} is a folder, not a file."
    assert caught.value.fix.startswith("name one file, e.g. ")


NAMES = {"set/Basque.txt": ["Etxeberria", "Agirre"], "set/Basque2.txt": ["Goikoetxea", "Ibarra"]}


@pytest.mark.parametrize("read, make", [(read_folder, write), (read_archive, zipped)])
def test_a_file_for_each_label_with_a_name_on_each_line(tmp_path, read, make):
    files = {name: "\n".join(f"{one}{at}" for at in range(20) for one in some) for name, some in NAMES.items()}
    table = read(make(tmp_path, files))
    assert table.columns == ("text", "label") and len(table.rows) == 80
    assert table.rows[41] == ("Ibarra0", "Basque2")
    assert table.place(41, 0) == ("set/Basque2.txt", 2, 1)


LINE = "a line of a longer text, number {}"


@pytest.mark.parametrize(
    "files, labels",
    [
        ({"a.pos": [LINE] * 20, "a.neg": [LINE] * 20}, {"pos", "neg"}),
        ({"pos.txt": [LINE] * 20, "neg.txt": [LINE] * 20}, {"pos", "neg"}),
        ({"one.txt": [LINE] * 20, "two.txt": [LINE] * 20}, None),  # two documents
        ({"train.txt": ["{}name"] * 20, "test.txt": ["{}name"] * 20}, None),  # two parts
        ({"one.txt": ["the same"] * 20, "two.txt": ["{}name"] * 20}, None),
        ({"pos.txt": [LINE] * 3, "neg.txt": [LINE] * 20}, None),  # too short to tell
    ],
)
def test_files_are_labels_by_their_names_or_by_their_lines(tmp_path, files, labels):
    written = {name: "\n".join(line.format(at) for at, line in enumerate(some)) for name, some in files.items()}
    table = read_folder(write(tmp_path, written))
    assert ({row[1] for row in table.rows} if "label" in table.columns else None) == labels
