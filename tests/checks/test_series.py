"""Contracts of autoencoders: every family keeps them, and what breaks one is found."""

import pytest
import torch

from atento.checks import check
from atento.models import WindowSizes
from atento.models.builders import build_autoencoder
from atento.spec import ModelRecipe

SIZES = WindowSizes(20, 3, (4, 5))


def build(name):
    torch.manual_seed(0)
    return build_autoencoder(ModelRecipe(name=name, hidden=8, heads=2, latent=2), SIZES)


@pytest.mark.parametrize("name", ["linear", "mlp", "conv", "rnn", "gru", "lstm", "transformer"])
def test_every_family_keeps_every_contract(name):
    checked = check(build(name))
    assert checked, checked
    assert checked["latent"].verdict == "held"


def test_who_looks_at_neighbours_or_past_the_latent_is_found():
    mixing = build("mlp")
    mixing.encoder.register_forward_hook(lambda module, given, latent: latent - latent.mean(dim=0))
    assert check(mixing)["neighbours"].verdict == "broken"
    peeping = build("mlp")
    whole = type(peeping).forward
    peeping.__class__ = type(
        "Peeping", (type(peeping),), {"forward": lambda self, values: whole(self, values) + values}
    )
    assert check(peeping)["latent"].verdict == "broken"
