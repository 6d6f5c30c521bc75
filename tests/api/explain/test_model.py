"""Views of a run as such: its graph, gradients, learning rate and histograms, of a language model and a forecaster."""

import json

import numpy as np
import pytest

import atento
from atento.errors import InputError
from atento.training import learning_rate

QUICK = {"train.threads": 1, "train.validations": 1, "train.validation_examples": 4, "train.baselines": False}


@pytest.fixture(scope="module")
def language_model(tmp_path_factory):
    settings = {**QUICK, "train.steps": 6, "train.histograms": 2, "model.hidden": 16, "train.optimizer": "radam"}
    folder = tmp_path_factory.mktemp("words") / "run"
    return atento.fit("stories", model="lstm", settings=settings, out=folder, device="cpu")


@pytest.fixture(scope="module")
def forecaster(tmp_path_factory):
    place = tmp_path_factory.mktemp("waves")
    rows = np.sin(np.arange(400) / 5.0)
    np.savetxt(place / "waves.csv", rows, header="x", comments="", fmt="%.6f")
    settings = {**QUICK, "train.steps": 4, "model.hidden": 8, "data.horizon": 4, "data.look_back": 12}
    return atento.fit(place / "waves.csv", task="forecast", model="gru", settings=settings, out=place / "run")


@pytest.mark.spec("V06")
@pytest.mark.parametrize("which", ["language_model", "forecaster"])
def test_gradients_and_graph_where_batches_are_windows(which, request):
    run = request.getfixturevalue(which)
    assert run.gradient_flow().worst.curve.median[0] == pytest.approx(1.0)
    graph = run.model_graph().graph
    assert graph.parameters == sum(weight.numel() for weight in run.module.parameters())
    assert max(graph.steps(node.name) for node in graph.nodes) > 1


@pytest.mark.spec("V04")
def test_the_learning_rate_that_was_used(language_model):
    """Steps with an event of histograms are 2, 4 and 6; progress is that before the step."""
    recorded, factor = language_model.schedule().charts
    (curve,) = recorded.curves
    shown = dict(zip(curve.steps, curve.values, strict=True))
    for step in (2, 4, 6):
        assert shown[step] == pytest.approx(learning_rate(language_model.recipe, step, (step - 1) / 6), rel=1e-5)
    assert factor.curves[0].name == f"β₂ = {language_model.recipe.train.beta2:g}"


@pytest.mark.spec("V05")
def test_the_histograms_that_were_recorded(language_model, forecaster, tmp_path):
    view = language_model.histograms()
    assert view.steps == [2, 4, 6]
    named = {name for name, _ in language_model.module.named_parameters()}
    assert all(any(name.startswith(one.part) for name in named) for one in view.parts)
    counted = sum(sum(one.gradients[0]) for one in view.parts)
    assert 0 < counted <= sum(weight.numel() for weight in language_model.module.parameters())
    assert json.loads(view.save(tmp_path / "a.json").read_text())["steps"] == [2, 4, 6]
    with pytest.raises(InputError, match="recorded no histograms"):
        forecaster.histograms()


def test_what_has_no_positions_says_so(language_model):
    with pytest.raises(InputError, match="no position encodings"):
        language_model.positions()
