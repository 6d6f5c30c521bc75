"""The built-in film: two spots whose places are Rössler's state, measured in the drawn frames."""

import numpy as np
import pytest

from atento.data.builtin.dynamics import FRAMES, MARGIN, SIDE, draw_frames, film, film_states
from atento.data.images.videos import frame_shape
from atento.errors import InputError
from atento.spec import DataRecipe


@pytest.fixture(scope="module")
def drawn():
    return film(DataRecipe(train="film"), 5)


@pytest.mark.spec("D07")
def test_the_state_can_be_measured_in_a_frame(drawn):
    """The bright spot's centre of mass moves with x and y, the other's height with z."""
    frames, states = drawn.series[0].values.reshape(FRAMES, SIDE, SIDE), film_states(5)
    pixels = np.arange(SIDE)
    edge = SIDE - MARGIN // 2 - 2
    right = frames[:, :, edge:].clip(min=0.3) - 0.3
    height = (right.sum(axis=2) * pixels).sum(axis=1) / right.sum(axis=(1, 2))
    assert np.corrcoef(height, states[:, 2])[0, 1] < -0.9, "z rises, rows are counted from the top"
    left = frames[:, :, : edge - 4].clip(min=0.2) - 0.2
    across = (left.sum(axis=1) * pixels[: edge - 4]).sum(axis=1) / left.sum(axis=(1, 2))
    down = (left.sum(axis=2) * pixels).sum(axis=1) / left.sum(axis=(1, 2))
    assert np.corrcoef(across, states[:, 0])[0, 1] > 0.95
    assert np.corrcoef(down, states[:, 1])[0, 1] > 0.95


def test_a_spot_by_hand():
    state = np.asarray([[1.0, -1.5, 12.0]])  # the middle of each extent
    frame = draw_frames(state, np.random.default_rng(0))[0]
    middle = (SIDE - 1) / 2
    for row, column in ((3, 5), (11, 12), (20, 21)):
        first = np.exp(-((row - middle) ** 2 + (column - middle) ** 2) / 18)
        second = np.exp(-((row - middle) ** 2 + (column - (SIDE - 1 - MARGIN / 2)) ** 2) / 8)
        assert frame[row, column] == pytest.approx(first + second, abs=0.05)


def test_it_is_a_film_of_its_own(drawn):
    assert frame_shape(drawn.channels) == (SIDE, SIDE)
    assert drawn.series[0].values.shape == (FRAMES, SIDE * SIDE)
    again = film(DataRecipe(train="film"), 5)
    np.testing.assert_array_equal(again.series[0].values, drawn.series[0].values)
    other = film(DataRecipe(train="film"), 6)
    assert not np.allclose(other.series[0].values, drawn.series[0].values)
    with pytest.raises(InputError, match=r"data\.target has no meaning for the built-in film"):
        film(DataRecipe(train="film", target="x"), 0)
