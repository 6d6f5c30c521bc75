"""Sentences of one word a line."""

import pytest

from atento.data import read_table

TABBED = "The\tDET\ncat\tNOUN\n\n# 1\nIt\tPRON\n\n"


def table(folder, name, text, **options):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_table(str(path), **options)


def test_words_and_tags(tmp_path):
    read = table(tmp_path, "a.conll", "#\tO\nThe\tO\ncat\tB-x\n\n\n#tag\tO\n!\tO\n\ufeff\n")
    assert read.columns == ("words", "tags")
    assert read.rows == (("#\tThe\tcat", "O\tO\tB-x"), ("#tag\t!", "O\tO"))
    assert (read.kind, read.lines, read.header) == ("conll", (1, 6), False)


def test_any_white_space_is_a_blank_line(tmp_path):
    read = table(tmp_path, "a.conll", "a X\n\u2028\nb Y\n \u3000\nc X\n")
    assert [row[0] for row in read.rows] == ["a", "b", "c"]


def test_spaces_documents_and_more_columns(tmp_path):
    sentence = "EU NNP B-NP B-ORG\nrejects VBZ B-VP O\na DT B-NP O\ncall NN I-NP O\n"
    text = f"-DOCSTART- -X- -X- O\n\n{sentence}\nPeter NNP B-NP B-PER\nBlackburn  NNP I-NP I-PER\n"
    read = table(tmp_path, "eng.txt", text)
    assert read.columns == ("words", "2", "3", "tags")
    assert read.rows[1] == ("Peter\tBlackburn", "NNP\tNNP", "B-NP\tI-NP", "B-PER\tI-PER")
    assert read.notes[0] == "eng.txt is read as one word per line (CoNLL)"


def test_counted_words_and_comments(tmp_path):
    text = "# id = 7\n1\tEine\tO\tO\n2\tStadt\tB-LOC\tO\n\n# http://somewhere [2009]\n1\tUnd\tO\tO\n"
    read = table(tmp_path, "g.conll", text)
    assert read.columns == ("words", "tags", "3")  # the second layer of tags is empty
    assert read.rows == (("Eine\tStadt", "O\tB-LOC", "O\tO"), ("Und", "O", "O"))


UNIVERSAL = """\
# sent_id = 1
# text = vámonos al mar
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tvamos\tir\tVERB\t_\tMood=Imp\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_
2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_
3\tmar\tmar\tNOUN\tNN\tGender=Masc|Number=Sing\t1\tobl\t_\t_

1\t007\t007\tNUM\t_\t_\t0\troot\t_\t_
"""


def test_universal_dependencies(tmp_path):
    read = table(tmp_path, "es-ud-train.conllu", UNIVERSAL)
    assert read.columns == ("form", "lemma", "upos", "xpos", "feats", "deprel")
    assert read.rows[0][:3] == ("vamos\tnos\tmar", "ir\tnosotros\tmar", "VERB\tPRON\tNOUN")
    assert read.rows[0][4] == "Mood=Imp\t_\tGender=Masc|Number=Sing"
    assert (read.rows[1][0], read.lines) == ("007", (4, 9))
    assert "2 lines with ids such as 3-4 or 3.1 left out: the words they stand for are read" in read.notes
    assert read.place(0, 2) == ("es-ud-train.conllu", 4, 12)


FAULTS = [
    ("a.conll", "a\tX\nb\n\nc\tY\n", "2:2", "1 field where 2 are expected.", "add what is missing after a tab"),
    ("a.conll", "a\tX\n\nc\tY\nd\tX\tz\n", "4:5", "3 fields where 2 are expected.", "remove the surplus tab"),
    ("a.conll", "a\tX\n\tY\nc\tX\n", "2:1", "field 1 is empty.", "write what is missing"),
    ("a.conll", "a\tX\nb\t \n\nc\tX\n", "2:3", "field 2 is empty.", "write what is missing"),
    ("a.conll", "a X\nb Y\n\nc X\nd Y\n\ne  X  Z\nf Y\n", "7:7", "3 fields where 2", "remove the surplus space"),
    ("a.conllu", UNIVERSAL.replace("2\tnos", "4\tnos"), "5:1", "word 2 is expected here.", "number the words"),
    ("a.conllu", UNIVERSAL.replace("3\tmar\tmar", "3\t\tmar"), "7:3", "field 2 is empty.", "write _ for nothing"),
    ("a.conllu", UNIVERSAL.replace("obj\t_\t_", "obj\t_"), "5:32", "9 fields where 10", "add what is missing"),
    ("a.conllu", UNIVERSAL.replace("3\tmar", "x\tmar"), "7:1", "this is no word id.", "3-4 or 3.1"),
]


@pytest.mark.parametrize("name, text, place, problem, fix", FAULTS)
def test_a_broken_line_refuses_its_sentence_by_place(tmp_path, name, text, place, problem, fix):
    read = table(tmp_path, name, text, bad_rows="skip")
    (refusal,) = read.refused
    assert str(refusal).startswith(f"{name}:{place}: ")
    assert problem in refusal.problem
    assert fix in refusal.fix
    assert len(read.rows) + 1 == len(text.strip().split("\n\n"))


def test_a_table_with_blank_lines_stays_a_table(tmp_path):
    assert table(tmp_path, "p.tsv", "Hund\tdog\n\nKatze\tcat\nMaus\tmouse\n", bad_rows="skip").kind == "tsv"
