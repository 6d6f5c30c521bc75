"""A search over recipes as a user makes one: the test part is touched by the two final runs alone."""

import importlib
import sys

import pytest

import atento
from atento.bundle import PREDICTIONS
from atento.errors import InputError, MachineError

workers = importlib.import_module("atento.api.comparison.workers")
tune = importlib.import_module("atento.api.tune")  # the package has a function of that name
SMALL = {"train.batch_tokens": 200, "model.layers": 1, "train.validations": 2, "train.threads": 1, "model.hidden": 8}


@pytest.fixture(scope="module")
def given():
    """What each trial was given to learn and to validate with."""
    return []


@pytest.fixture(scope="module")
def tuned(tiny_pairs, tmp_path_factory, given):
    place = tmp_path_factory.mktemp("tuned") / "search"
    events, attempt = [], tune.attempt_one

    def watched(data, *others):
        given.append(data.reading)
        return attempt(data, *others)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tune, "attempt_one", watched)
        patch.setattr(workers, "usable_cores", lambda: 1)  # one at a time, in this process
        found = atento.tune(
            str(tiny_pairs), model="rnn", settings=SMALL, budget="6s", out=place, on_event=events.append
        )
    return found, events


@pytest.mark.spec("X04")
def test_the_best_recipe_is_trained_beside_the_default(tuned):
    found, events = tuned
    assert sum(event["event"] == "trial" for event in events) == len(found.trials) == 4
    assert set(found.values) == {
        "train.lr", "model.dropout", "train.weight_decay", "train.label_smoothing"
    }  # fmt: skip
    merits = [trial.merit for trial in found.trials if trial.merit is not None]
    assert found.trials[found.trial].merit == max(merits)
    for key, value in found.values.items():
        assert found.best.recipe.flat()[key] == value
    assert found.best.recipe.train.budget == found.default.recipe.train.budget == 1.5
    assert isinstance(found.tied, bool)


@pytest.mark.spec("X04")
def test_only_the_two_final_runs_saw_the_test_part(tuned, given):
    found, _ = tuned
    assert len(given) == len(found.trials)
    assert all(reading.valid and not reading.test for reading in given)
    assert {path.parent.name for path in found.folder.rglob(PREDICTIONS)} == {"best", "default"}


def test_the_recipe_it_leaves_can_be_trained(tuned, tmp_path):
    found, _ = tuned
    again = atento.fit(found.folder / "best.toml", settings={"train.budget": 0.5}, out=tmp_path / "again")
    assert again.recipe.train.lr == found.best.recipe.train.lr


def test_other_limits_are_refused(tiny_pairs, tmp_path):
    with pytest.raises(InputError, match=r"train\.steps has no meaning in a search"):
        atento.tune(str(tiny_pairs), settings={"train.steps": 5}, out=tmp_path / "search")


def test_without_the_extra_it_says_what_to_install(tiny_pairs, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MachineError, match="optuna") as told:
        atento.tune(str(tiny_pairs), budget="4s", out=tmp_path / "search")
    assert 'pip install "atento[tune]"' in told.value.fix
