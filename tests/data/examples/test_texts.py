"""Two texts of each row, with a label or with a third text."""

import pytest

from atento.data.examples.labels import LabelTarget
from atento.data.examples.pairs import read_examples
from atento.data.examples.texts import TextTarget, TwoTextsInOneKey, TwoTextSource, most_varied_text
from atento.errors import InputError
from atento.spec import DataRecipe

ROWS = [
    ("a man eats", "a man dines", "yes"),
    ("a dog runs", "it sleeps here", "no"),
    ("it is day", "it is night", "no"),
]


def read_matches(recipe, path):
    return read_examples(recipe, path, TwoTextSource(), LabelTarget())


def read_rewrites(recipe, path):
    return read_examples(recipe, path, TwoTextsInOneKey(), TextTarget(most_varied_text))


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def table(folder, header, rows, name="t.tsv"):
    return write(folder, name, "\n".join("\t".join(cells) for cells in [header, *rows]))


def test_couples(tmp_path):
    path = table(tmp_path, ("premise", "hypothesis", "label"), ROWS)
    read = read_matches(DataRecipe(), path)
    assert read.pairs[1] == ("a dog runs\tit sleeps here", "no")
    turned = read_matches(DataRecipe(source="hypothesis", target="premise"), path)
    assert turned.pairs[1] == ("it sleeps here\ta dog runs", "no")


@pytest.mark.parametrize("source, target", [("one", ""), ("", "two"), ("one", "two")])
def test_columns_that_are_named_in_part(tmp_path, source, target):
    rows = [(f"x{at}", f"{row[0]} {at}", f"{row[1]} {at}", row[2]) for at, row in enumerate(ROWS * 3)]
    path = table(tmp_path, ("id", "one", "two", "verdict"), rows)
    assert read_matches(DataRecipe(source=source, target=target), path).pairs[0] == (
        "a man eats 0\ta man dines 0",
        "yes",
    )


@pytest.mark.parametrize("row, place", [(("", "b c", "no"), 1), (("b c", "", "no"), 5), (("b c", "d e", ""), 9)])
def test_an_empty_cell_is_named_by_place(tmp_path, row, place):
    path = table(tmp_path, ("sentence1", "sentence2", "label"), [*ROWS, row])
    with pytest.raises(InputError) as caught:
        read_matches(DataRecipe(), path)
    assert caught.value.problem.startswith(f"t.tsv:5:{place}: the column ")


def test_one_text_is_too_few(tmp_path):
    path = table(tmp_path, ("text", "n", "label"), [(f"some text {at}", str(at), "ab"[at % 2]) for at in range(9)])
    with pytest.raises(InputError, match="two columns of text are needed"):
        read_matches(DataRecipe(), path)


DRAFTS = [(f"draft number {at}", f"make it {at} words", f"a text of {at} words", str(at)) for at in range(9)]


@pytest.mark.parametrize("settings", [{}, {"source": "a,b", "target": "c"}, {"source": "a,b"}, {"target": "c"}])
def test_two_texts_and_the_third_that_is_made_of_them(tmp_path, settings):
    path = table(tmp_path, ("a", "b", "c", "n"), DRAFTS)
    read = read_rewrites(DataRecipe(**settings), path)
    assert read.pairs[2] == ("draft number 2\tmake it 2 words", "a text of 2 words")
    assert dict(read.keys) == {"source": "a,b", "target": "c"}
    assert dict(read.roles) == {"a": "first text", "b": "second text", "c": "target"}
    assert any("holds the first text" in note for note in read.notes) is ("source" not in settings)


def test_one_text_is_too_few_to_rewrite(tmp_path):
    path = table(tmp_path, ("a", "n"), [(row[0], row[3]) for row in DRAFTS])
    with pytest.raises(InputError, match=r"(?s)two columns of text are needed.*data.source=FIRST,SECOND"):
        read_rewrites(DataRecipe(), path)
    path = table(tmp_path, ("a", "b", "c", "n"), [*DRAFTS, ("x y", "", "z", "1")])
    with pytest.raises(InputError, match=r"t\.tsv:11:5: the column 'b' is empty here"):
        read_rewrites(DataRecipe(), path)
