import gzip
import lzma

import pytest

from atento.data.files.opening import read_exact, read_text
from atento.errors import InputError, MachineError, failure_of


def write(folder, name, data):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return str(path)


def refusal(path):
    with pytest.raises(InputError) as caught:
        read_text(path)
    return caught.value


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_with_and_without_mark(tmp_path, encoding):
    text = read_text(write(tmp_path, "pairs.tsv", "¿Qué?\t何\n".encode(encoding)))
    assert text.text == "¿Qué?\t何\n"
    assert text.encoding == encoding.removesuffix("-sig")
    assert text.notes == ()


def test_big_endian_utf16(tmp_path):
    assert read_text(write(tmp_path, "a.txt", b"\xfe\xff\x00a\x00\xf1")).text == "añ"


@pytest.mark.parametrize(
    "encoding, sentence",
    [
        ("cp1252", "El niño está aquí. ¿Quién comió? Where’s Zoë?"),
        ("iso8859-15", "Le cœur coûte 5 € à l'été"),
        ("cp1250", "Wałęsa powiedział, że źródło śpiewa"),
        ("cp1251", "Привет, как дела? Hello"),
        ("cp932", "こんにちは、元気ですか。私は①番の学生です"),
        ("euc_kr", "안녕하세요 세계 여러분"),
        ("gb18030", "你好，世界。我是学生"),
    ],
)
def test_older_encodings_are_found_and_said(tmp_path, encoding, sentence):
    text = read_text(write(tmp_path, "pairs.tsv", f"{sentence}\n".encode(encoding)))
    assert text.text == f"{sentence}\n"
    assert text.notes == (f"pairs.tsv is not UTF-8; read as {encoding}",)


def test_text_in_an_encoding_we_do_not_know_is_read_with_a_warning(tmp_path):
    text = read_text(write(tmp_path, "a.txt", "Καλημέρα κόσμε".encode("cp1253")))
    assert text.encoding == "cp1252"
    assert "its words look odd" in text.notes[0]


def test_no_break_space_and_soft_hyphen_are_text(tmp_path):
    assert read_text(write(tmp_path, "a.txt", b"caf\xe9\xa0au\xadlait")).text == "café\xa0au\xadlait"


def test_damaged_utf8_is_not_taken_for_an_older_encoding(tmp_path):
    error = refusal(write(tmp_path, "pairs.tsv", "año\tyear\r\nniño é\tchild".encode() + b"\xff\n"))
    assert error.problem.startswith("pairs.tsv:2:13: ")
    assert error.found == "the byte 0xff"
    assert "UTF-8" in error.fix


@pytest.mark.parametrize(
    "data, place, byte",
    [
        (b"abc\ndef\0g", "2:4", "0x00"),
        (b"caf\x81 x", "1:4", "0x81"),
        (b"x\ry\r\nz\0", "3:2", "0x00"),
        (b"\xef\xbb\xbfab\0", "1:3", "0x00"),
        (b"\xff\xfea\0\0\0", "1:2", "0x00"),
        (b"\xff\xfea\0b", "1:2", "0x62"),
        (b"a\0\xff", "1:2", "0x00"),
    ],
)
def test_bytes_that_are_no_text(tmp_path, data, place, byte):
    error = refusal(write(tmp_path, "odd.txt", data))
    assert error.problem == f"odd.txt:{place}: this is not text in any encoding we know."
    assert error.found == f"the byte {byte}"
    assert error.fix == "mend that byte, or save the file again as UTF-8"


def test_a_spreadsheet_is_known_by_its_first_bytes(tmp_path):
    assert "save the sheet as CSV" in refusal(write(tmp_path, "a.xlsx", b"PK\x03\x04\x14\0\x06\0")).fix


def test_other_control_characters_are_kept_and_said(tmp_path):
    text = read_text(write(tmp_path, "a.txt", "one\ntw\x08o\n"))
    assert text.text == "one\ntw\x08o\n"
    assert text.notes == ("a.txt:2:3: a control character (0x08) is kept as it is",)


def test_lines_and_composed_characters(tmp_path):
    path = write(tmp_path, "a.txt", "cafe\u0301\r\nb\rc\n")
    assert read_text(path).text == "café\nb\nc\n"
    assert read_exact(path).text == "cafe\u0301\nb\nc\n"


def test_packed_files(tmp_path):
    assert read_text(write(tmp_path, "a.tsv.gz", gzip.compress(b"a\tb\n", mtime=0))).text == "a\tb\n"
    assert read_text(write(tmp_path, "a.tsv.XZ", lzma.compress(b"a\tb\n"))).text == "a\tb\n"


@pytest.mark.parametrize(
    "name, data",
    [
        ("a.gz", b"hello"),
        ("a.gz", gzip.compress(b"a\tb\n" * 99, mtime=0)[:-9]),
        ("a.xz", b"hello"),
        ("a.xz", lzma.compress(b"a\tb\n" * 99)[:-9]),
    ],
)
def test_damaged_archives(tmp_path, name, data):
    error = refusal(write(tmp_path, name, data))
    assert error.problem.endswith(f"{name} cannot be unpacked.")
    assert error.found
    assert "again" in error.fix


@pytest.mark.parametrize(
    "name, data", [("a.tsv", b""), ("a.tsv", b" \n\r\n\t"), ("a.tsv", b"\xef\xbb\xbf"), ("a.gz", b"")]
)
def test_empty_files(tmp_path, name, data):
    error = refusal(write(tmp_path, name, data))
    assert error.problem == f"{name}:1:1: the file is empty."
    assert error.found in ("0 bytes", "5 characters, all of them white space")
    assert "at least one row" in error.fix


def test_missing_file(tmp_path):
    write(tmp_path, "pairs.tsv", "a\tb")
    write(tmp_path, "notes.md", "x")
    write(tmp_path, ".hidden", "x")
    error = refusal(str(tmp_path / "pair.tsv"))
    assert error.problem == f"there is no file {tmp_path / 'pair.tsv'}."
    assert error.found == f"in {tmp_path}: notes.md, pairs.tsv"
    assert error.fix == f"did you mean {tmp_path / 'pairs.tsv'}?"


def test_missing_folder(tmp_path):
    error = refusal(str(tmp_path / "nowhere" / "pair.tsv"))
    assert error.found == f"there is no folder {tmp_path / 'nowhere'} either"


def test_folder_instead_of_a_file(tmp_path):
    write(tmp_path, "pairs.tsv", "a\tb")
    error = refusal(str(tmp_path))
    assert error.problem == f"{tmp_path} is a folder, not a file."
    assert error.found == "in it: pairs.tsv"
    assert error.fix == f"name one file, e.g. {tmp_path / 'pairs.tsv'}"


def test_file_that_may_not_be_read(tmp_path, monkeypatch):
    path = write(tmp_path, "pairs.tsv", "a\tb")

    def denied(self):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.read_bytes", denied)
    with pytest.raises(PermissionError) as caught:
        read_text(path)
    error = failure_of(caught.value)
    assert (type(error), error.found) == (MachineError, "Permission denied")
    assert error.fix == f"give yourself the permission: chmod u+rwX {path}"


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000])
def test_impossible_names(path):
    assert refusal(path).problem.endswith("cannot be read.")


@pytest.mark.parametrize("name, pack", [("bomb.csv.gz", gzip.compress), ("bomb.csv.xz", lzma.compress)])
def test_more_than_a_machine_can_hold_is_not_unpacked(tmp_path, monkeypatch, name, pack):
    monkeypatch.setattr("atento.data.files.opening.MAX_BYTES", 1000)
    (tmp_path / name).write_bytes(pack(b"x" * 1001))
    error = refusal(str(tmp_path / name))
    assert error.problem.endswith("decompresses to more than is read from a compressed file.")
    assert "over 1,000 decompressed" in error.found


def test_archives_of_several_streams_are_read_whole(tmp_path):
    (tmp_path / "two.csv.xz").write_bytes(lzma.compress(b"a,b\n") + lzma.compress(b"c,d\n"))
    (tmp_path / "two.csv.gz").write_bytes(gzip.compress(b"a,b\n") + gzip.compress(b"c,d\n"))
    assert (
        read_exact(str(tmp_path / "two.csv.xz")).text == read_exact(str(tmp_path / "two.csv.gz")).text == "a,b\nc,d\n"
    )
