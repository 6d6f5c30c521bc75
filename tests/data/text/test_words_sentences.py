"""Sentences are lines; a text of one line is cut where sentences end."""

import pytest

from atento.data.text.words import split_sentences


@pytest.mark.parametrize(
    "text, expected",
    [
        ("one . two\n\n  three! four \n", ["one . two", "three! four"]),
        ("It works. Does it? Yes! And 3.5 is a number.", ["It works.", "Does it?", "Yes!", "And 3.5 is a number."]),
        ('He said "no." Then he left.', ['He said "no.', "Then he left."]),
        ("no end at all", ["no end at all"]),
        ("ACGT", ["ACGT"]),
        ("one line.\n", ["one line."]),
        ("   ", []),
        ("", []),
    ],
)
def test_where_sentences_end(text, expected):
    assert split_sentences(text) == expected
