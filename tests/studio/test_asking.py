"""What a click would be on the command line and in Python: it can be pasted, whatever names hold."""

import ast
import shlex

import pytest

from atento.studio.asking import (
    ComparisonAsked,
    FileAsked,
    ModelAsked,
    compare_call,
    compare_words,
    compared_by,
    inspect_words,
    same_as,
    settings_in,
    train_call,
    train_words,
)

HOSTILE = [
    "it's; rm -rf ~ #.csv",
    "$(touch x) `y`.csv",
    'two\nlines"and quotes".csv',
    "--help",
    "<script>alert(1)</script>.csv",
]


def arguments_of(python):
    """The one call in a text of Python, as values."""
    (call,) = [node for node in ast.walk(ast.parse(python)) if isinstance(node, ast.Call)]
    return [ast.literal_eval(one) for one in call.args], {one.arg: ast.literal_eval(one.value) for one in call.keywords}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_command_holds_hostile_names_as_single_words(name):
    asked = ModelAsked(file=name, task="classify", model="lstm", settings={"data.label": name}, seed=7)
    same = same_as(train_words(asked, out="runs/x"), train_call(asked, out="runs/x"))
    words = shlex.split(same["command"])
    assert words[:2] == ["atento", "train"] and words[2].removeprefix("./") == name
    assert words[words.index("--set") + 1] == f"data.label={name}" and words[-2:] == ["--out", "runs/x"]
    given, named = arguments_of(same["python"])
    assert given == [name] and named["settings"] == {"data.label": name} and named["seed"] == 7
    assert not words[2].startswith("-")


def test_what_is_left_open_is_left_out():
    asked = ModelAsked(file="a.csv", settings={"data.label": ""})
    assert train_words(asked) == ["train", "a.csv"] and train_call(asked) == "run = atento.fit('a.csv')"
    assert inspect_words(FileAsked(file="a.csv")) == ["inspect", "a.csv"]
    assert train_words(ModelAsked(file="a.csv", budget=90))[-1] == "90s"
    assert train_words(ModelAsked(file="a.csv", settings={"tokens.lowercase": True}))[-1] == "tokens.lowercase=true"


def test_the_words_of_a_comparison_are_read_back():
    asked = ComparisonAsked(
        file="a b.csv",
        task="classify",
        models=["lstm", "transformer+dot"],
        settings={"model.hidden": "14", "data.label": "a=b"},
        budget="5m",
        seed=3,
        seeds=2,
    )
    assert compared_by(compare_words(asked)) == asked
    given, named = arguments_of(compare_call(asked))
    assert given == ["a b.csv"] and named["models"] == ["lstm", "transformer+dot"] and named["seeds"] == 2


def test_the_settings_of_a_printed_command():
    command = "atento compare 'a b.csv' --task classify --set data.split=60/20/20 --set 'data.label=my label'"
    assert settings_in(command) == ({"data.split": "60/20/20", "data.label": "my label"}, "classify")
    assert settings_in(command, known={"data.split": "60/20/20"}) == ({"data.label": "my label"}, "classify")
    assert settings_in("atento inspect a.csv --task tag") == ({}, "tag")
    for other in (
        "",
        "awk 'length($0) <= 3' a.csv > b.csv",
        "atento compare a.csv",
        "iconv -f x 'unfinished",
        "atento rm x --set a=b",
    ):
        assert settings_in(other) is None
    assert settings_in("atento compare a.csv --set data.split=60/20/20", known={"data.split": "60/20/20"}) is None
