"""Dynamics as a user: the small forecaster, built-in systems, and the portrait of a free run."""

from pathlib import Path

import numpy as np
import pytest

import atento
from atento.spec import DataRecipe
from atento.tasks.forecast.baselines import autoregression, last_value
from atento.tasks.forecast.forecast import FORECAST

EXAMPLE = Path(__file__).parents[2] / "examples" / "rossler-x.toml"
SMALL = ("--set", "data.length=900", "--set", "train.steps=40", "--set", "train.validations=1")


@pytest.mark.spec("D03")
def test_the_small_forecaster_beside_what_is_simple(tmp_path):
    run = atento.fit(EXAMPLE, settings={"train.threads": 1, "train.validations": 1}, out=tmp_path / "run")
    reading = FORECAST.reading.read(DataRecipe(train="rossler", target="x", look_back=40, horizon=1), 0)
    ((series, frame),) = reading.train
    assert 30_000 < len(series) - frame.window + 1 < 50_000
    asked = reading.test[::5]
    came = np.array([question.references[0][0, 0] for question in asked])
    errors = {}
    for simple in (last_value(), autoregression()):
        simple.fit([series], [frame])
        said = np.array([value[0, 0, 0] for value in simple.predict([question.source for question in asked])])
        errors[simple.name] = np.square(said - came).mean() / series.values.var()
    learned = run.metrics["scores"]["mse"][0]
    assert run.metrics["parameters"] == 46  # 5 × (1 + 5 + 1 + 1) + 5 + 1
    assert learned <= 0.002  # on the z-scored coordinate
    assert 0.009 < errors["last-value"] < 0.015
    assert errors["autoregression"] < 3e-6 < learned


@pytest.mark.spec("D06")
def test_a_built_in_system_is_learned_and_drawn(atento_command, tmp_path):
    listed = atento_command.run("data", "--json", cwd=tmp_path).document["data"]
    assert {"rossler", "lorenz"} <= {one["name"] for one in listed if one["task"] == "forecast"}
    done = atento_command.run("train", "lorenz", "--model", "rnn", *SMALL, "--out", "run", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "as in a flow" in done.err
    scores = atento.load(tmp_path / "run").metrics["scores"]
    assert list(scores)[:2] == ["mse", "valid_time"] and 0 < scores["valid_time"][0] < 10  # in Lyapunov times
    looked = atento_command.run("look", "run", "--what", "phase", "--out", "phase.png", "--json", cwd=tmp_path)
    assert looked.code == 0, looked.err
    assert looked.document["channels"] == ["x", "y", "z"]
    assert looked.document["planes"][1]["up"] == "z"
    assert (tmp_path / "phase.png").stat().st_size > 20_000
    wrong = atento_command.run("look", "run", "--what", "phase", "--out", "phase.csv", cwd=tmp_path)
    assert wrong.code == 2
    assert atento_command.run("check", "run", cwd=tmp_path).code == 0


def test_a_run_of_texts_has_no_phase(atento_command, trained_run, tmp_path):
    done = atento_command.here("look", trained_run.folder, "--what", "phase", cwd=tmp_path)
    assert done.code == 2
    assert "only a forecaster makes forecasts" in done.err
