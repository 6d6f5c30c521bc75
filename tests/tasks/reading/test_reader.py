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
