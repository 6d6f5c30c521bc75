"""Archives are read within limits, and never leave their place."""

import io
import zipfile

import pytest

from atento.data import Refusal
from atento.data.files import archives
from atento.data.files.archives import read_zip
from atento.data.tables.folders import read_archive
from atento.errors import InputError


def packed(files):
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return sink.getvalue()


def test_files_by_name_without_folders_and_hidden_ones():
    data = packed({"b/2.txt": "two", "a/1.txt": "one", "__MACOSX/x": "no", "a/.hidden": "no"})
    assert [(one.path, one.data) for one in read_zip(data, "z.zip")] == [("a/1.txt", b"one"), ("b/2.txt", b"two")]


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a/../../b.txt", "C:/x.txt"])
def test_a_name_that_leads_out_is_refused(name):
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr(name, "x")
    (member,) = read_zip(sink.getvalue(), "z.zip")
    assert isinstance(member.data, Refusal)
    assert member.data.problem == "the name leads out of the archive."


def test_a_bomb_is_refused_before_it_is_unpacked():
    with pytest.raises(InputError) as caught:
        list(read_zip(packed({"a": "\0" * 3_000_000}), "bomb.zip"))
    assert caught.value.problem == "bomb.zip: a is over 1000 times as large as its compressed bytes."
    assert "3,000,000 decompressed" in caught.value.found


def test_too_much_and_too_many_are_refused(monkeypatch):
    monkeypatch.setattr(archives, "MAX_FILES", 2)
    with pytest.raises(InputError, match="3 files"):
        list(read_zip(packed({"a": "x", "b": "x", "c": "x"}), "z.zip"))
    monkeypatch.setattr(archives, "MAX_BYTES", 5)
    with pytest.raises(InputError, match="holds more than is read"):
        list(read_zip(packed({"a": "x" * 9}), "z.zip"))


def test_a_lie_about_the_size_is_seen():
    data = packed({"a": "y" * 500})
    said = (500).to_bytes(4, "little")
    for place in (data.find(said), data.rfind(said)):  # beside the file, and in the list at the end
        data = data[:place] + (5).to_bytes(4, "little") + data[place + 4 :]
    (member,) = read_zip(data, "z.zip")
    assert isinstance(member.data, Refusal)


@pytest.mark.parametrize("data", [b"PK\x03\x04rubbish", b"", packed({"a": "x" * 99})[:-30]])
def test_a_broken_archive_says_so(tmp_path, data):
    path = tmp_path / "z.zip"
    path.write_bytes(data)
    with pytest.raises(InputError, match="cannot be unpacked"):
        read_archive(str(path))


def test_a_broken_file_in_it_is_refused_alone():
    data = bytearray(packed({"a": "first " * 50, "b": "second " * 50}))
    data[40] ^= 0xFF
    found = {one.path: one.data for one in read_zip(bytes(data), "z.zip")}
    assert isinstance(found["a"], Refusal)
    assert found["b"] == b"second " * 50


def test_a_file_without_a_name_is_refused():
    data = packed({"a": "x", "b/c": "y"}).replace(b"a", b"\0")  # a name ends at a NUL
    names = {one.path: one.data for one in read_zip(data, "z.zip")}
    assert isinstance(names[""], Refusal)
    assert names["b/c"] == b"y"
