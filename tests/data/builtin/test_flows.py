"""Built-in trajectories as sets of series."""

import numpy as np
import pytest

from atento.data.builtin import BUILTIN
from atento.data.dynamics import lorenz
from atento.errors import InputError
from atento.spec import DataRecipe


@pytest.mark.spec("D01")
@pytest.mark.parametrize("name, step", [("rossler", 0.1), ("lorenz", 0.02)])
def test_a_set_is_one_series_of_three_coordinates(name, step):
    made = BUILTIN[name].series(DataRecipe(train=name, length=211), 3)
    (series,) = made.series
    assert BUILTIN[name].task == "forecast"
    assert made.channels == ("x", "y", "z")
    assert series.values.shape == (211, 3)
    assert series.future_covariates.shape == (211, 0)
    assert f"211 steps of {step}" in made.notes[0]


def test_the_numbers_are_the_trajectory_of_the_seed():
    made = BUILTIN["lorenz"].series(DataRecipe(train="lorenz", length=97, target="z,x"), 5)
    np.testing.assert_array_equal(made.series[0].values, lorenz(97, seed=5)[:, [2, 0]])
    assert made.channels == ("z", "x")


def test_rows_can_be_shown():
    parts = BUILTIN["lorenz"].make(DataRecipe(train="lorenz", length=97, target="x"), 5)
    assert parts.train[1] == ("row 1", f"x {lorenz(97, seed=5)[1, 0]:.4g}")


def test_another_coordinate_is_named():
    with pytest.raises(InputError, match="coordinate"):
        BUILTIN["lorenz"].series(DataRecipe(train="lorenz", length=97, target="w"), 0)
