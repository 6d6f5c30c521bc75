"""Contracts of matchers: all kinds keep them, and one that lets padding in is caught."""

import pytest
import torch

import atento
from atento.models import LabelHead, PairVectors
from atento.models.builders import build_matcher
from atento.spec import ModelRecipe

NAMES = [
    "gru",
    "lstm+additive",
    "gru+dot+co",
    "lstm+additive+sparsemax+co",
    "transformer+co",
    "transformer+local+co",
    "gru+dot+local+co",
]


def build(name):
    torch.manual_seed(0)
    return build_matcher(ModelRecipe(name=name, hidden=8, heads=2, window=1), 11, LabelHead, 3)


@pytest.mark.spec("X01")
@pytest.mark.parametrize("name", NAMES)
def test_every_matcher_keeps_its_contracts(name):
    found = atento.check(build(name))
    assert found, found
    assert {"padding content", "padding amount", "neighbours", "no valid items", "gradients at padding"} <= {
        finding.contract for finding in found
    }


def test_a_matcher_that_averages_over_padding_is_caught(monkeypatch):
    module = build("gru")

    def careless(self, batch):
        encode = self.encoder.embedding
        return PairVectors(encode(batch.first).mean(1), encode(batch.second).mean(1))

    monkeypatch.setattr(type(module), "pair_vectors", careless)
    broken = {finding.contract for finding in atento.check(module).broken}
    assert {"padding content", "padding amount"} <= broken
