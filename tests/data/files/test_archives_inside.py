"""Files inside an archive, each read when it is asked for, within the limits of archives."""

import os
import stat
import zipfile

import pytest

from atento.data import read_source
from atento.data.files import archives
from atento.data.files.archives import file_on_disk, is_file, path_below, split_archive_path
from atento.data.files.opening import read_bytes
from atento.errors import InputError


@pytest.fixture
def packed(tmp_path):
    def write(files, name="set.zip"):
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
            for inside, content in files.items():
                archive.writestr(inside, content)
        return tmp_path / name

    return write


def test_a_path_leads_into_an_archive_and_to_its_file_on_disk(packed, tmp_path):
    archive = packed({"a/b.txt": "hola", "t.csv": "text,label\nbien,1\nmal,0\n"})
    path = str(path_below(archive, "a/b.txt"))
    assert split_archive_path(path) == (str(archive), "a/b.txt") and file_on_disk(path) == archive
    assert is_file(path) and not is_file(str(path_below(archive, "a/c.txt")))
    assert read_bytes(path) == b"hola"
    assert read_source(str(path_below(archive, "t.csv"))).rows == (("bien", "1"), ("mal", "0"))
    (tmp_path / "other.zip!").mkdir()
    (tmp_path / "other.zip!/x.txt").write_text("a folder may be named so")
    assert split_archive_path(str(tmp_path / "other.zip!/x.txt")) is None
    assert read_bytes(str(tmp_path / "other.zip!/x.txt")).startswith(b"a folder")


def test_what_is_not_there_is_told_with_a_near_name(packed):
    archive = packed({"cats/1.png": "x", "dogs/1.png": "y"})
    with pytest.raises(InputError, match="there is no such file") as caught:
        read_bytes(str(path_below(archive, "cat/1.png")))
    assert caught.value.fix == "did you mean set.zip!/cats/1.png?"


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "C:/x.txt", "link"])
def test_no_name_leads_out_of_the_archive(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        info = zipfile.ZipInfo(name)
        info.external_attr = (stat.S_IFLNK if name == "link" else stat.S_IFREG) << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(InputError, match=r"leads out of the archive|there is no such file"):
        read_bytes(str(path_below(tmp_path / "z.zip", name)))


def test_bombs_lies_twins_and_giants_are_refused(packed, tmp_path, monkeypatch):
    with pytest.raises(InputError, match="1000 times as large"):
        read_bytes(str(path_below(packed({"a": "\0" * 3_000_000}, "bomb.zip"), "a")))
    lie = packed({"a": "y" * 500}, "lie.zip")
    data, said = lie.read_bytes(), (500).to_bytes(4, "little")
    for place in (data.find(said), data.rfind(said)):
        data = data[:place] + (5).to_bytes(4, "little") + data[place + 4 :]
    lie.write_bytes(data)
    with pytest.raises(InputError):
        read_bytes(str(path_below(lie, "a")))
    with zipfile.ZipFile(tmp_path / "twins.zip", "w") as archive:
        archive.writestr("a.txt", "one")
        archive.writestr("./a.txt", "two")
    with pytest.raises(InputError, match="several files of this name"):
        read_bytes(str(path_below(tmp_path / "twins.zip", "a.txt")))
    monkeypatch.setattr(archives, "MAX_MEMBER_BYTES", 3)
    with pytest.raises(InputError, match="too large"):
        read_bytes(str(path_below(packed({"a": "four"}, "giant.zip"), "a")))
    (tmp_path / "no.zip").write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(InputError, match=r"no\.zip cannot be unpacked"):
        read_bytes(str(path_below(tmp_path / "no.zip", "a")))


def test_an_archive_that_changes_is_opened_again_and_a_fork_opens_its_own(packed):
    archive = packed({"a": "one"})
    path = str(path_below(archive, "a"))
    assert read_bytes(path) == b"one"
    packed({"a": "another"})
    os.utime(archive, ns=(1, 1))
    assert read_bytes(path) == b"another"
    first = archives.contents_of(str(archive))
    assert archives.contents_of(str(archive)) is first
    stamp = archive.stat()
    key = (str(archive), stamp.st_size, stamp.st_mtime_ns)
    assert (
        archives.open_archive(*key, os.getpid()) is first and archives.open_archive(*key, os.getpid() + 1) is not first
    )


@pytest.mark.parametrize("name", ["a.tar.gz", "a.TGZ", "a.tar", "a.7z"])
def test_other_archives_are_told_what_to_become(tmp_path, name):
    (tmp_path / name).write_bytes(b"\x1f\x8b anything")
    with pytest.raises(InputError, match="is an archive that is not read") as caught:
        read_source(str(tmp_path / name))
    assert ".zip" in caught.value.fix
