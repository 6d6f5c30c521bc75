"""Labels of numeric sequences: the codec, what a trained model says, and where it looked."""

import numpy as np
import pytest
import torch

import atento
from atento.errors import InputError
from atento.models.backbones.numbers import PatchedNumbers
from atento.spec import DecodeRecipe, ModelRecipe, Recipe, TokensRecipe
from atento.tasks.classify.defaults import numbers_sizes
from atento.tasks.classify.series import CLASSIFY_SERIES, UNMET, SeriesCodec
from atento.tasks.task import fill_defaults

QUICK = {
    "train.steps": 60,
    "train.lr": 0.02,
    "train.warmup": 5,
    "train.batch_tokens": 1200,
    "train.threads": 1,
    "train.validations": 1,
    "model.hidden": 12,
    "model.dropout": 0.0,
}


def waves(count, seed=0):
    """Two channels of ragged length; only the order of the bump's two halves, up and down, tells the labels apart."""
    chance = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        steps = chance.normal(0, 0.2, (int(chance.integers(14, 23)), 2))
        at = int(chance.integers(1, len(steps) - 7))
        steps[at : at + 6, 0] += np.repeat([1.5, -1.5] if number % 2 else [-1.5, 1.5], 3)
        rows.append((" ".join(f"{one:.3f},{other:.3f}" for one, other in steps), ("down-up", "up-down")[number % 2]))
    return rows


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    place = tmp_path_factory.mktemp("waves")
    lines = ["@problemName Waves\n@univariate false\n@dimensions 2\n@classLabel true up-down down-up\n@data\n"]
    for source, label in waves(260):
        channels = zip(*(step.split(",") for step in source.split()), strict=True)
        lines.append(":".join(map(",".join, channels)) + f":{label}\n")
    (place / "waves.ts").write_text("".join(lines))
    settings = {**QUICK, "model.patch": 1, "data.split": "70/5/25"}
    return atento.fit(place / "waves.ts", model="gru+additive", settings=settings, out=place / "run")


@pytest.mark.spec("K02")
def test_a_small_model_learns_what_only_order_tells(run):
    assert run.recipe.task == "classify-series"
    accuracy, low, _ = run.metrics["scores"]["accuracy"]
    assert accuracy >= 0.95 and low > 0.85
    assert atento.load(run.folder).predict([source for source, _ in waves(4, 9)]) == [label for _, label in waves(4, 9)]


def test_chances_add_up_and_company_does_not_matter(run):
    sources = [source for source, _ in waves(7, 3)]
    answers = run.predictor.answer(sources)
    for one, source in zip(answers, sources, strict=True):
        assert sum(one.chances.values()) == pytest.approx(1, abs=1e-5)
        assert one.chances[one.text] == pytest.approx(np.exp(one.score), abs=1e-5)
        (alone,) = run.predictor.answer([source])
        assert alone.text == one.text and alone.score == pytest.approx(one.score, abs=1e-5)


def test_a_look_has_a_weight_for_each_step_and_finds_the_bump(run):
    found = []
    for source, _ in waves(8, 5):
        alignment = run.look(source)
        steps = np.abs([float(step.split(",")[0]) for step in source.split()])
        assert alignment.weights.shape == (1, 1, 1, len(steps))
        assert alignment.weights.sum() == pytest.approx(1, abs=1e-4)
        near = np.convolve(steps > 1, np.ones(5), "same") > 0  # a state knows its neighbours
        found.append(float(alignment.weights[0, 0, 0][torch.from_numpy(near)].sum()))
    assert np.mean(found) > 0.6
    traced = CLASSIFY_SERIES.steps(run.module, run.predictor.bundle.codec, waves(1)[0][0], DecodeRecipe())
    assert [one["title"] for one in traced] == ["numbers", "states", "weights", "summary", "outputs"]


def test_patches_and_transformers_are_looked_into():
    codec = SeriesCodec.learn(TokensRecipe(), waves(6))
    recipe = ModelRecipe(name="transformer", hidden=8, heads=2, layers=2, patch=4)
    module = CLASSIFY_SERIES.build(recipe, codec).eval()
    assert isinstance(module.encoder, PatchedNumbers)
    source = waves(1)[0][0]
    pieces = -(-len(source.split()) // 4)
    alignment = CLASSIFY_SERIES.look(module, codec, source, DecodeRecipe())
    assert alignment.weights.shape == (2, 2, pieces, pieces)
    assert alignment.source[0] == "1–4"
    plain = CLASSIFY_SERIES.build(ModelRecipe(name="gru", hidden=8), codec).eval()
    assert CLASSIFY_SERIES.look(plain, codec, source, DecodeRecipe()).weights.numel() == 0


def test_the_codec_there_and_back():
    codec = SeriesCodec.learn(TokensRecipe(), waves(10))
    again = SeriesCodec.load(codec.to_json())
    assert (again.labels, again.counts, again.channels) == (codec.labels, codec.counts, codec.channels)
    assert codec.encode((waves(1)[0][0], "sideways")).label == UNMET
    assert codec.notes[1] == "2 labels, most often down-up 50%, up-down 50%"
    steps = torch.cat([codec.read(source) for source, _ in waves(10)])
    torch.testing.assert_close(steps.mean(dim=0), torch.zeros(2), atol=1e-5, rtol=0)
    assert codec.balanced(1.0).tolist() == [1.0, 1.0]
    for broken in ({}, {**codec.to_json(), "labels": ["a", "a"]}, {**codec.to_json(), "counts": [1]}):
        with pytest.raises(InputError, match="no labels"):
            SeriesCodec.load(broken)
    with pytest.raises(InputError, match="no scales"):
        SeriesCodec.load({**codec.to_json(), "channels": [[0.0]]})
    with pytest.raises(InputError, match="nothing to tell apart"):
        SeriesCodec.learn(TokensRecipe(), [("1 2", "a")])


def test_long_sequences_are_read_in_patches():
    recipe = fill_defaults(CLASSIFY_SERIES, {}, data="any.ts")
    short = numbers_sizes(recipe, [(" ".join("1" * 50), "a")], "cpu")
    long = numbers_sizes(recipe, [(" ".join("1" * 1000), "a")], "cpu")
    assert short["model.patch"] == 1
    assert long["model.patch"] > 4
    assert long["train.batch_tokens"] > short["train.batch_tokens"]
    assert isinstance(recipe, Recipe)
