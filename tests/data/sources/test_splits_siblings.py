"""Files beside a training file become its parts, where they are of its kind."""

import pytest

from atento.data.sources.splits import find_splits
from atento.spec import DataRecipe

TRAIN = "text\tlabel\n" + "".join(f"text {n}\t{n % 2}\n" for n in range(30))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "train.tsv").write_text(TRAIN, encoding="utf-8")
    (tmp_path / "dev.tsv").write_text(TRAIN, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("whole", [True, False])
def test_a_folder_and_its_training_file_give_the_same(folder, whole):
    train = str(folder / "train.tsv")
    found, notes = find_splits(DataRecipe(train=str(folder) if whole else train))
    assert found == ({"data.train": train} if whole else {}) | {"data.valid": str(folder / "dev.tsv")}
    assert notes[-1] == "dev.tsv beside it is data.valid; --set data.siblings=no leaves it aside"


def test_what_the_user_says_wins(folder):
    assert find_splits(DataRecipe(train=str(folder / "train.tsv"), valid="mine.tsv")) == ({}, [])
    assert find_splits(DataRecipe(train=str(folder / "train.tsv"), siblings="no")) == ({}, [])
    found, _ = find_splits(DataRecipe(train=str(folder), siblings="no"))
    assert list(found) == ["data.train"]


@pytest.mark.parametrize(
    "text, why",
    [
        ("id\ttext\n" + "1\tx y z\n" * 20, "it has no column 'label'"),
        ("text\n" + "x y z\n" * 20, "it has no column 'label'"),
        (" \n", "test.tsv:1:1: the file is empty."),
    ],
)
def test_a_file_of_other_columns_is_left_aside_and_said(folder, text, why):
    (folder / "test.tsv").write_text(text, encoding="utf-8")
    found, notes = find_splits(DataRecipe(train=str(folder / "train.tsv")))
    assert "data.test" not in found
    assert any(note.startswith("test.tsv beside it is not taken as data.test: ") and why in note for note in notes)


def test_only_the_beginning_of_a_large_file_is_looked_at(folder, monkeypatch):
    (folder / "test.tsv").write_text(TRAIN + "text\tlabel\n" * 30_000, encoding="utf-8")
    found, _ = find_splits(DataRecipe(train=str(folder / "train.tsv")))
    assert found["data.test"] == str(folder / "test.tsv")
