"""Recipes with a pass mark: every built-in set has one, about a minute to reach it, and a mark that can be missed."""

import runpy
from pathlib import Path

import pytest

from atento.data.builtin import BUILTIN
from atento.tasks.catalogue import TASKS
from atento.tasks.filling import fill_defaults

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def learn():
    return runpy.run_path(str(ROOT / "benchmarks" / "recipes.py"))["learn"]


def test_every_built_in_set_has_a_mark_and_about_a_minute():
    for name, entry in BUILTIN.items():
        metric, mark = entry.passes
        assert metric and mark > 0, name
        train = fill_defaults(TASKS[entry.task], {}, data=name).train
        minutes = 2 if name == "scenes" else 1  # words and where each is seen take longer than any other set
        assert 0 < train.budget <= 60 * minutes or train.steps > 0 or train.epochs > 0, name


@pytest.mark.spec("X05")
def test_a_mark_is_reached_by_learning_and_missed_without(learn, capsys):
    quick = {"train.threads": 1, "train.validations": 1, "train.validation_examples": 20}
    assert learn("opinions", settings={**quick, "train.steps": 200})
    assert not learn("opinions", settings={**quick, "train.steps": 2})
    reached, missed = capsys.readouterr().out.splitlines()
    assert "MISSED" not in reached
    assert "MISSED" in missed
