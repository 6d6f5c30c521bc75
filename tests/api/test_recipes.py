"""What a user typed becomes a whole recipe."""

import pytest

import atento
from atento.api.prepare import assemble, gather_values
from atento.spec import keys, read_recipe

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
    assert "test.tsv beside it is data.test; --set data.siblings=no leaves it aside" in notes


def test_what_the_user_names_wins(folder):
    _, recipe, _ = assembled(str(folder / "train.tsv"), **{"data.valid": str(folder / "test.tsv")})
    assert recipe.data.valid == str(folder / "test.tsv")
    _, recipe, _ = assembled(str(folder / "train.tsv"), **{"data.siblings": "no"})
    assert (recipe.data.valid, recipe.data.test) == ("", "")


PAIRS = "".join(f"{n:04d}\t{n:04d}"[::-1] + "\n" for n in range(200))


@pytest.fixture
def pairs(tmp_path):
    (tmp_path / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    return tmp_path / "pairs.tsv"


def test_every_value_says_where_it_came_from(pairs):
    found = atento.recipe(pairs, task="translate", model="gru", settings={"model.hidden": 24}, budget="30s")
    values = found.values()
    assert set(values) == {key.name for key in keys()}
    assert all(one.why for one in values.values())
    assert values["model.hidden"] == (24, "set by the user")
    assert values["train.budget"] == (30.0, "set by the user")
    assert values["decode.length_penalty"].why == "default"
    assert any(one.why == "translate default for gru" for one in values.values())
    derived = {key: one for key, one in values.items() if one.why.startswith("from the training data: ")}
    assert derived and all("examples" in one.why for one in derived.values())
    assert all(found.recipe.flat()[key] == one.value for key, one in derived.items())
    assert not any(one.why == "default" for one in found.chosen().values())
    assert found.to_json()["recipe"]["model.hidden"] == {"value": 24, "why": "set by the user"}


def test_reasons_are_read_back_from_a_recipe_file(pairs, tmp_path):
    first = atento.recipe(pairs, task="translate", model="gru", settings={"model.hidden": 24})
    path = tmp_path / "recipe.toml"
    path.write_text(first.recipe.to_toml(), encoding="utf-8")
    assert read_recipe(path) == first.recipe
    again = atento.recipe(path, settings={"model.dropout": 0.45})
    changed = {key for key, one in again.values().items() if one != first.values()[key]}
    assert changed == {"model.dropout"}
    assert again.values()["model.dropout"] == (0.45, "set by the user")


def test_a_recipe_file_without_reasons_is_the_reason(pairs, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(f'task = "translate"\n[data]\ntrain = "{pairs}"\n[model]\nhidden = 40\n', encoding="utf-8")
    assert atento.recipe(path).values()["model.hidden"] == (40, "in mine.toml")
