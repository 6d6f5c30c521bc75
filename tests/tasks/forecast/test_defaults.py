"""Recipes of forecasts: every family has one, sizes follow from the data."""

from types import SimpleNamespace

import numpy as np
import pytest

from atento.data import Series
from atento.data.series import Frequency
from atento.models import ModelName, SeriesSizes
from atento.models.builders import build_forecaster
from atento.spec import Recipe
from atento.tasks.forecast.defaults import LARGEST, MODELS, SMALLEST, defaults, sized
from atento.tasks.forecast.windows import WindowSpec


def noisy(rows, look_back=36, horizon=12, series=1):
    chance = np.random.default_rng(0)
    frame = WindowSpec(look_back, horizon, ("y",), (), Frequency(1, "h"), 12)
    return [(Series(str(at), chance.normal(size=(rows, 1)), np.zeros((rows, 0))), frame) for at in range(series)]


@pytest.mark.parametrize("name", [*MODELS, "jordan", "lstm+dot", "transformer"])
def test_every_model_has_a_recipe_that_builds(name):
    values = defaults("series.csv", ModelName.parse(name))
    recipe = Recipe().with_values({"task": "forecast", "model.name": name, **values})
    assert build_forecaster(recipe.model, SeriesSizes(2, 1, 36, 12)).horizon == 12


@pytest.mark.parametrize("rows, windows", [(300, SMALLEST), (8640, (8640 - 47) // 128), (200_000, LARGEST)])
def test_a_batch_holds_windows_by_how_many_there_are(rows, windows):
    assert sized(Recipe(), noisy(rows), "cpu")["train.batch_tokens"] == windows * 36


def test_many_windows_are_seen_seldom_and_few_often():
    few, many = (sized(Recipe(), noisy(rows), "cpu")["train.epochs"] for rows in (300, 100_000))
    assert few > many >= 2


@pytest.mark.parametrize("limit", [{"steps": 30, "epochs": 0}, {"steps": 0, "epochs": 3}])
def test_a_limit_that_was_given_stands_alone(limit):
    recipe = SimpleNamespace(train=SimpleNamespace(**limit))
    assert "train.epochs" not in sized(recipe, noisy(300), "cpu")
