"""Files that are no data: formats of other programs, pipes and devices, and what grows without limit."""

import gzip
import io
import lzma
import os
import socket
import zipfile

import numpy as np
import pytest

from atento.data.files import foreign, opening
from atento.data.sources.reading import read_source
from atento.errors import InputError


def refusal(path):
    with pytest.raises(InputError) as caught:
        read_source(str(path))
    return caught.value


@pytest.mark.parametrize("suffix", foreign.FOREIGN)
def test_a_file_of_another_program_is_refused_with_one_way_to_export_it(tmp_path, suffix):
    path = tmp_path / f"my{suffix}"
    path.write_bytes(b"train:\n  steps: 3\n")
    error = refusal(path)
    assert f"is {foreign.FOREIGN[suffix].what}" in error.problem
    assert error.fix and "FILE" not in error.fix


@pytest.mark.parametrize("mark", foreign.SIGNATURES)
def test_a_wrong_name_does_not_hide_another_program_s_file(tmp_path, mark):
    path = tmp_path / "data.txt"
    path.write_bytes(mark + b"\x00\xff\xfe\x01" * 40)
    error = refusal(path)
    assert error.problem == f"data.txt:1:1: this is {foreign.SIGNATURES[mark].what}, not text."


def test_pipes_devices_and_sockets_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    assert refusal(tmp_path / "pipe.csv").problem.endswith("pipe.csv is a pipe, not a file.")
    assert refusal("/dev/zero").problem == "/dev/zero is a device, not a file."
    (tmp_path / "set").mkdir()
    for name in ("1.txt", "2.txt"):
        (tmp_path / "set" / name).write_text("a text")
    os.mkfifo(tmp_path / "set" / "3.txt")
    assert "3.txt is a pipe" in refusal(tmp_path / "set").problem
    with socket.socket(socket.AF_UNIX) as opened:
        os.chdir(tmp_path)  # a socket's path is short
        opened.bind("s.csv")
        assert refusal("s.csv").problem == "s.csv is a socket, not a file."


@pytest.mark.parametrize("suffix, compress", [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_a_compressed_file_that_grows_beyond_the_limit_is_refused(tmp_path, monkeypatch, suffix, compress):
    monkeypatch.setattr(opening, "FREE_BYTES", 2**16)
    path = tmp_path / f"bomb.csv{suffix}"
    path.write_bytes(compress(b"a,b\n" * 2**20))
    error = refusal(path)
    assert "decompresses to more than is read" in error.problem
    assert "200 times" in error.found and "decompress it yourself" in error.fix
    path.write_bytes(compress("".join(f"{at},{at * at}\n" for at in range(20_000)).encode()))
    assert len(read_source(str(path)).rows) == 20_000


def test_a_compressed_array_that_grows_without_limit_is_refused(tmp_path):
    saved = io.BytesIO()
    np.save(saved, np.zeros(2**22))
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", saved.getvalue())
    assert "over 1000 times as large" in refusal(tmp_path / "bomb.npz").problem


@pytest.mark.parametrize(
    "source, problem, fix",
    [
        ("https://example.org/a.csv", "https://example.org/a.csv is an address", "curl -LO https://example.org/a.csv"),
        ("s3://bucket/a.csv", "s3://bucket/a.csv is an address", "copy it to this machine first"),
        ("~/no such file.csv", "there is no such file", "no such file.csv"),
    ],
)
def test_an_address_and_a_home_folder_are_no_paths(source, problem, fix):
    error = refusal(source)
    assert problem in error.problem
    assert error.fix.endswith(fix) and "~" not in error.fix


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_read(tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes("text,label\nsome wörds,x\nand more,y\n".encode(encoding))
    assert read_source(str(path)).rows == (("some wörds", "x"), ("and more", "y"))
