"""Kinds of files told by their lines."""

import pytest

from atento.data.tables.sniffing import delimiter_of, kind_by_content, line_format
from atento.data.tables.table import read_table


@pytest.mark.parametrize(
    "text, kind",
    [
        ("-DOCSTART- -X- O\n\nEU NNP B-ORG\n", "conll"),
        ("a\tX\nb\tY\n\nc\tX\nd\tX\ne\tY\n", "conll"),
        ("1\tx\tx\tX\t_\t_\t0\troot\t_\t_\n", "conllu"),
        ("__label__a x\n__label__b y\n", "fasttext"),
        ("AB:c what is it\nDE:f who is it\n", "trec"),
        ("pos: it is good\nneg: it is bad\n" * 30 + "pos: one\nneg: two\n", None),  # the same two lines again and again
        ("".join(f"{'01'[n % 2]} text {n}\n" for n in range(60)), "labelled"),
        ("a b\nc d\n\ne f\n", None),
        ("Hund\tdog\n\nKatze\tcat\n", None),
        ("He: one two three\nShe: four five six\n", None),
        ("", None),
    ],
)
def test_kinds(text, kind):
    assert line_format(text.split("\n")) == kind


@pytest.mark.parametrize(
    "line, delimiter",
    [
        ("{} ::: a film ::: drama ::: a text, with commas; and more", ":::"),
        ("a sentence {}, one ||| otra frase {}, dos", "|||"),
        ("{}::1193::5::978300760", "::"),
        ("{},std::sort,a text", ","),  # of one column
        ("{};a||b;a text", ";"),
    ],
)
def test_delimiters_of_several_signs(line, delimiter):
    text = "".join(line.format(at, at) + "\n" for at in range(30))
    assert (kind_by_content(text), delimiter_of(text)) == ("csv", delimiter)


def test_ten_columns_with_a_number_first_are_no_universal_dependencies():
    rows = [
        "\t".join([str(at), *["news", "none", "none", "old", "one"], f"({at})", "a text", "another", "x"])
        for at in range(20)
    ]
    assert kind_by_content("\n".join(rows)) == "tsv"


@pytest.mark.parametrize(
    "text, first", [('"one\ntwo"\ta\nb\tc\n', "one\ntwo"), ('"one" said\ta\n"two\tb\n', '"one" said')]
)
def test_quotes_over_lines_in_tsv_only_where_rows_then_have_as_many_cells(tmp_path, text, first):
    (tmp_path / "t.tsv").write_text(text)
    rows = read_table(str(tmp_path / "t.tsv"), header="no").rows
    assert (len(rows), rows[0][0]) == (2, first)
