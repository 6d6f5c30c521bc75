"""`atento recipe`: the recipe that `train` would use, with where every value came from; runs keep the reasons."""

import shutil

import pytest

from atento.spec import keys, read_reasons, read_recipe

DERIVED = "from the training data: "


@pytest.fixture(scope="module")
def table(atento_command, tiny_pairs, tmp_path_factory):
    place = tmp_path_factory.mktemp("recipe")
    done = atento_command.here("recipe", tiny_pairs, "--model", "gru", "--set", "model.hidden=24", cwd=place)
    return place, done


def test_a_file_gives_a_table_of_values_and_reasons(table):
    place, done = table
    assert done.code == 0
    lines = [line.rstrip().split(None, 2) for line in done.out.splitlines()]
    assert lines[0] == ["key", "value", "why"]
    assert ["model.hidden", "24", "set by the user"] in lines
    assert any(line[2].startswith(DERIVED) for line in lines if len(line) == 3)
    assert "other keys have their default; --all shows them" in done.out.splitlines()[-1]
    assert list(place.iterdir()) == [], "nothing is trained and nothing written"


def test_json_gives_every_key(atento_command, tiny_pairs, tmp_path):
    words = ("recipe", tiny_pairs, "--model", "gru", "--set", "model.hidden=24")
    found = atento_command.here(*words, "--json", cwd=tmp_path).document
    assert list(found["recipe"]) == [key.name for key in keys()]
    assert found["recipe"]["model.hidden"] == {"value": 24, "why": "set by the user"}
    assert any(one["why"].startswith(DERIVED) for one in found["recipe"].values())
    shown = atento_command.here(*words, "--all", cwd=tmp_path).out
    assert all(key.name in shown for key in keys())


def test_a_run_keeps_the_reasons_through_a_resume(atento_command, small):
    folder, _ = small
    reasons = read_reasons(folder / "recipe.toml")
    assert any(why.startswith(DERIVED) for why in reasons.values())
    again = folder.parent / "again"
    shutil.copytree(folder, again)
    written = (again / "recipe.toml").read_bytes()
    for name in ("manifest.json", "weights.safetensors"):
        (again / name).unlink()
    done = atento_command.run("train", again / "recipe.toml", "--out", again, "--resume", cwd=folder.parent)
    assert done.code == 0, done.err
    assert (again / "recipe.toml").read_bytes() == written
    assert (again / "weights.safetensors").exists()


def test_a_run_of_its_recipe_keeps_the_reasons(atento_command, small):
    folder, _ = small
    done = atento_command.run("train", folder / "recipe.toml", "--out", "copy", cwd=folder.parent)
    assert done.code == 0, done.err
    assert read_recipe(folder.parent / "copy" / "recipe.toml") == read_recipe(folder / "recipe.toml")
    assert read_reasons(folder.parent / "copy" / "recipe.toml") == read_reasons(folder / "recipe.toml")


def test_a_comparison_hands_the_reasons_to_its_runs(atento_command, tiny_pairs, small_words, tmp_path):
    words = ("compare", tiny_pairs, "--models", "gru", *small_words, "--out", "board")
    assert atento_command.run(*words, cwd=tmp_path).code == 0
    given = tmp_path / "board" / "recipes" / "gru.toml"
    kept = tmp_path / "board" / "gru" / "recipe.toml"
    reasons = read_reasons(given)
    assert any(why.startswith(DERIVED) for why in reasons.values())
    assert "set by the user" in reasons.values() and "default" in reasons.values()
    assert read_reasons(kept) == reasons
