"""A trajectory as a set of one series, of all coordinates or of some."""

import numpy as np

from atento.data.dynamics.flows import COORDINATES
from atento.data.dynamics.trajectories import Numbers
from atento.data.series.series import Series, SeriesSet, Step
from atento.errors import unknown_name
from atento.spec import DataRecipe


def coordinates_of(recipe: DataRecipe, states: Numbers, note: str) -> SeriesSet:
    """The coordinates that data.target names, commas between; all three where it names none."""
    names = tuple(name.strip() for name in recipe.target.split(",")) if recipe.target else COORDINATES
    for name in names:
        if name not in COORDINATES:
            raise unknown_name("coordinate", name, COORDINATES, where="data.target")
    values = states[:, [COORDINATES.index(name) for name in names]]
    series = Series("", values, np.zeros((len(values), 0)))
    said = f"{note}; of it {', '.join(names)}" if names != COORDINATES else note
    return SeriesSet(recipe.train, (series,), names, (), Step(1, ""), 1, (), (said,))
