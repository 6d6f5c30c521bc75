"""T-Fixup: the factors by hand, where they are applied, and that it trains what Xavier alone does not."""

import math
import re

import pytest
import torch

from atento.blocks.initialization import decoder_factor, encoder_factor
from atento.layers import token_cross_entropy
from atento.models import TranslationBatch
from atento.models.builders import Vocabularies, build_translator
from atento.spec import ModelRecipe

LAYERS, SIZE, TOKENS, FIRST, LENGTH, ROWS, STEPS = 6, 64, 9, 4, 4, 16, 200


def build(init, **choices):
    torch.manual_seed(0)
    options = {"hidden": SIZE, "layers": LAYERS, "heads": 1, "feed_forward": SIZE, "dropout": 0.0, "norm": "none"}
    recipe = ModelRecipe(name="transformer", init=init, **{**options, **choices})
    return build_translator(recipe, Vocabularies(TOKENS, TOKENS))


@pytest.mark.spec("T06")
def test_factors_of_six_layers_by_hand():
    assert decoder_factor(6) == pytest.approx(0.3689, abs=5e-5)
    assert encoder_factor(6) == pytest.approx(0.4281, abs=5e-5)


@pytest.mark.spec("T06")
def test_what_is_scaled_and_what_is_not():
    """The same draws with and without: W^V, W^O, feed-forward weights and embeddings are smaller, nothing else is."""
    plain, fixed = build("xavier").state_dict(), build("t-fixup").state_dict()
    scaled = re.compile(r"(to_value|combine|widen|narrow)\.weight$")
    counts = {0.3689: 0, 0.4281: 0, 1.0: 0}
    for name, weight in fixed.items():
        if name.endswith("table.weight") or (scaled.search(name) and name.startswith("decoder")):
            factor = 0.3689
        elif scaled.search(name):
            factor = 0.4281
        else:
            factor = 1.0
        torch.testing.assert_close(weight, factor * plain[name], rtol=2e-4, atol=0)
        counts[factor] += name.endswith("weight")
    assert counts == {0.3689: 2 + 6 * (2 + 2 + 2), 0.4281: 6 * (2 + 2), 1.0: 6 * 2 + 6 * (2 + 2)}
    assert not [name for name in fixed if "norm" in name]


@pytest.mark.spec("T06")
def test_xavier_everywhere_except_embeddings():
    """Variance 2 / (rows + columns), biases zero; embeddings d^−½, padding zero."""
    model = build("t-fixup", feed_forward=4 * SIZE)
    for name, weight in model.named_parameters():
        if name.endswith("bias"):
            assert (weight == 0).all()
        elif "table" not in name:
            factor = 1.0 if re.search("to_(query|key)", name) else (0.3689, 0.4281)[name.startswith("encoder")]
            std = factor * math.sqrt(2 / sum(weight.shape))
            assert weight.std().item() == pytest.approx(std, rel=0.05)
            assert weight.abs().max().item() <= std * math.sqrt(3) * 1.001  # uniform
    table = build_translator(
        ModelRecipe(name="transformer", hidden=SIZE, layers=LAYERS, init="t-fixup"), Vocabularies(1009, 3)
    ).encoder.embedding.tokens.table.weight
    assert table[1:].std().item() == pytest.approx(0.3689 * SIZE**-0.5, rel=0.02)
    assert (table[0] == 0).all()


def reversing(step):
    """Short strings, to be written backwards."""
    generator = torch.Generator().manual_seed(step)
    source = torch.randint(FIRST, TOKENS, (ROWS, LENGTH), generator=generator)
    target, valid = source.flip(1), torch.ones(ROWS, LENGTH, dtype=torch.bool)
    previous = torch.cat([torch.full((ROWS, 1), 2), target[:, :-1]], dim=1)
    return TranslationBatch(source, valid, previous, target, valid)


def trained(init):
    """The loss of every step: no norm, no warm-up, lr 1e-3."""
    model = build(init).float()
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98), fused=True)
    losses = []
    for step in range(STEPS):
        batch = reversing(step)
        loss = token_cross_entropy(model(batch), batch.target[batch.target_valid]).mean
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


GUESSING = math.log(TOKENS - FIRST)


@pytest.mark.spec("T06")
def test_twelve_layers_train_without_norm_or_warm_up():
    losses = trained("t-fixup")
    assert losses[0] < 2 * GUESSING
    assert sum(losses[-20:]) / 20 < 0.2 * GUESSING


@pytest.mark.spec("T06")
def test_where_xavier_alone_does_not():
    losses = trained("xavier")
    assert losses[0] > 20 * GUESSING
    assert sum(losses[-20:]) / 20 > 2 * GUESSING  # worse than saying nothing
