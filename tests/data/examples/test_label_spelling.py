"""Labels that are spelled differently but mean the same."""

import pytest

from atento.api.inspect import inspect
from atento.data.examples.label_spelling import plain_label, spellings
from atento.spec import DataRecipe
from atento.tasks.reading.text import LABEL_SETS, LABELLED


@pytest.mark.parametrize(
    "label, plain",
    [
        ("Positivo", "positivo"),
        (" NOT  bad\xa0", "not bad"),
        ("café\u200b", "café"),
        ("1.0", "1"),
        ("1.5", "1.5"),
        ("ｙｅｓ", "yes"),
        ("👩\u200d💻", "👩\u200d💻"),
    ],
)
def test_plain_labels(label, plain):
    assert plain_label(label) == plain


def test_spellings_of_one_label_stand_together_the_commonest_first():
    assert spellings(["b", "A", "a", "a", "c", "B"]) == [["a", "A"], ["b", "B"]]


@pytest.fixture
def reviews(tmp_path):
    labels = ["Good"] * 30 + ["good"] * 2 + ["BAD"] * 30 + ["bad "] * 2
    rows = "".join(f"a text of words {at},{label}\n" for at, label in enumerate(labels))
    path = tmp_path / "reviews.csv"
    path.write_text(f"text,label\n{rows}")
    return str(path)


def test_they_are_pointed_out_with_the_key_that_merges_them_and_never_merged_in_silence(reviews):
    found = inspect(reviews)
    assert {entry["label"] for entry in found.labels} == {"Good", "good", "BAD", "bad"}
    assert "one of 4 labels" in found.guesses["classify"].reason
    (problem,) = [problem for problem in found.problems if problem.about == "labels"]  # none says that they are rare
    assert "'Good' (30) and 'good' (2); 'BAD' (30) and 'bad' (2)" in problem.where
    assert problem.command.endswith("--set data.merge_labels=case")
    merged = inspect(reviews, settings=["data.merge_labels=case"])
    assert {entry["label"]: entry["count"] for entry in merged.labels} == {"good": 32, "bad": 32}
    assert not [problem for problem in merged.problems if problem.about == "labels"]
    assert all("--set data.merge_labels=case" in command for command in merged.next)


def test_several_labels_in_a_cell_are_merged_too(tmp_path):
    path = tmp_path / "l.csv"
    rows = (f'text {at},"Food, room"\ntext b {at},"food, Staff"\n' for at in range(20))
    path.write_text("text,labels\n" + "".join(rows))
    pairs = LABEL_SETS.rows(DataRecipe(merge_labels="case", separator="comma"), str(path)).pairs
    assert {label for _, target in pairs for label in target.split("\t")} == {"food", "room", "staff"}
    assert LABELLED.rows(DataRecipe(), str(path)).pairs[0][1] == "Food, room"
