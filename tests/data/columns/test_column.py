import pytest

from atento.data.columns.column import describe_column


@pytest.mark.parametrize(
    "cells, wordless",
    [
        (["2016-07-01 00:00:00", "2016-07-01 01:00:00"], True),
        (["1749-01", "1749-02"], True),
        (["3/5/98", "30.12.2001"], True),
        (["2020-01-01T10:00:00Z", "2020-01-01T10:00:00+02:00"], True),
        (["http://x.org/1", "www.x.org", "/data/of/a/file.txt"], True),
        (["1.5", "2,5", "-3e4"], True),
        (["0.1 0.2", "3 4 5"], True),
        (["in 2016", "see www.x.org", "half / half"], False),
        (["a", "b"], False),
        ([], False),
    ],
)
def test_numbers_dates_and_links_are_no_words(cells, wordless):
    assert describe_column("x", cells).is_not_text == wordless


def test_facts_by_hand():
    column = describe_column("x", ["a b", "", "a b", "c\td"])
    assert (column.distinct, column.share_distinct, column.share_empty) == (2, 0.5, 0.25)
    assert (column.mean_characters, column.max_characters, column.mean_words) == (3, 3, 2)
    assert column.share_lists == pytest.approx(1 / 3)
    assert column.examples == ("a b", "c\td")


@pytest.mark.parametrize(
    "name, cells, aside",
    [
        ("x", ["1", "2", "7"], True),
        ("x", ["3", "1", "2"], False),
        ("x", ["3.25", "1.50", "2.75"], False),
        ("id", ["3", "1", "2"], True),
        ("x", ["same", "same"], True),
        ("x", ["2020-01-01", "2020-01-03"], True),
        ("x", ["some text", "other text"], False),
    ],
)
def test_columns_that_only_tell_rows_apart(name, cells, aside):
    assert describe_column(name, cells).is_metadata == aside


def test_names_of_one_size():
    assert describe_column("x", ["eebbqej", "ed00q6i", "eezlygj"]).is_identifier
    assert not describe_column("x", ["eebbqej", "ed00q6i", "eebbqej"]).is_identifier
    assert not describe_column("x", ["anna1", "bert"]).is_identifier
    assert not describe_column("x", ["anna", "bert"]).is_identifier, "words of one length have no digits"


@pytest.mark.parametrize("cell", ["0x1F", "12:30", "1_000", "9.50 CR", "2021. 03. 08."])
def test_figures_are_no_text(cell):
    found = describe_column("y", [cell] * 9)
    assert found.is_not_text and found.share_sequences == 0
    assert not describe_column("y", ["a word", "two words", "3 more words"]).is_not_text
