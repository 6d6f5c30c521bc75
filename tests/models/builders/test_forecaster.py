"""Names of forecasters, and what makes none."""

import pytest

from atento.errors import InputError
from atento.models import LabelHead, ModelName, SeriesSizes
from atento.models.builders import Vocabularies, build_classifier, build_forecaster, build_translator
from atento.models.builders.choices import patch_of
from atento.models.builders.forecaster import parse_quantiles, require_forecaster
from atento.models.forecast_networks import LastStateNetwork, ParallelRecurrentNetwork
from atento.models.names import FORECASTERS, SUFFIXES
from atento.spec import ModelRecipe

SIZES = SeriesSizes(3, 2, 23, 7)


@pytest.mark.parametrize("name", ["linear", "gru", "lstm+additive", "transformer", "transformer+patches+additive"])
def test_names_of_forecasters(name):
    require_forecaster(ModelName.parse(name))


@pytest.mark.parametrize(
    "name, choices, message",
    [
        ("linear+dot", {}, "linear has no parts"),
        ("gru/lstm", {}, "has one part"),
        ("gru/linear", {}, "has one part"),
        ("gru+patches", {}, "only a Transformer takes"),
        ("lstm+crf", {}, "'crf' has no meaning for this task"),
        ("nothing", {}, "no model 'nothing'"),
        ("transformer+linformer", {}, "linformer"),
        ("gru+dot+causal", {}, "within one sequence only"),
        ("lstm+additive", {"hidden": 7}, r"model\.hidden must be even"),
        ("gru", {"attend": "bahdanau"}, r"model\.attend has no meaning"),
        ("gru", {"pooling": "mean"}, r"model.pooling has no meaning"),
        ("gru", {"quantiles": "0.9,0.1"}, "increasing levels"),
    ],
)
def test_what_makes_no_forecaster(name, choices, message):
    with pytest.raises(InputError, match=message):
        build_forecaster(ModelRecipe(name=name, **choices), SIZES)


@pytest.mark.parametrize("text", ["x", "0", "1", "0.5,0.5", "0.2,nan", "0.1,,0.9", "-0.1,0.5", ","])
def test_levels_rise_between_0_and_1(text):
    with pytest.raises(InputError, match=r"--set model\.quantiles=0\.1,0\.5,0\.9"):
        parse_quantiles(text)
    assert parse_quantiles(" ") == ()
    assert parse_quantiles("0.1, 0.9") == (0.1, 0.9)


def test_tasks_of_text_name_what_is_not_theirs():
    assert "linear" in FORECASTERS
    assert "patches" in SUFFIXES
    with pytest.raises(InputError, match="linear forecasts series"):
        build_translator(ModelRecipe(name="linear"), Vocabularies(11, 13))
    with pytest.raises(InputError, match="'patches' has no meaning for this task"):
        build_translator(ModelRecipe(name="transformer+patches"), Vocabularies(11, 13))
    with pytest.raises(InputError, match="linear forecasts series"):
        build_classifier(ModelRecipe(name="linear"), 11, LabelHead, 3)


def test_steps_that_are_read_together():
    assert patch_of(ModelRecipe(patch=5), SIZES, patches=14) == 5
    assert patch_of(ModelRecipe(patch=50), SIZES, patches=14) == 23
    single, patched = (
        build_forecaster(ModelRecipe(name="gru", linear_skip=False, patch=patch), SIZES) for patch in (1, 5)
    )
    assert isinstance(single.network, LastStateNetwork)
    assert isinstance(patched.network, ParallelRecurrentNetwork)


def test_a_recursive_forecaster_looks_one_step_ahead():
    model = build_forecaster(ModelRecipe(name="gru", strategy="recursive"), SIZES, noise=0.3)
    assert (model.look_back, model.horizon, model.noise) == (23, 1, 0.3)
