"""Lines of a label and a text."""

import pytest

from atento.data import read_table


def table(folder, text, **options):
    path = folder / "lines.txt"
    path.write_text(text, encoding="utf-8")
    return read_table(str(path), **options)


def test_fasttext_with_one_and_several_labels(tmp_path):
    read = table(tmp_path, "__label__1 Buyer beware: bad\n__label__x __label__y two, of them\n")
    assert (read.kind, read.columns) == ("lines", ("label", "text"))
    assert read.rows == (("1", "Buyer beware: bad"), ("x\ty", "two, of them"))
    assert read.place(1, 1) == ("lines.txt", 2, 23)


def test_coarse_and_fine(tmp_path):
    read = table(tmp_path, "DESC:manner How did it go ?\nLOC:other Where is it ?\nENTY:other What ?\n")
    assert read.columns == ("coarse", "fine", "text")
    assert read.rows[1:] == (("LOC", "LOC:other", "Where is it ?"), ("ENTY", "ENTY:other", "What ?"))
    assert any("--set data.label=fine" in note for note in read.notes)


def test_a_first_word_that_comes_again_is_a_label(tmp_path):
    lines = [f"{'spam' if at % 3 else 'ham'} text number {at} here" for at in range(40)]
    read = table(tmp_path, "\n".join(lines))
    assert (read.kind, read.rows[0]) == ("lines", ("ham", "text number 0 here"))


@pytest.mark.parametrize("text", ["I saw it.\nI was it.\nYou saw it.\n" * 9, "one\ntwo\n" * 20, "a b c\nd e f\n"])
def test_plain_text_is_left_alone(tmp_path, text):
    assert table(tmp_path, text).kind == "text"


FAULTS = [
    ("__label__a x\n" * 20 + "no label\n", "21:1", "does not begin with a label", "__label__good a text"),
    ("__label__a x\n" * 20 + "__label__b \n__label__a x", "21:12", "no text follows", "__label__good a text"),
    ("AB:c d e\n" * 20 + "AB c d\n", "21:1", "does not begin with a label", "COARSE:fine a text"),
    ("AB:c d e\n" * 20 + "AB:c\n", "21:5", "no text follows", "COARSE:fine a text"),
]


@pytest.mark.parametrize("text, place, problem, fix", FAULTS)
def test_faults_are_named_by_place(tmp_path, text, place, problem, fix):
    read = table(tmp_path, text, bad_rows="skip")
    (refusal,) = read.refused
    assert str(refusal).startswith(f"lines.txt:{place}: ")
    assert problem in refusal.problem
    assert fix in refusal.fix
