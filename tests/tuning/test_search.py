"""The search on a known hill, cut off and gone on with; and what may vary."""

import math

import pytest

from atento.spec import Recipe
from atento.tasks.catalogue import TASKS
from atento.tuning.search import Among, Between, search, space_around

SPACE = {"train.lr": Between(1e-4, 1e-1, steep=True), "model.hidden": Among((8, 16, 32))}
FIRST = {"train.lr": 1e-1, "model.hidden": 8}


def one_by_one(attempt):
    """Tries what is asked, one after the other."""
    return lambda asked: [attempt(*one) for one in asked]


def hill(values):
    """Best at a rate of 0.003 and a width of 16."""
    return -abs(math.log(values["train.lr"] / 3e-3)) - abs(values["model.hidden"] - 16) / 16


def test_it_begins_with_the_default_and_climbs(tmp_path):
    seen = []

    def attempt(number, values, report):
        seen.append(values)
        return hill(values)

    trials = search(one_by_one(attempt), SPACE, first=FIRST, count=25, journal=tmp_path / "trials.log", seed=0)
    assert seen[0] == FIRST
    assert len(trials) == len(seen) == 25
    best = max(trials, key=lambda trial: trial.merit)
    assert best.merit > -0.5 > hill(FIRST)
    assert best.merit == pytest.approx(hill(best.values))
    assert {type(values["model.hidden"]) for values in seen} == {int}


def test_several_are_chosen_at_a_time(tmp_path):
    """And their merits go to those they belong to."""
    sizes, told = [], {}

    def attempt(asked):
        sizes.append(len(asked))
        told.update({one.number: hill(one.values) for one in asked})
        return [told[one.number] for one in asked]

    trials = search(attempt, SPACE, first=FIRST, count=11, journal=tmp_path / "trials.log", seed=0, together=3)
    assert sizes == [3, 3, 3, 2]
    assert {trial.number: trial.merit for trial in trials} == told
    assert all(trial.merit == pytest.approx(hill(trial.values)) for trial in trials)
    assert len({trial.values["train.lr"] for trial in trials}) == 11


def test_a_search_cut_off_goes_on(tmp_path):
    numbers = []

    def attempt(number, values, report):
        if len(numbers) == 3:
            raise KeyboardInterrupt
        numbers.append(number)
        return hill(values)

    with pytest.raises(KeyboardInterrupt):
        search(one_by_one(attempt), SPACE, first=FIRST, count=6, journal=tmp_path / "trials.log", seed=0)
    whole = search(
        one_by_one(lambda number, values, report: hill(values)),
        SPACE,
        first=FIRST,
        count=6,
        journal=tmp_path / "trials.log",
        seed=0,
    )
    assert len(whole) == 6
    assert [trial.number for trial in whole][:3] == numbers


def test_failed_and_hopeless_tries_do_not_end_it(tmp_path):
    def attempt(number, values, report):
        if number == 1:
            return None  # failed before anything was measured
        for validation in range(1, 6):
            if report(validation, 1.0 - number if number > 4 else 1.0):
                return None
        return 1.0 if number <= 4 else 1.0 - number

    trials = search(one_by_one(attempt), SPACE, first=FIRST, count=9, journal=tmp_path / "trials.log", seed=0)
    assert [trial.merit is None for trial in trials][:2] == [False, True]
    assert any(trial.stopped for trial in trials[5:])
    assert not any(trial.stopped for trial in trials[:5])


def test_what_the_user_fixed_is_left_alone():
    recipe = Recipe().with_values({"task": "classify", "model.name": "lstm", "model.hidden": 100})
    free = space_around(TASKS["classify"], recipe, fixed={})
    assert {"train.lr", "model.hidden", "train.word_dropout"} <= set(free)
    assert 100 in free["model.hidden"].values
    assert "train.lr" not in space_around(TASKS["classify"], recipe, fixed={"train.lr": 1e-3})
    assert "train.word_dropout" not in space_around(TASKS["translate"], recipe, fixed={})


def test_word_dropout_is_searched_by_every_task_that_reads_words_and_writes_none():
    def space(task):
        recipe = Recipe().with_values({"task": task.name, "model.name": task.defaults.model})
        return space_around(task, recipe, fixed={})

    searched = {name for name, task in TASKS.items() if "train.word_dropout" in space(task)}
    assert searched == {"classify", "estimate-text", "label", "label-pairs", "match", "match-images", "tag"}


@pytest.mark.parametrize("decay", [0.0, 1e-5, 1e-4, 0.02, 0.5])
def test_every_default_can_be_tried_first(decay, tmp_path):
    recipe = Recipe().with_values({"task": "forecast", "model.name": "linear", "train.weight_decay": decay})
    space = space_around(TASKS["forecast"], recipe, fixed={})
    first = {key: recipe.flat()[key] for key in space}
    tried = search(lambda asked: [0.0], space, first=first, count=1, journal=tmp_path / "log", seed=0)
    assert tried[0].values["train.weight_decay"] == pytest.approx(decay)
