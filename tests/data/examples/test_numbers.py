"""Rows of numbers: each bad one is refused at its file, line and column."""

import pytest

from atento.data.examples.numbers import NumberListSource, NumberTarget, PairedNumberTarget
from atento.data.examples.pairs import read_examples
from atento.data.examples.texts import TextSource
from atento.errors import InputError
from atento.spec import DataRecipe


def read_estimates(path, **recipe):
    return read_examples(DataRecipe(**recipe), str(path), NumberListSource(), PairedNumberTarget())


def refusals(path, text):
    path.write_text(text, encoding="utf-8")
    found = read_estimates(path, bad_rows="skip")
    return found, [str(refusal) for refusal in found.refused]


def test_rows_that_are_numbers_stay(tmp_path):
    found, refused = refusals(tmp_path / "a.tsv", "signal\tvalue\n0.5 1 2\t3\n1 2\t-4e-1\n")
    assert refused == []
    assert found.pairs == (("0.5 1 2", "3"), ("1 2", "-4e-1"))
    assert (found.source_column, found.target_column) == ("signal", "value")


def test_a_bad_number_is_named_by_its_column(tmp_path):
    text = "source\ttarget\n0.5 1\t3\n0.5 x\t3\n1 2\tmuch\n1,2 3,4\t5\n7 8\t9\n1 2\t1e31\n"
    found, refused = refusals(tmp_path / "a.tsv", text)
    assert refused == [
        "a.tsv:3:5: step 2 is not a number.",
        "a.tsv:4:5: this is not a number.",
        "a.tsv:5:1: step 1 has 2 channels where 1 are read.",
        "a.tsv:7:5: this number is too large to compute with.",
    ]
    assert found.lines == (2, 6)


def test_a_quoted_cell_is_counted_from_its_quote(tmp_path):
    text = 'signal,value\n"0.5,1 0.2,1",3\n"0.5,1 0.y,1",3\n9,"1,0 z,1"\n'
    _, refused = refusals(tmp_path / "a.csv", text)
    assert refused[0] == "a.csv:3:8: step 2 is not a number."
    assert text.splitlines()[2][7:10] == "0.y"


def test_the_first_bad_row_stops_unless_told(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("1 2\t3\n1 b\t3\n1 c\t3\n")
    with pytest.raises(InputError, match=r"a\.tsv:2:3: step 2 is not a number\.\n  found: 'b' \(1 more bad row"):
        read_estimates(path)
    path.write_text("a b\t3\nc d\t3\n")
    with pytest.raises(InputError, match="none of the 2 rows can be used"):
        read_estimates(path, bad_rows="skip")


def test_a_text_and_the_number_that_varies_most(tmp_path):
    path = tmp_path / "reviews.csv"
    rows = [f"{at},a text of {at} words,{at % 2},{at}.5\n" for at in range(9)]
    path.write_text("id,review,pages,score\n" + "".join(rows) + "9,one more,1,many\n")
    recipe = DataRecipe(target="score", bad_rows="skip")
    read = read_examples(recipe, str(path), TextSource(), NumberTarget())
    assert read.pairs[3] == ("a text of 3 words", "3.5") and len(read.pairs) == 9
    assert [str(one) for one in read.refused] == ["reviews.csv:11:14: this is not a number."]
    path.write_text("review,pages,score\n" + "".join(row.partition(",")[2] for row in rows))
    read = read_examples(DataRecipe(), str(path), TextSource(), NumberTarget())
    assert read.pairs[3] == ("a text of 3 words", "3.5")
    assert "column 'score' holds the number" in read.notes[-1]
    path.write_text("review,title\n" + "".join(f"a text {at},no number\n" for at in range(9)))
    with pytest.raises(InputError, match=r"(?s)no column holds numbers.*data.target"):
        read_examples(DataRecipe(), str(path), TextSource(), NumberTarget())
