"""Scales from the training part alone, there and back."""

import json

import numpy as np
import pytest
from tests.tasks.hand_series import series

from atento.data.series import Frequency, Past
from atento.errors import InputError
from atento.spec import Recipe, TokensRecipe
from atento.tasks.forecast.codec import SeriesCodec
from atento.tasks.forecast.windows import WindowSpec

CHANCE = np.random.default_rng(0)
FRAME = WindowSpec(5, 3, ("a", "b"), ("k",), Frequency(1, "h"), 7)


def parts():
    scales = [(3.0, 0.5), (1000.0, 70.0)]
    return [
        (series(mean + std * CHANCE.normal(size=(40, 2)), f"s{at}", CHANCE.normal(size=43), extra=3), FRAME)
        for at, (mean, std) in enumerate(scales)
    ]


@pytest.fixture(scope="module")
def pairs():
    return parts()


@pytest.fixture(scope="module")
def codec(pairs):
    return SeriesCodec.learn(TokensRecipe(), pairs)


def test_each_series_and_channel_has_its_own_scale(codec, pairs):
    for at, (one, _) in enumerate(pairs):
        np.testing.assert_allclose(codec.scales.mean[at], one.values.mean(axis=0))
        np.testing.assert_allclose(codec.scales.std[at], one.values.std(axis=0))
        np.testing.assert_allclose(codec.scales.naive[at], np.abs(one.values[7:] - one.values[:-7]).mean(axis=0))
        scaled = codec.encode((one, FRAME)).values
        np.testing.assert_allclose(scaled.mean(dim=0), 0, atol=1e-6)
        np.testing.assert_allclose(scaled.std(dim=0, correction=0), 1, atol=1e-6)
    known = np.concatenate(
        [one.future_covariates[:40] for one, _ in pairs]
    )  # what is known of later rows takes no part
    np.testing.assert_allclose(codec.covariates, [known.mean(axis=0), known.std(axis=0)])
    assert codec.encode(pairs[0]).known.shape == (40, 1)


def test_what_comes_after_the_training_part_changes_nothing(pairs, codec):
    whole = [
        (series(np.concatenate([one.values, 1e9 * np.ones((9, 2))]), one.name, np.zeros(49)), one) for one, _ in pairs
    ]
    cut = [(longer.cut(0, 40), FRAME) for longer, _ in whole]
    again = SeriesCodec.learn(TokensRecipe(), cut)
    for mine, theirs in zip(again.scales, codec.scales, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_there_and_back(codec, pairs):
    pasts = [Past(one.name, "", one.values[:5], one.future_covariates[:8]) for one, _ in pairs]
    pasts.append(Past("never seen", "", np.array([[1.0, 5], [2, 5], [3, 5], [4, 5], [5, 5]]), np.zeros((8, 1))))
    scales = codec.scales_of(pasts)
    values = np.stack([past.values for past in pasts])
    there = scales.to(values)
    np.testing.assert_allclose(scales.back(there[..., None])[..., 0], values)
    np.testing.assert_allclose(there[2, :, 0], (np.arange(5) - 2) / np.sqrt(2))  # from its own past
    assert there[2, :, 1].tolist() == [0] * 5  # what never changes is only moved


def test_saved_and_loaded(codec):
    told = codec.suited(Recipe().with_values({"model.quantiles": "0.1,0.9", "train.noise": 0.25}))
    assert (told.levels, told.steps, told.noise) == ((0.1, 0.9), 3, 0.25)
    walked = codec.suited(Recipe().with_values({"model.strategy": "recursive", "train.rollout": 4}))
    assert walked.steps == 4
    again = SeriesCodec.load(json.loads(json.dumps(told.to_json())))
    assert again.to_json() == told.to_json()
    assert (again.frame, again.names, again.sizes) == (told.frame, told.names, told.sizes)


def test_ten_thousand_series_make_a_small_file():
    pairs = [
        (series(CHANCE.normal(size=9), f"series {at}"), FRAME._replace(channels=("y",), covariates=()))
        for at in range(10_000)
    ]
    assert len(json.dumps(SeriesCodec.learn(TokensRecipe(), pairs).to_json())) < 2e6


@pytest.mark.parametrize(
    "wrong",
    [
        {"look_back": 0},
        {"horizon": 10**12},
        {"season": True},
        {"names": "s0"},
        {"names": ["s0"]},
        {"channels": []},
        {"mean": [[0, float("nan")], [0, 0]]},
        {"std": [[1, 0], [1, 1]]},
        {"naive": [[1, -1], [1, 1]]},
        {"std": [[1, 1]]},
        {"known": [[0], [0]]},
        {"step": [1]},
        {"levels": [0.9, 0.1]},
        {"steps": -1},
        {"noise": None},
    ],
)
def test_a_damaged_file_is_refused(codec, wrong):
    with pytest.raises(InputError):
        SeriesCodec.load({**json.loads(json.dumps(codec.to_json())), **wrong})
    with pytest.raises(InputError, match="no scales"):
        SeriesCodec.load({})
