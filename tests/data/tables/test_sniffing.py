"""Kinds of files told by their lines."""

import pytest

from atento.data.tables.sniffing import line_format


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
