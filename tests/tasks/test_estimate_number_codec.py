"""Scales from the training part alone, and back."""

import pytest
import torch

from atento.errors import InputError
from atento.spec import TokensRecipe
from atento.tasks.estimate import NumberCodec

PAIRS = [("1,10 3,10", "5"), ("5,10", "9"), ("7,10 9,10", "1")]


@pytest.fixture(scope="module")
def codec():
    return NumberCodec.learn(TokensRecipe(), PAIRS)


def test_every_channel_has_its_own_scale(codec):
    (mean, spread), constant = codec.channels
    assert (mean, spread) == pytest.approx((5, 8**0.5))
    assert constant == (10, 1), "what never changes is only moved"
    assert codec.target == pytest.approx((5, (32 / 3) ** 0.5))
    steps = torch.cat([codec.read(source) for source, _ in PAIRS])
    torch.testing.assert_close(steps[:, 0].mean(), torch.tensor(0.0))
    torch.testing.assert_close(steps[:, 0].std(correction=0), torch.tensor(1.0))
    assert (steps[:, 1] == 0).all()


def test_there_and_back(codec):
    for source, target in PAIRS:
        assert codec.write(codec.encode((source, target)).target) == target
    again = NumberCodec.load(codec.to_json())
    assert again.channels == codec.channels
    assert torch.equal(again.read("2,1 4,3"), codec.read("2,1 4,3"))
    assert codec.read("2,1 4,3").shape == (2, 2)


def test_notes_say_what_was_found(codec):
    assert codec.notes == ("2 channels, 2 steps a sequence; targets of mean 5 and standard deviation 3.27",)


@pytest.mark.parametrize(
    "saved",
    [
        {},
        {"channels": [], "target": [0.0, 1.0]},
        {"channels": [[0.0, 1.0]], "target": [0.0, 0.0]},
        {"channels": [[0.0]], "target": [0.0, 1.0]},
        {"channels": [[0.0, float("nan")]], "target": [0.0, 1.0]},
        {"channels": "ab", "target": [0.0, 1.0]},
        {"channels": [[0.0, "1"]], "target": [0.0, 1.0]},
    ],
)
def test_no_codec(saved):
    with pytest.raises(InputError, match="no scales of numbers"):
        NumberCodec.load(saved)


def test_another_number_of_channels_is_refused(codec):
    with pytest.raises(InputError, match="step 1 has 1 channels where 2 are read"):
        codec.read("1 2")
