"""Recipes: frozen, validated, the same in TOML, on the command line and in Python."""

import re

import pytest
from pydantic import ValidationError

from atento.errors import InputError
from atento.spec import Recipe, keys, parse_duration, parse_settings, read_recipe, read_values, require_key
from atento.spec.recipe import accepted, flatten, validate
from atento.spec.renamed import RENAMED

CHANGED = {
    "task": "translate",
    "data.train": 'a "quoted" näme.tsv',
    "data.bad_rows": 0.02,
    "tokens.source": "subword",
    "model.hidden": 256,
    "model.dropout": 0.25,
    "train.lr": 3e-4,
    "train.budget": 90.0,
    "decode.beam": 5,
}


def refusal(call, *arguments, **options):
    with pytest.raises(InputError) as caught:
        call(*arguments, **options)
    return caught.value


@pytest.mark.parametrize("values", [{}, CHANGED])
def test_toml_and_back(tmp_path, values):
    recipe = Recipe().with_values(values)
    path = tmp_path / "recipe.toml"
    path.write_text(recipe.to_toml(), encoding="utf-8")
    assert read_recipe(path) == recipe
    assert read_values(path) == recipe.flat()
    assert {key: recipe.flat()[key] for key in values} == values


def test_what_a_recipe_leaves_out_has_its_default(tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_text("[model]\nhidden = 64\n")
    assert read_recipe(path) == Recipe().with_values({"model.hidden": 64})
    assert read_values(path) == {"model.hidden": 64}


def test_a_recipe_is_frozen():
    recipe = Recipe()
    for change in (lambda: setattr(recipe, "task", "x"), lambda: setattr(recipe.model, "hidden", 3)):
        with pytest.raises(ValidationError, match="frozen"):
            change()
    changed = recipe.with_values({"model.hidden": 64})
    assert (recipe.model.hidden, changed.model.hidden) == (128, 64)
    assert changed.train == recipe.train


def test_words_of_the_command_line_become_values():
    values = parse_settings(["model.hidden=256", "train.lr = 1e-3", "data.train=a=b.tsv", "train.budget=1.5m"])
    assert values["data.train"] == "a=b.tsv"
    recipe = Recipe().with_values(values)
    assert (recipe.model.hidden, recipe.train.lr, recipe.train.budget) == (256, 1e-3, 90.0)


def test_the_schema_names_every_key_with_its_meaning():
    rows = {key.name: key for key in keys()}
    assert set(rows) == set(Recipe().flat())
    assert all(key.description for key in rows.values())
    assert {name: key.default for name, key in rows.items()} == Recipe().flat()
    assert rows["model.hidden"].kind == "int"
    assert rows["data.bad_rows"].kind == "float"
    promised = (
        "data.train data.valid data.test data.source data.target data.split data.bad_rows model.hidden model.layers "
        "model.heads model.dropout train.steps train.epochs train.lr train.batch_tokens train.warmup "
        "train.checkpoint_every train.seed train.precision decode.beam"
    )
    assert set(promised.split()) <= set(rows)


@pytest.mark.parametrize(
    "asked, meant",
    [
        ("model.hiden", "model.hidden"),
        ("hidden", "model.hidden"),
        ("train.hidden", "model.hidden"),
        ("train.learning_rate", "train."),
        ("modell.heads", "model.heads"),
        ("tokens.sorce", "tokens.source"),
    ],
)
def test_an_unknown_key_names_its_nearest(asked, meant):
    error = refusal(require_key, asked, where="here")
    assert error.problem == f"here: there is no recipe key {asked!r}."
    assert f"did you mean {meant}" in error.fix


@pytest.mark.parametrize(
    "key, value, fix",
    [
        ("model.hidden", "wide", "int, at least 1 and at most 1000000"),
        ("model.hidden", 0, "int, at least 1 and at most 1000000"),
        ("model.hidden", 10**12, "int, at least 1 and at most 1000000"),
        ("train.seed", 2**63, f"int, at least 0 and at most {2**63 - 1}"),
        ("train.threads", 100_000, "int, at least 0 and at most 256"),
        ("model.layers", 10**9, "int, at least 1 and at most 1000"),
        ("model.dropout", 1.0, "float, at least 0 and less than 1"),
        ("train.lr", 0, "float, more than 0"),
        ("train.lr", float("inf"), "float, more than 0"),
        ("model.norm", "mid", "pre | post | none"),
        ("task", 3, "str"),
        ("train.steps", 1.5, f"int, at least 0 and at most {10**12}"),
    ],
)
def test_a_wrong_value_says_what_is_taken(key, value, fix):
    error = refusal(Recipe().with_values, {key: value}, where="recipe.toml")
    assert error.problem == f"recipe.toml: {key} cannot be {value!r}."
    assert error.fix == f"{key} takes {fix}"
    assert accepted(key) == fix


def test_every_whole_number_is_bounded():
    """A number that no machine could serve is refused by its key, before anything is made of it."""
    whole = [key.name for key in keys() if key.kind == "int"]
    assert len(whole) > 30
    assert all("at least" in accepted(name) and "at most" in accepted(name) for name in whole)


@pytest.mark.parametrize("value", ["9" * 5000, "0x" + "f" * 5000])
def test_a_number_of_thousands_of_digits(tmp_path, value):
    path = tmp_path / "recipe.toml"
    path.write_text(f"[train]\nsteps = {value}\n")
    error = refusal(read_recipe, path)
    assert "recipe.toml" in error.problem and len(str(error)) < 400
    for given in (value, int(value, 16)):
        assert "train.steps cannot be" in (error := refusal(Recipe().with_values, {"train.steps": given})).problem
        assert len(str(error)) < 400


def test_sections_are_checked_too():
    assert "model cannot be 3" in refusal(validate, {"model": 3}).problem
    assert "no recipe key 'modle'" in refusal(validate, {"modle": {}}).problem
    assert "no recipe key 'model.hiden'" in refusal(validate, {"model": {"hiden": 3}}).problem


@pytest.mark.parametrize(
    "text, seconds",
    [
        ("90", 90),
        ("90s", 90),
        (" 5m ", 300),
        ("1.5h", 5400),
        ("0", 0),
        ("2 m", 120),
        ("5min", 300),
        ("1h30", 5400),
        ("1h 30min", 5400),
        ("2m30", 150),
        ("5 minutes", 300),
    ],
)
def test_durations(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "5 months", "1h2h", "-3s", "1e3", "5mm", "s"])
def test_no_durations(text):
    error = refusal(parse_duration, text, where="--budget")
    assert error.problem == f"--budget: {text!r} is not a duration."
    assert "5m" in error.fix
    inner = refusal(Recipe().with_values, {"train.budget": text})
    assert inner.problem == f"train.budget cannot be {text!r}."
    assert inner.fix == error.fix
    assert "\n" not in inner.found


def test_syntax_errors_have_a_place(tmp_path):
    path = tmp_path / "r.toml"
    path.write_text('[data]\ntrain = "a.tsv"\nvalid = \n')
    assert re.match(r"r\.toml:3:\d+: this is not TOML", refusal(read_values, path).problem)
    assert "cannot be read" in refusal(read_values, tmp_path / "none.toml").problem
    assert "cannot be read" in refusal(read_values, tmp_path).problem


def test_flatten():
    assert flatten({"a": {"b": 1, "c": {"d": 2}}, "e": 3}) == {"a.b": 1, "a.c": {"d": 2}, "e": 3}
    assert "no '='" in refusal(parse_settings, ["model.hidden"]).problem


def test_a_key_that_was_renamed_names_its_new_one():
    known = {key.name for key in keys()}
    for old, new in RENAMED.items():
        assert old not in known and new in known, old
        with pytest.raises(InputError) as refused:
            parse_settings([f"{old}=1"])
        assert refused.value.fix == f"write {new}"
