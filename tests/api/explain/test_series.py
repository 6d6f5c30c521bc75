"""A trained forecaster as a system of its own."""

from types import SimpleNamespace

import numpy as np
import pytest

import atento
from atento.api.explain.series import first_past, source_of, times_of
from atento.data.dynamics import lorenz, trajectory
from atento.data.series import Past, Series
from atento.data.series.series import Frequency
from atento.errors import InputError

QUICK = {"train.threads": 1, "train.validations": 1, "train.validation_examples": 5, "train.decay": "cosine"}


def turning(time, state):
    """A circle: what comes next is a rotation of what is, by the same angle at every step."""
    return -state[1], state[0]


@pytest.fixture(scope="module")
def circle(tmp_path_factory):
    """Two coordinates that go round; a linear model of the change can learn it exactly."""
    place = tmp_path_factory.mktemp("circle")
    rows = trajectory(turning, (1.0, 0.0), step=0.2, steps=900) * (2.0, 5.0)
    np.savetxt(place / "circle.csv", rows, delimiter=",", header="x,y", comments="", fmt="%.9f")
    settings = {
        **QUICK,
        "data.split": "80/10/10",
        "data.horizon": 5,
        "data.look_back": 1,
        "model.strategy": "recursive",
        "model.channels": "joint",
        "model.anchor": "change",
        "train.steps": 300,
        "train.lr": 0.1,
        "train.batch_tokens": 64,
        "train.weight_decay": 0.0,
    }
    return atento.fit(place / "circle.csv", task="forecast", model="linear", settings=settings, out=place / "run"), rows


@pytest.mark.parametrize("unit, first", [("M", "1949-01"), ("h", "2024-02-28T05:00"), ("D", "")])
def test_a_forecast_knows_its_dates(unit, first):
    """The window's last row is the one that its name tells; rows that are counted have no dates."""
    times = (np.datetime64(first, unit) + np.arange(30)).astype("datetime64[us]") if first else None
    series = Series("", np.arange(30.0)[:, None], np.zeros((30, 0)), times)
    past = Past("", series.timestamp(11), series.values[4:12], np.zeros((8, 0)))
    step = Frequency(1, {"M": "mo", "h": "h", "D": ""}[unit])
    codec = SimpleNamespace(frame=SimpleNamespace(step=step, horizon=3))
    wanted = [] if times is None else [str(time) for time in times[4:15].astype("datetime64[s]")]
    assert times_of(past, codec) == wanted


@pytest.mark.spec("D04")
def test_a_free_run_goes_on_from_its_own_output(circle):
    run, rows = circle
    ahead = 60  # two turns, twelve times as far as it was trained to look
    found = run.free_runs(rows[None, 800:810], ahead)[0]
    assert found.shape == (ahead, 2)
    angles = 0.2 * np.arange(810, 810 + ahead)
    known = np.stack([2 * np.cos(angles), 5 * np.sin(angles)], axis=1)
    assert np.abs(found - known).max() < 0.25
    one = run.free_runs(rows[None, 800:810], 1)[0, 0]
    again = run.free_runs(np.concatenate([rows[800:810], one[None]])[None], ahead - 1)[0]
    np.testing.assert_allclose(found[1:], again, rtol=1e-4, atol=1e-4)


@pytest.mark.spec("D04")
def test_several_steps_at_once_are_learned_and_run_on(circle, tmp_path):
    rows = circle[1]
    np.savetxt(tmp_path / "circle.csv", rows, delimiter=",", header="x,y", comments="", fmt="%.9f")
    settings = {
        **QUICK,
        "data.horizon": 7,
        "data.look_back": 3,
        "model.strategy": "direct",
        "model.channels": "joint",
        "train.steps": 300,
        "train.lr": 0.05,
        "train.batch_tokens": 192,
        "train.weight_decay": 0.0,
    }
    run = atento.fit(tmp_path / "circle.csv", task="forecast", model="linear", settings=settings, out=tmp_path / "run")
    assert run.module.horizon == 7
    angles = 0.2 * np.arange(810, 831)
    known = np.stack([2 * np.cos(angles), 5 * np.sin(angles)], axis=1)
    found = run.free_runs(rows[None, 800:810], 21)[0]  # three passes
    assert np.abs(found[:7] - known[:7]).max() < 0.15
    assert np.abs(found - known).max() < 0.5


@pytest.mark.spec("D06")
def test_the_portrait_begins_where_the_test_part_does(circle):
    run, rows = circle
    view = run.phase(steps=40)
    assert view.channels == ["x", "y"]
    np.testing.assert_allclose(view.planes[0].true, rows[680:720], atol=1e-3)
    np.testing.assert_allclose(view.times[0].true[:5], rows[810:815, 0], atol=1e-3)
    np.testing.assert_allclose(view.times[0].generated, rows[810:850, 0], atol=0.2)
    assert view.outcome == "stays on the attractor"


def test_without_held_out_rows_it_begins_at_the_end(circle):
    run, rows = circle
    bundle = run.predictor.bundle
    reading = bundle.task.reading.read(bundle.recipe.data, 0)
    past, follows = first_past((), [series for series, _ in reading.train], bundle.codec)
    np.testing.assert_allclose(past.values, rows[719:720], atol=1e-8)
    assert follows.shape == (0, 2)


def test_what_cannot_run_free_is_named(circle):
    run, rows = circle
    with pytest.raises(InputError, match="runs, rows, channels"):
        run.free_runs(rows, 5)
    with pytest.raises(InputError, match="2 channels"):
        run.free_runs(lorenz(20)[None], 5)


def test_rows_are_no_name_of_a_forecast():
    """`run.explain(frame)` says that a name is asked for."""
    bundle = SimpleNamespace(task=SimpleNamespace(reading=SimpleNamespace(kind="series")))
    with pytest.raises(InputError, match="by its name") as told:
        source_of(SimpleNamespace(bundle=bundle), np.zeros((5, 2)))  # type: ignore[arg-type]
    assert "an object of type ndarray" in str(told.value)
