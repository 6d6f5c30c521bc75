"""Training rows that say what a held-out row asks are left out or counted; rows that contradict another, when asked."""

import pytest

from atento.errors import InputError
from atento.spec import DataRecipe
from atento.tasks.reading.reader import TrainFilter, refuse_of_large
from atento.tasks.reading.text import LABELLED

HELD_OUT = ["Who was Galileo the man?", "Go!"]
ROWS = [
    ("Who was Galileo the man?", "HUM"),  # a copy
    ("who was galileo, the man", "HUM"),  # nearly
    ("go", "DESC"),  # too short to be judged
    ("what is an atom", "DESC"),
    ("what is an atom", "ENTY"),  # says otherwise
    ("what is an atom", "DESC"),
]


def sifted(**keys):
    leak_filter = TrainFilter(DataRecipe(**keys), HELD_OUT)
    return [at for at, row in enumerate(ROWS) if leak_filter.keeps(row)], leak_filter.notes()


@pytest.mark.spec("X04")
def test_copies_are_always_left_out_and_near_ones_counted():
    kept, notes = sifted()
    assert kept == [1, 2, 3, 4, 5]
    assert notes == [
        "1 training rows left out: their source is also in validation or test",
        "1 training rows are near-duplicates of validation or test rows: they differ in case, spaces and punctuation "
        "alone; "
        "--set data.near_duplicates=drop leaves them out",
    ]


@pytest.mark.spec("X04")
def test_near_ones_are_left_out_when_asked():
    kept, notes = sifted(near_duplicates="drop")
    assert kept == [2, 3, 4, 5]
    assert (
        notes[1] == "1 training rows left out: they are near-duplicates of validation or test rows and differ in case, "
        "spaces and punctuation alone"
    )


def test_what_is_said_first_stays():
    kept, notes = sifted(conflicts="first")
    assert kept == [1, 2, 3, 5]
    assert notes[-1] == "1 training rows left out: an earlier row says otherwise"
    assert TrainFilter(DataRecipe(), []).notes() == []


@pytest.mark.spec("X04")
def test_a_test_row_planted_in_training_does_not_survive_reading(tmp_path):
    train, test = tmp_path / "train.tsv", tmp_path / "held.tsv"
    rows = [f"some words about number {n}\t{'odd' if n % 2 else 'even'}\n" for n in range(60)]
    test.write_text("".join(rows[:10]))
    train.write_text("".join(rows[10:]) + rows[3] + "SOME words about, number 4.\teven\n")
    recipe = DataRecipe(train=str(train), test=str(test), split="90/10/0")
    read = LABELLED.read(recipe, 0)
    asked = {question.source for question in read.test}
    assert len(asked) == 10
    assert not asked & {source for source, _ in read.train}
    assert sum("SOME words" in source for source, _ in read.train) == 1
    assert any("--set data.near_duplicates=drop" in note for note in read.notes)
    clean = LABELLED.read(recipe.model_copy(update={"near_duplicates": "drop"}), 0)
    assert not any("SOME words" in source for source, _ in clean.train)
    assert len(clean.train) == len(read.train) - 1


@pytest.mark.parametrize("keys", [{"near_duplicates": "drop"}, {"conflicts": "first"}])
def test_a_file_too_large_is_not_sifted_in_silence(keys):
    refuse_of_large(DataRecipe(train="huge.jsonl"))
    with pytest.raises(InputError, match=r"huge.jsonl is too large for it"):
        refuse_of_large(DataRecipe(train="huge.jsonl", **keys))


def parts_of(tmp_path, parts, **settings):
    """How many rows each part has, and the notes, of a file with a column that names the parts."""
    path = tmp_path / "reviews.csv"
    rows = [f"{part},text number {at} of many,{'pos' if at % 2 else 'neg'}\n" for at, part in enumerate(parts)]
    path.write_text("split,text,label\n" + "".join(rows), encoding="utf-8")
    read = LABELLED.read(DataRecipe(train=str(path), **settings), seed=0)
    return (len(read.train), len(read.valid), len(read.test)), " ".join(read.notes)


def test_a_column_that_names_the_parts_is_followed(tmp_path):
    counts, notes = parts_of(tmp_path, ["Train", "train", "train", "dev", "test"] * 20)
    assert counts == (60, 20, 20)
    assert "column 'split' says the part of each row; --set data.siblings=no leaves it aside" in notes


def test_without_validation_rows_in_the_column_the_training_rows_give_some(tmp_path):
    counts, _ = parts_of(tmp_path, ["train", "train", "train", "test"] * 20)
    assert counts[0] + counts[1] == 60 and counts[1] > 0 and counts[2] == 20


def test_a_column_of_parts_is_left_aside_when_asked(tmp_path):
    parts = ["train", "train", "train", "dev", "test"] * 20
    assert parts_of(tmp_path, parts, siblings="no")[0] == (90, 5, 5)
    counts, notes = parts_of(tmp_path, parts, split="80/10/10")
    assert counts == (80, 10, 10) and "data.split=80/10/10 deals the rows out" in notes


def test_other_words_in_the_column_are_no_parts(tmp_path):
    assert parts_of(tmp_path, ["train", "bus", "test", "ship"] * 20)[0] == (72, 4, 4)
