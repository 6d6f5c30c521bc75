import gzip

import pytest

from atento.data.files.opening import split_paths
from atento.data.tables.parallel import read_parallel
from atento.errors import InputError


def write(folder, name, text):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_two_files_in_step(tmp_path):
    paths = [write(tmp_path, "a.de", "Hallo.\nTschüss.\n"), write(tmp_path, "a.en.gz", gzip.compress(b"Hello.\nBye."))]
    table = read_parallel(paths)
    assert table.columns == ("de", "en")
    assert table.rows == (("Hallo.", "Hello."), ("Tschüss.", "Bye."))
    assert (table.file, table.kind, table.header) == ("a.de,a.en.gz", "parallel", False)
    assert table.place(1, 1) == ("a.en.gz", 2, 1)
    assert table.notes == ("2 parallel files: columns are named de and en",)


def test_tabs_and_quotes_are_text(tmp_path):
    assert read_parallel([write(tmp_path, "a.x", 'a\t"b\n'), write(tmp_path, "a.y", "c,d\n")]).rows == (
        ('a\t"b', "c,d"),
    )


def test_equal_endings_give_numbers(tmp_path):
    paths = [write(tmp_path, "a.txt", "a"), write(tmp_path, "b.txt", "b")]
    assert read_parallel(paths).columns == ("1", "2")


@pytest.mark.parametrize("short", ["a\nb\n", "a\nb"])
def test_unequal_lengths(tmp_path, short):
    paths = [write(tmp_path, "a.de", short), write(tmp_path, "a.en", "x\ny\nz\n")]
    with pytest.raises(InputError) as caught:
        read_parallel(paths)
    assert caught.value.problem == "a.de:3:1: the files do not have the same number of lines."
    assert caught.value.found == "a.de has 2 lines and a.en has 3 lines; from line 3 on a.de has none"
    assert "a.de lacks" in caught.value.fix


def test_blank_ends_do_not_count_but_a_blank_last_line_does(tmp_path):
    table = read_parallel([write(tmp_path, "a.de", "a\nb\n\n\n"), write(tmp_path, "a.en", "x\ny")])
    assert table.rows == (("a", "x"), ("b", "y"))
    table = read_parallel([write(tmp_path, "a.de", "a\n\n"), write(tmp_path, "a.en", "x\ny\n")])
    assert table.rows == (("a", "x"), ("", "y"))


def test_a_line_blank_in_every_file_is_refused(tmp_path):
    paths = [write(tmp_path, "a.de", "a\n\nc\n"), write(tmp_path, "a.en", "x\n \nz\n")]
    table = read_parallel(paths)
    assert (table.lines, [str(refusal) for refusal in table.refused]) == ((1, 3), ["a.de:2:1: the line is blank."])


def test_one_path_or_two(tmp_path):
    assert split_paths("a.de,a.en") == ["a.de", "a.en"]
    assert split_paths("a.de, a.en") == ["a.de", "a.en"]
    assert split_paths("pairs.tsv") == ["pairs.tsv"]
    whole = write(tmp_path, "a,b.tsv", "a\tb\n")
    assert split_paths(whole) == [whole]


def test_a_missing_name(tmp_path):
    with pytest.raises(InputError) as caught:
        split_paths("a.de,")
    assert caught.value.found == "a.de, nothing"
    assert "train.de,train.en" in caught.value.fix


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        read_parallel([write(tmp_path, "a.de", "a"), str(tmp_path / "a.en")])


def test_the_place_inside_of_the_last_cell(tmp_path):
    table = read_parallel([write(tmp_path, "a.de", "eins\nzwei\n"), write(tmp_path, "a.en", "one\ntwo\n")])
    assert [tuple(table.place_inside(1, column, 2)) for column in (0, 1)] == [("a.de", 2, 3), ("a.en", 2, 3)]
