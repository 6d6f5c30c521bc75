"""What a user typed becomes a whole recipe."""

import pytest

from atento.api.recipes import assemble, gather_values

ROWS = "text\tlabel\n" + "".join(f"text number {n}\t{'good' if n % 2 else 'bad'}\n" for n in range(40))


@pytest.fixture
def folder(tmp_path):
    for name in ("train.tsv", "dev.tsv", "test.tsv"):
        (tmp_path / name).write_text(ROWS, encoding="utf-8")
    return tmp_path


def assembled(source, **settings):
    return assemble(gather_values(source, task="auto", model="auto", settings=settings, seed=None, budget=None))


@pytest.mark.parametrize("name", ["", "train.tsv"])
def test_parts_beside_a_training_file_are_in_the_recipe(folder, name):
    task, recipe, notes = assembled(str(folder / name))
    assert task.name == "classify"
    data = recipe.data
    assert [data.train, data.valid, data.test] == [str(folder / part) for part in ("train.tsv", "dev.tsv", "test.tsv")]
    assert "test.tsv beside it is data.test; --set data.beside=no leaves it aside" in notes


def test_what_the_user_names_wins(folder):
    _, recipe, _ = assembled(str(folder / "train.tsv"), **{"data.valid": str(folder / "test.tsv")})
    assert recipe.data.valid == str(folder / "test.tsv")
    _, recipe, _ = assembled(str(folder / "train.tsv"), **{"data.beside": "no"})
    assert (recipe.data.valid, recipe.data.test) == ("", "")
