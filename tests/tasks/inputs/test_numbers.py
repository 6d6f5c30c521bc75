"""Labels of numeric sequences: the codec, what a trained model says, and where it looked."""

import numpy as np
import pytest
import torch

import atento
from atento.errors import InputError
from atento.models.backbones import PatchedNumberEncoder
from atento.spec import DecodeRecipe, ModelRecipe, Recipe, TokensRecipe
from atento.tasks.catalogue import CLASSIFY_SERIES
from atento.tasks.defaults.labels import numbers_sizes
from atento.tasks.filling import fill_defaults
from atento.tasks.inputs.numbers import Numbers

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
        assert sum(one.probabilities.values()) == pytest.approx(1, abs=1e-5)
        assert one.probabilities[one.text] == pytest.approx(np.exp(one.score), abs=1e-5)
        (alone,) = run.predictor.answer([source])
        assert alone.text == one.text and alone.score == pytest.approx(one.score, abs=1e-5)


def test_a_look_has_a_weight_for_each_step_and_finds_the_bump(run):
    found = []
    for source, _ in waves(8, 5):
        alignment = run.predictor.look(source)
        steps = np.abs([float(step.split(",")[0]) for step in source.split()])
        assert alignment.weights.shape == (1, 1, 1, len(steps))
        assert alignment.weights.sum() == pytest.approx(1, abs=1e-4)
        near = np.convolve(steps > 1, np.ones(5), "same") > 0  # a state knows its neighbours
        found.append(float(alignment.weights[0, 0, 0][torch.from_numpy(near)].sum()))
    assert np.mean(found) > 0.6
    traced = CLASSIFY_SERIES.answering.trace(run.module, run.predictor.bundle.codec, waves(1)[0][0], DecodeRecipe())
    assert [one.title for one in traced] == ["numbers", "states", "weights", "summary", "outputs", "probabilities"]


def test_patches_and_transformers_are_looked_into():
    codec = CLASSIFY_SERIES.learning.learn(TokensRecipe(), waves(6))
    recipe = ModelRecipe(name="transformer", hidden=8, heads=2, layers=2, patch=4)
    module = CLASSIFY_SERIES.learning.build(recipe, codec).eval()
    assert isinstance(module.encoder, PatchedNumberEncoder)
    source = waves(1)[0][0]
    pieces = -(-len(source.split()) // 4)
    alignment = CLASSIFY_SERIES.answering.look(module, codec, source, DecodeRecipe())
    assert alignment.weights.shape == (2, 2, pieces, pieces)
    assert alignment.source[0] == "1–4"
    plain = CLASSIFY_SERIES.learning.build(ModelRecipe(name="gru", hidden=8), codec).eval()
    assert CLASSIFY_SERIES.answering.look(plain, codec, source, DecodeRecipe()).weights.numel() == 0


def test_the_codec_there_and_back():
    codec = CLASSIFY_SERIES.learning.learn(TokensRecipe(), waves(10))
    assert CLASSIFY_SERIES.learning.load(codec.to_json()).to_json() == codec.to_json()
    assert codec.notes[1] == "2 labels, most often down-up 50%, up-down 50%"
    steps = torch.cat([codec.input.encode(source) for source, _ in waves(10)])
    torch.testing.assert_close(steps.mean(dim=0), torch.zeros(2), atol=1e-5, rtol=0)
    with pytest.raises(InputError, match="no scales"):
        CLASSIFY_SERIES.learning.load({})
    with pytest.raises(InputError, match="nothing to tell apart"):
        CLASSIFY_SERIES.learning.learn(TokensRecipe(), [("1 2", "a")])


def test_long_sequences_are_read_in_patches():
    recipe = fill_defaults(CLASSIFY_SERIES, {}, data="any.ts")
    short = numbers_sizes(recipe, [(" ".join("1" * 50), "a")], "cpu")
    long = numbers_sizes(recipe, [(" ".join("1" * 1000), "a")], "cpu")
    assert short["model.patch"] == 1
    assert long["model.patch"] > 4
    assert long["train.batch_tokens"] > short["train.batch_tokens"]
    assert isinstance(recipe, Recipe)


CHANNELS = [("1,10 3,10", "5"), ("5,10", "9"), ("7,10 9,10", "1")]


@pytest.fixture(scope="module")
def numbers():
    return Numbers.learn(TokensRecipe(), [source for source, _ in CHANNELS], writes=False)


def test_every_channel_has_its_own_scale(numbers):
    (mean, std), constant = numbers.channels
    assert (mean, std) == pytest.approx((5, 8**0.5))
    assert constant == (10, 1), "what never changes is only moved"
    steps = torch.cat([numbers.encode(source) for source, _ in CHANNELS])
    torch.testing.assert_close(steps[:, 0].mean(), torch.tensor(0.0))
    torch.testing.assert_close(steps[:, 0].std(correction=0), torch.tensor(1.0))
    assert (steps[:, 1] == 0).all()


def test_scales_are_saved_and_read_again(numbers):
    again = Numbers.load(numbers.to_json())
    assert again.channels == numbers.channels
    assert torch.equal(again.encode("2,1 4,3"), numbers.encode("2,1 4,3"))
    assert numbers.encode("2,1 4,3").shape == (2, 2)
    assert numbers.notes == ("2 channels, 2 steps per sequence",)


@pytest.mark.parametrize(
    "saved",
    [
        {},
        {"channels": []},
        {"channels": [[0.0, 0.0]]},
        {"channels": [[0.0]]},
        {"channels": [[0.0, float("nan")]]},
        {"channels": "ab"},
        {"channels": [[0.0, "1"]]},
    ],
)
def test_no_scales(saved):
    with pytest.raises(InputError, match="no scales of numbers"):
        Numbers.load(saved)


def test_another_number_of_channels_is_refused(numbers):
    with pytest.raises(InputError, match="step 1 has 1 channels where 2 are read"):
        numbers.encode("1 2")
