"""The built-in paths: boats that move as they are said to."""

import numpy as np
import pytest

from atento.data.builtin.dynamics import BOATS, ERROR, SHORE, paths
from atento.errors import InputError
from atento.spec import DataRecipe


@pytest.fixture(scope="module")
def boats():
    return paths(DataRecipe(train="paths"), 3)


@pytest.mark.spec("K11")
def test_boats_move_with_inertia_and_stay_off_the_shore(boats):
    assert (len(boats.series), boats.channels) == (BOATS, ("x", "y"))
    steps = np.stack([np.diff(boat.values, axis=0) for boat in boats.series])  # (boats, T, 2)
    speeds = np.linalg.norm(steps, axis=-1)
    assert np.quantile(speeds, 0.99) < 1 + 4 * ERROR, "no boat makes more than one a step"
    waiting = (speeds < 4 * ERROR).mean()
    assert 0.03 < waiting < 0.3, "some wait"
    assert max(np.abs(boat.values).max() for boat in boats.series) < SHORE + 15
    sailing = (speeds[:, 1:] > 0.8) & (speeds[:, :-1] > 0.8)
    headings = np.arctan2(steps[..., 1], steps[..., 0])
    turns = np.angle(np.exp(1j * np.diff(headings, axis=1)))[sailing]
    assert np.abs(turns).max() < 0.2 + 10 * ERROR, "nor turns much more than a fifth, as far as can be seen"
    assert (turns > 0.1).mean() > 0.2 and (turns < -0.1).mean() > 0.2 and (np.abs(turns) < 0.1).mean() > 0.2


@pytest.mark.spec("K11")
def test_the_course_goes_on_and_the_place_alone_says_nothing(boats):
    """A turn goes on as it was: turning now and five steps on go together; place and step do not."""
    values = np.stack([boat.values for boat in boats.series])
    smooth = values[:, 3:] - values[:, :-3]
    turning = np.angle(np.exp(1j * np.diff(np.arctan2(smooth[..., 1], smooth[..., 0]), axis=1)))
    sailing = np.linalg.norm(smooth, axis=-1)[:, :-1] > 2
    both = sailing[:, :-5] & sailing[:, 5:]
    assert np.corrcoef(turning[:, :-5][both], turning[:, 5:][both])[0, 1] > 0.5
    steps, places = np.diff(values, axis=1).reshape(-1, 2), values[:, :-1].reshape(-1, 2)
    inside = np.hypot(*places.T) < SHORE
    along = [np.corrcoef(places[inside, at], steps[inside, at])[0, 1] for at in (0, 1)]
    assert np.abs(along).max() < 0.25


def test_each_seed_and_length_its_own(boats):
    again = paths(DataRecipe(train="paths"), 3)
    np.testing.assert_array_equal(again.series[7].values, boats.series[7].values)
    assert not np.allclose(paths(DataRecipe(train="paths"), 4).series[7].values, boats.series[7].values)
    assert not np.allclose(boats.series[0].values, boats.series[1].values)
    short = paths(DataRecipe(train="paths", length=60), 3)
    assert len(short.series[0]) == 60
    with pytest.raises(InputError, match=r"data\.source"):
        paths(DataRecipe(train="paths", source="x"), 0)
