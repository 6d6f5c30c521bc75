"""A text and the text that is made of it, in two columns of any file."""

import pytest
from tests.tasks.shapes import SHAPES

from atento.data import read_table
from atento.data.examples.pairs import read_examples
from atento.data.examples.translations import (
    TranslationSource,
    TranslationTarget,
    find_inflection,
    kinship,
    shared_pairs,
)
from atento.errors import InputError
from atento.spec import DataRecipe


def read_pairs(file, *, source_column="", target_column="", bad_rows="stop"):
    recipe = DataRecipe(source=source_column, target=target_column, bad_rows=bad_rows)
    return read_examples(recipe, file, TranslationSource(), TranslationTarget())


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def refusal(path, **options):
    with pytest.raises(InputError) as caught:
        read_pairs(path, **options)
    return caught.value


def test_two_columns(tmp_path):
    read = read_pairs(write(tmp_path, "p.tsv", " Go. \tVe.\u00a0\nA  b\tc\n"))
    assert read.pairs == (("Go.", "Ve."), ("A  b", "c"))
    assert (read.source_column, read.target_column, read.lines) == ("1", "2", (1, 2))
    assert read.notes == ("no header line: columns are named 1 and 2",)


def test_parallel_files(tmp_path):
    source = write(tmp_path, "a.de", "eins\nzwei\n") + "," + write(tmp_path, "a.en", "one\ntwo\n")
    assert read_pairs(source).pairs == (("eins", "one"), ("zwei", "two"))
    turned = read_pairs(source, source_column="en", target_column="1")
    assert turned.pairs == (("one", "eins"), ("two", "zwei"))


@pytest.mark.parametrize(
    "text, columns",
    [
        ("target,source\na b,c d\n", ("source", "target")),
        ("id,tgt,src\n1,a b,c d\n", ("src", "tgt")),
        ("Word,Phones\na,b\n", ("Word", "Phones")),
        ("id,label,en,es\ns1,x,a b,c d\n", ("en", "es")),
        ("score,premise,hypothesis\n1,a b,c d\n", ("premise", "hypothesis")),
    ],
)
def test_columns_by_name_and_kind(tmp_path, text, columns):
    read = read_pairs(write(tmp_path, "p.csv", text))
    assert (read.source_column, read.target_column) == columns


def test_three_columns_and_what_is_said(tmp_path):
    read = read_pairs(write(tmp_path, "p.tsv", "ser\tfue\tV;PST\nir\tva\tV;PRS\n"))
    assert read.pairs == (("ser", "fue"), ("ir", "va"))
    assert read.notes[-1] == (
        "3 columns: source is 1, target is 2, 3 is not used; --set data.source=... chooses others"
    )


def test_asked_columns(tmp_path):
    path = write(tmp_path, "p.csv", "one,two,three\na b,c d,e f\n")
    read = read_pairs(path, source_column="three", target_column="one")
    assert read.pairs == (("e f", "a b"),)
    path = write(tmp_path, "p.tsv", "a\tb\tc\n")
    assert read_pairs(path, source_column="3").pairs == (("c", "a"),)
    assert read_pairs(path, target_column="1").pairs == (("b", "a"),)


def test_unknown_column(tmp_path):
    error = refusal(write(tmp_path, "p.csv", "source,target\na,b\n"), target_column="targets")
    assert error.problem == "p.csv:1: there is no column 'targets'."
    assert error.found == "the columns source and target"
    assert error.fix == "pass --set data.target=target"


@pytest.mark.parametrize("number", ["0", "3"])
def test_unknown_number(tmp_path, number):
    error = refusal(write(tmp_path, "p.tsv", "a\tb\n"), source_column=number)
    assert error.problem == f"p.tsv:1: there is no column '{number}'."
    assert "--set data.source=" in error.fix


def test_a_number_is_no_column_under_a_header(tmp_path):
    error = refusal(write(tmp_path, "p.csv", "source,target\na,b\n"), source_column="1")
    assert error.problem == "p.csv:1: there is no column '1'."


def test_same_column_twice(tmp_path):
    error = refusal(write(tmp_path, "p.tsv", "a\tb\n"), source_column="2", target_column="2")
    assert error.problem == "p.tsv:1: source and target are the same column '2'."
    assert error.fix == "pass --set data.target=1"


def test_one_column(tmp_path):
    error = refusal(write(tmp_path, "p.txt", "Only one.\nAnd one.\n"))
    assert error.problem == "p.txt:1: there is one column, and a pair needs two."
    assert error.found == "the column 'text', e.g. 'Only one.'"
    assert "train.de,train.en" in error.fix


@pytest.mark.parametrize(
    "name, text, place, column",
    [
        ("p.tsv", "a\tb\nxy\t \n", "2:4", "2"),
        ("p.tsv", "a\tb\n\ty\n", "2:1", "1"),
        ("p.csv", 'source,target\n"x\ny",""\na,b\n', "3:4", "target"),
        ("p.jsonl", '{"source": "a", "target": "b"}\n{"source": "a", "target": ""}\n', "2:27", "target"),
        ("p.jsonl", '{"source": "a", "target": "b"}\n{"target": "b", "source":null}\n', "2:26", "source"),
    ],
)
def test_empty_side(tmp_path, name, text, place, column):
    path = write(tmp_path, name, text)
    error = refusal(path)
    assert error.problem == f"{name}:{place}: the column {column!r} is empty here."
    assert error.found in ("''", "' '")
    assert "--set data.bad_rows=skip" in error.fix
    if name != "p.csv":
        read = read_pairs(path, bad_rows="skip")
        assert (len(read.pairs), [f"{r.line}:{r.column}" for r in read.refused]) == (1, [place])


def test_empty_side_of_a_parallel_file_names_that_file(tmp_path):
    source = write(tmp_path, "a.de", "eins\nzwei\n") + "," + write(tmp_path, "a.en", "one\n\n")
    assert refusal(source).problem == "a.en:2:1: the column 'en' is empty here."


def test_the_first_bad_row_stops_whatever_its_kind(tmp_path):
    path = write(tmp_path, "p.tsv", "a\tb\n\tx\nc\ne\tf\n")
    assert refusal(path).problem.startswith("p.tsv:2:1: ")
    read = read_pairs(path, bad_rows="skip")
    assert [refusal.line for refusal in read.refused] == [2, 3]
    assert read.lines == (1, 4)


def test_no_row_left(tmp_path):
    error = refusal(write(tmp_path, "p.tsv", "a\t\n\tb\n"), bad_rows="skip")
    assert error.problem == "p.tsv: none of the 2 rows can be used."
    assert error.found == "first p.tsv:1:3: the column '2' is empty here."


FORMS = "".join(
    f"{stem}ar\t{stem}{end}\tV;{mark}\n"
    for stem in ("am", "cant", "habl", "toc", "mir")
    for end, mark in (("aba", "PST;SG"), ("aban", "PST;PL"), ("a", "PRS;SG"), ("an", "PRS;PL"))
)


@pytest.mark.parametrize("columns", [{}, {"source_column": "1,3", "target_column": "2"}], ids=["guessed", "named"])
def test_a_word_its_form_and_its_features(tmp_path, columns):
    path = tmp_path / "forms"
    path.write_text(FORMS)
    found = read_pairs(str(path), **columns)
    assert found.pairs[:2] == (("amar\tV;PST;SG", "amaba"), ("amar\tV;PST;PL", "amaban"))
    assert len(found.pairs) == 20
    said = any(note.startswith("source is 1 with its features 3, target is 2") for note in found.notes)
    assert said is not bool(columns)


def test_a_column_of_features_that_is_not_there(tmp_path):
    path = tmp_path / "forms.tsv"
    path.write_text("lemma\tform\tfeatures\n" + FORMS)
    assert read_pairs(str(path), source_column="lemma,features").pairs[0] == ("amar\tV;PST;SG", "amaba")
    with pytest.raises(InputError, match="no column 'feature'"):
        read_pairs(str(path), source_column="lemma,feature", target_column="form")


def test_the_columns_are_found_in_either_order(tmp_path):
    table = read_table(SHAPES["translate"]["inflection"](tmp_path))
    assert find_inflection(table) == (0, 1, 2)
    later = read_table(SHAPES["translate"]["inflection, form last"](tmp_path))
    assert find_inflection(later) == (0, 2, 1)
    path = tmp_path / "named.tsv"
    lines = [f"{row[1]}\t{row[2]}\t{row[0]}" for row in table.rows]
    path.write_text("form\tfeatures\tlemma\n" + "\n".join(lines) + "\n")
    assert find_inflection(read_table(str(path))) == (2, 0, 1)


@pytest.mark.parametrize("task, shape", [("label", "numbers and ids"), ("match", "premise"), ("classify", "bars")])
def test_other_tables_have_none(task, shape, tmp_path):
    assert find_inflection(read_table(SHAPES[task][shape](tmp_path))) is None


def test_kinship_by_hand():
    assert shared_pairs("cantar", "cantado") == 4 / 5  # of ca an nt ta ar all but ar
    assert shared_pairs("a", "a") == 1
    assert kinship(["cantar", ""], ["xyz", "b"]) == 0
    assert kinship([], []) == 0
