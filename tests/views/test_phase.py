"""Phase portraits as data and text."""

import json

import numpy as np
import pytest

from atento.data.dynamics import delay_embedding, lorenz
from atento.errors import InputError
from atento.views import save_phase
from atento.views.phase import phase_text, phase_view

ROWS = 300


@pytest.fixture(scope="module")
def truth():
    return lorenz(3 * ROWS)


@pytest.mark.spec("D06")
def test_planes_hold_both_paths(truth):
    run = truth[ROWS : 2 * ROWS] + 0.01
    view = phase_view(truth[:ROWS], run, truth[ROWS : ROWS + 50], ("x", "y", "z"), model="gru", data="lorenz")
    assert [(plane.across, plane.up) for plane in view.planes] == [("x", "y"), ("x", "z")]
    np.testing.assert_allclose(view.planes[1].true, truth[:ROWS, [0, 2]], atol=1e-3)
    np.testing.assert_allclose(view.planes[1].generated, run[:, [0, 2]], atol=1e-3)
    np.testing.assert_allclose(view.times[1].true, truth[ROWS : ROWS + 50, 1], atol=1e-3)
    np.testing.assert_allclose(view.times[1].generated, run[:, 1], atol=1e-3)
    assert view.outcome == "stays on the attractor"
    assert len(view.climate["histogram"]) == 3


@pytest.mark.spec("D06")
def test_one_coordinate_is_drawn_against_itself_a_while_ago(truth):
    view = phase_view(truth[:ROWS, :1], truth[ROWS:, :1], truth[:0, :1], ("x",))
    (plane,) = view.planes
    lag = view.lag
    assert lag > 1
    assert (plane.across, plane.up) == ("x(t)", f"x(t − {lag})")
    np.testing.assert_allclose(plane.generated, delay_embedding(truth[ROWS:, 0], delays=2, lag=lag), atol=1e-3)
    assert view.times[0].true == []


def test_a_run_to_infinity_is_drawn_as_far_as_it_goes(truth):
    run = truth[:50].copy()
    run[20:] *= 1e30
    run[30:] = np.nan
    view = phase_view(truth, run, truth[:0], ("x", "y", "z"))
    points = np.array(view.planes[0].generated)
    assert len(points) == 30
    assert np.abs(points).max() < 200
    assert view.outcome.endswith("and goes to infinity")
    json.dumps(view.to_json(), allow_nan=False)


def test_the_text_tells_the_outcome(truth):
    still = np.repeat(truth[:1], ROWS, axis=0)
    text = phase_text(phase_view(truth, still, truth[:0], ("x", "y", "z"), model="rnn"))
    assert text.startswith("rnn, rollout of 300 steps: stops moving at step 1")
    assert "–" in text  # no maxima to compare
    assert max(map(len, text.splitlines())) <= 80
    assert "x(t − " in phase_text(phase_view(truth[:, :1], truth[:, :1], truth[:0, :1], ("x",)))


def test_files_by_their_endings(truth, tmp_path):
    view = phase_view(truth, truth, truth[:0], ("x", "y", "z"))
    assert json.loads(save_phase(view, tmp_path / "phase.json").read_text())["lag"] == 0
    assert save_phase(view, tmp_path / "phase.html").read_text().startswith("<!doctype html>")
    with pytest.raises(InputError, match="must end in"):
        save_phase(view, tmp_path / "phase.csv")
