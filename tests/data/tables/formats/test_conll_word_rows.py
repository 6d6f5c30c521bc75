"""Tables of one word a row."""

import pytest

from atento.data import read_table
from atento.errors import InputError
from atento.spec import DataRecipe
from atento.tasks.reading.text import TAGGED


def write(folder, name, lines):
    path = folder / name
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


FIRST = ["Sentence #,Word,POS,Tag", "Sentence: 1,Thousands,NNS,O", ",of,IN,O", ",Londoners,NNS,B-gpe"]
SECOND = ["Sentence: 2,They,PRP,O", ",marched,VBD,O"]


def test_a_sentence_named_at_its_first_word(tmp_path):
    read = TAGGED.rows(DataRecipe(), write(tmp_path, "ner.csv", [*FIRST, *SECOND]))
    assert read.pairs == (("Thousands\tof\tLondoners", "O\tO\tB-gpe"), ("They\tmarched", "O\tO"))
    assert (read.table.kind, read.lines) == ("conll", (2, 5))
    assert "each row is a word; column 'Sentence #' separates 2 sentences" in read.notes
    assert TAGGED.rows(DataRecipe(label="POS"), write(tmp_path, "ner.csv", FIRST)).pairs[0][1] == "NNS\tIN\tNNS"


def test_a_sentence_named_at_every_word(tmp_path):
    lines = ["sentence_id\ttoken\ttag", "7\tNA\tX", "7\t007\tY", "8\tLa\tX", "8\tcasa\tY"]
    assert TAGGED.rows(DataRecipe(), write(tmp_path, "t.tsv", lines)).pairs == (
        ("NA\t007", "X\tY"),
        ("La\tcasa", "X\tY"),
    )


def test_a_missing_word_is_named_by_place(tmp_path):
    path = write(tmp_path, "ner.csv", [*FIRST, "Sentence: 2,They,PRP,O", ",,VBD,O"])
    with pytest.raises(InputError, match=r"ner\.csv:6:2: there is no word here"):
        TAGGED.rows(DataRecipe(), path)
    read = TAGGED.rows(DataRecipe(bad_rows="skip"), path)
    assert (len(read.pairs), len(read.refused)) == (1, 1)


def test_a_column_of_sentences_is_none(tmp_path):
    lines = ["sentence,word,label", *(f"a text number {n},w{n},{n % 2}" for n in range(9))]
    assert read_table(write(tmp_path, "t.csv", lines)).kind == "csv"
