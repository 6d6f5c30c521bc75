"""Captioners by name: what goes together, and what is refused."""

import pytest
import torch

from atento.checks import check
from atento.errors import InputError
from atento.models import ModelName, TranslationBatch
from atento.models.builders import Vocabularies, build_captioner, build_image_encoder, build_translator
from atento.models.builders.images import require_captioner
from atento.spec import ModelRecipe

WORDS, SIDE = 11, 16
NAMES = [
    "conv/rnn",
    "conv/lstm",
    "conv/lstm+additive",
    "conv/lstm+additive+hard",
    "conv/lstm+additive+hard-reinforce",
    "conv/lstm+additive+hard-half",
    "conv/gru+dot+sparsemax",
    "conv/transformer",
    "conv/transformer+additive",
]


def build(name, **choices):
    recipe = ModelRecipe(name=name, **{"hidden": 8, "heads": 2, "feed_forward": 7, **choices})
    return build_captioner(recipe, WORDS, side=SIDE).eval()


@pytest.mark.parametrize("name", NAMES)
def test_every_decoder_goes_with_images_and_keeps_every_contract(name):
    checked = check(build(name))
    assert checked, checked
    assert checked["neighbours"].verdict == "held"
    assert checked["padding content"].verdict == "does not apply"


@pytest.mark.parametrize("attend", ["luong", "bahdanau"])
def test_a_captioner_learns_through_both_parts(attend):
    module = build("conv/lstm+additive", attend=attend).train()
    tokens = torch.randint(4, WORDS, (2, 5))
    valid = torch.ones(2, 5, dtype=torch.bool)
    batch = TranslationBatch(torch.rand(2, 3, SIDE, SIDE), valid[:, :1], tokens, tokens, valid)
    module(batch).square().sum().backward()
    still = [name for name, weight in module.named_parameters() if weight.grad is None or not weight.grad.any()]
    assert not still


@pytest.mark.parametrize("side, grid", [(8, 4), (16, 8), (32, 8), (48, 6), (64, 8), (100, 7), (128, 8)])
def test_a_image_of_any_size_has_some_eight_regions_a_side(side, grid):
    assert build_image_encoder(ModelRecipe(hidden=4), side).grid(side) == (grid, grid)


@pytest.mark.parametrize(
    "name, message",
    [
        ("lstm+additive", r"two parts.*\n.*\n.*write conv/lstm\+additive"),
        ("conv", r"two parts.*\n.*\n.*write conv/lstm\+additive"),
        ("gru/lstm", "no image encoder 'gru'"),
        ("conv+dot/lstm", "the other part has"),
        ("conv/conv", "reads images"),
        ("conv/nothing", "no model 'nothing'"),
        ("conv/lstm/gru", "no model"),
    ],
)
def test_names_that_make_no_captioner(name, message):
    with pytest.raises(InputError, match=message):
        require_captioner(ModelName.parse(name))


@pytest.mark.parametrize("name", ["conv", "conv/lstm", "lstm/conv", "conv+additive"])
def test_text_is_not_read_by_an_image_encoder(name):
    with pytest.raises(InputError, match="conv reads images"):
        build_translator(ModelRecipe(name=name), Vocabularies(9, 9))


def test_a_image_smaller_than_its_regions():
    with pytest.raises(InputError, match="at least 8 pixels"):
        build_image_encoder(ModelRecipe(), 7)
