"""A moving thing's next places: what its past says, against its last place and its last step alone."""

import numpy as np
import pytest

import atento
from atento.metrics import ForecastScoring, path_metrics
from atento.spec import DataRecipe, TokensRecipe
from atento.tasks.forecast.baselines import last_step, last_value
from atento.tasks.forecast.codec import SeriesCodec
from atento.tasks.forecast.forecast import FORECAST

QUICK = {"train.steps": 300, "train.lr": 0.01, "train.threads": 1, "train.validations": 2, "model.hidden": 32}
HORIZON = 8


@pytest.fixture(scope="module")
def reading():
    return FORECAST.reading.read(DataRecipe(train="paths", horizon=HORIZON, look_back=16, split="70/10/20"), 0)


def displacement(reading, outputs):
    codec = SeriesCodec.learn(TokensRecipe(), reading.train)
    metric = path_metrics(ForecastScoring(codec.scales_of, HORIZON, (), (1.0,)))[0]
    sources = [question.source for question in reading.test]
    return metric.for_sources(sources).value(outputs, [question.references for question in reading.test])


@pytest.fixture(scope="module")
def simple(reading):
    found = {}
    for make in (last_value, last_step):
        model = make().fit([series for series, _ in reading.train], [frame for _, frame in reading.train])
        outputs = model.predict([question.source for question in reading.test])
        found[model.name] = displacement(reading, outputs)
    return found


def test_simple_paths_by_hand(reading, simple):
    """Stays where it is, or goes on as in its last step: distances by plain numpy."""
    ahead = np.arange(1, HORIZON + 1)[:, None]
    stays, goes = [], []
    for question in reading.test:
        (came,), last, before = question.references, question.source.values[-1], question.source.values[-2]
        stays.append(np.linalg.norm(came - last, axis=1).mean())
        goes.append(np.linalg.norm(came - last - ahead * (last - before), axis=1).mean())
    assert simple["last-value"] == pytest.approx(np.mean(stays), rel=1e-5)
    assert simple["last-step"] == pytest.approx(np.mean(goes), rel=1e-5)


@pytest.mark.spec("K11")
def test_who_reads_the_past_knows_where_a_boat_will_be(simple, tmp_path):
    """A GRU over 16 places against two rules, and the same GRU, as long trained, that knows the last place alone."""
    past, blind = (
        atento.fit(
            "paths",
            model="gru",
            settings={**QUICK, "data.look_back": rows, "data.split": "70/10/20", **more},
            device="cpu",
            out=tmp_path / f"run-{rows}",
        )
        for rows, more in ((16, {}), (1, {"model.anchor": "none"}))
    )
    value = past.metrics["scores"]["displacement"][0]
    assert value < 0.75 * simple["last-step"], "better than on at the same speed"
    assert value < 0.45 * simple["last-value"], "better than staying where it is"
    assert past.metrics["scores"]["displacement"][2] < blind.metrics["scores"]["displacement"][1], "intervals apart"
    assert value < 0.45 * blind.metrics["scores"]["displacement"][0]
    assert past.metrics["scores"]["last_displacement"][0] > value, "the farther ahead, the farther off"


@pytest.mark.spec("K11")
def test_a_path_in_a_file_of_the_user_s_own(tmp_path):
    """Things that circle, each at its own pace and in its own direction: only its past tells where one goes."""
    chance = np.random.default_rng(3)
    lines = ["time,thing,x,y"]
    for thing in range(6):
        (across, up), radius, pace = chance.normal(size=2) * 5, chance.uniform(2, 4), chance.uniform(0.2, 0.4)
        for minute in range(150):
            angle = thing + pace * (-1) ** thing * minute
            place = (across + radius * np.cos(angle), up + radius * np.sin(angle)) + 0.02 * chance.normal(size=2)
            lines.append(f"{minute},thing {thing},{place[0]:.4f},{place[1]:.4f}")
    file = tmp_path / "things.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = {**QUICK, "train.steps": 150, "data.look_back": 8, "data.horizon": 4, "data.split": "60/20/20"}
    options = {"task": "forecast", "model": "gru", "device": "cpu"}
    run = atento.fit(file, settings=settings, out=tmp_path / "run", **options)
    blind = atento.fit(
        file, settings={**settings, "data.look_back": 1, "model.anchor": "none"}, out=tmp_path / "blind", **options
    )
    reading = FORECAST.reading.read(run.recipe.data, run.recipe.split_seed)
    stays, goes = [], []
    for question in reading.test:
        (came,), last, before = question.references, question.source.values[-1], question.source.values[-2]
        stays.append(np.linalg.norm(came - last, axis=1).mean())
        goes.append(np.linalg.norm(came - last - np.arange(1, 5)[:, None] * (last - before), axis=1).mean())
    value, low = run.metrics["scores"]["displacement"][0], blind.metrics["scores"]["displacement"][1]
    assert value < 0.3 * np.mean(stays) and value < 0.5 * np.mean(goes)
    assert run.metrics["scores"]["displacement"][2] < low, "intervals apart from who knows the last place alone"
