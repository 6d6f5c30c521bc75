"""Whether a latent path recreates a flow: by brute force, against scikit-learn, and on paths that must fail."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score

from atento.data.dynamics import lorenz, rossler
from atento.errors import InputError
from atento.metrics import next_step_r2, smooth_map_r2, smooth_map_r2_each
from atento.metrics.latents import RIDGE, predict_steps, split_path


@pytest.fixture(scope="module")
def states():
    return rossler(5000, step=0.2, seed=3)


def bent(states):
    """One to one and smooth, but far from linear."""
    x, y, z = ((states - states.mean(axis=0)) / states.std(axis=0)).T
    return np.stack([np.sinh(x / 2), y + x**2 / 4, np.tanh(z / 4) - x / 3], axis=1)


def test_the_next_step_by_brute_force():
    chance = np.random.default_rng(0)
    path, cut = chance.normal(size=(53, 3)).cumsum(axis=0), 36  # 70 % of 52 steps
    errors, spreads = [], []
    steps = [path[time + 1] - path[time] for time in range(52)]
    mean = np.mean(steps[cut:], axis=0)
    for time in range(cut, 52):
        near = sorted(range(cut), key=lambda past: np.linalg.norm(path[past] - path[time]))[:7]
        foretold = np.mean([steps[past] for past in near], axis=0)
        errors.append(sum((steps[time] - foretold) ** 2))
        spreads.append(sum((steps[time] - mean) ** 2))
    found = predict_steps([path[: cut + 1]], [path[cut:]], neighbours=7)
    np.testing.assert_allclose(found.squared_errors, errors)
    np.testing.assert_allclose(found.squared_deviations, spreads)
    assert next_step_r2(path, neighbours=7) == pytest.approx(1 - sum(errors) / sum(spreads))


def test_paths_lend_each_other_their_neighbours():
    turn = np.linspace(0, 20, 200)
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    before, after = split_path(circle)
    both = predict_steps([before, before + 9.0], [after, after + 9.0], neighbours=3)
    alone = predict_steps([before], [after], neighbours=3)
    np.testing.assert_allclose(both.squared_errors, np.tile(alone.squared_errors, 2), atol=1e-15)
    near = predict_steps([before, before], [after, after], neighbours=6)  # each place twice
    np.testing.assert_allclose(near.squared_errors, np.tile(alone.squared_errors, 2), atol=1e-15)


def test_the_smooth_map_is_kernel_ridge_regression(states):
    path, truth, cut = bent(states)[:307], states[:307], 215
    scaled = path / path[:cut].std(axis=0).mean()
    mean = truth[:cut].mean(axis=0)
    peer = KernelRidge(alpha=RIDGE, kernel="rbf", gamma=1 / 6).fit(scaled[:cut], truth[:cut] - mean)
    expected = r2_score(truth[cut:], peer.predict(scaled[cut:]) + mean, multioutput="raw_values")
    found = smooth_map_r2_each(path, truth, landmarks=cut)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert smooth_map_r2(path, truth, landmarks=cut) == pytest.approx(found.mean())


@pytest.mark.spec("D07")
def test_the_flow_itself_passes_in_any_smooth_coordinates(states):
    for path in (states, bent(states)):
        assert next_step_r2(path) > 0.97
        assert smooth_map_r2(path, states) > 0.99
    chaos = lorenz(6000, step=0.05, seed=1)
    assert next_step_r2(bent(chaos)) > 0.97
    assert smooth_map_r2(bent(chaos), chaos) > 0.98


@pytest.mark.spec("D07")
def test_what_recreates_no_flow_fails(states):
    path, chance = bent(states), np.random.default_rng(0)
    shuffled = path[chance.permutation(len(path))]
    assert next_step_r2(shuffled) < 0.6  # of an unordered path only the way back to its middle is foretold
    assert smooth_map_r2(shuffled, states) < 0.1
    folded = np.stack([np.abs(path[:, 0]), path[:, 1]], axis=1)  # left and right look alike
    assert next_step_r2(folded) < 0.5
    assert smooth_map_r2(folded, states) < 0.9
    unseen = states[:, :1]  # x alone: neither where it goes nor the rest of the state
    assert next_step_r2(unseen) < 0.5
    assert smooth_map_r2(unseen, states) < 0.9
    walk = chance.normal(size=(3000, 3)).cumsum(axis=0)  # always near where it was, and going nowhere one could know
    assert next_step_r2(walk) < 0.1
    assert next_step_r2(np.ones((100, 3))) == 0  # a path that stands still explains nothing
    assert smooth_map_r2(np.ones((5000, 3)), states) < 0.01


@pytest.mark.spec("D07")
def test_what_was_fitted_is_not_what_is_judged(states):
    """Another state after the cut is never explained by the time before it."""
    path = bent(states)
    late = states.copy()
    late[3500:] = np.random.default_rng(0).normal(size=late[3500:].shape)
    assert smooth_map_r2(path, late) < 0.1
    assert smooth_map_r2(path, late, held_out=0.9) < smooth_map_r2(path, states, held_out=0.9)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: next_step_r2(np.zeros(7)), r"shape \(times, coordinates\)"),
        (lambda: next_step_r2([[0.0], [np.nan]]), "a gap or an infinite number"),
        (lambda: next_step_r2(np.zeros((11, 2)), neighbours=10), "neighbours from 1 to 7"),
        (lambda: next_step_r2(np.zeros((100, 2)), held_out=1.0), "held_out=1.0"),
        (lambda: smooth_map_r2(np.zeros((11, 2)), np.zeros((12, 2))), "11 latents, 12 states"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
