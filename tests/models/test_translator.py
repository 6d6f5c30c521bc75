"""Only real target tokens are predicted, and what padding holds changes no loss and no gradient."""

import pytest
import torch
from torch import nn

from atento.layers import token_cross_entropy
from atento.models import TranslationBatch
from atento.models.builders import Vocabularies, build_translator, count_parameters
from atento.spec import ModelRecipe

FAMILIES = ["rnn", "lstm+additive", "gru+dot+sparsemax", "transformer"]


def model(name):
    recipe = ModelRecipe(name=name, hidden=10, heads=2, feed_forward=7, dropout=0.0)
    return build_translator(recipe, Vocabularies(13, 11))


def batch():
    source, target = torch.randint(4, 13, (3, 7)), torch.randint(4, 11, (3, 5))
    source_valid = torch.arange(7) < torch.tensor([[7], [4], [2]])
    target_valid = torch.arange(5) < torch.tensor([[3], [5], [1]])
    return TranslationBatch(source, source_valid, target.roll(1, 1), target, target_valid)


def loss_of(translator, one):
    return token_cross_entropy(translator(one), one.target[one.target_valid])


def gradients(translator, total):
    return [part.double() for part in torch.autograd.grad(total, list(translator.parameters()))]


@pytest.mark.parametrize("name", FAMILIES)
def test_padding_never_counts(name):
    translator, one = model(name), batch()
    results = []
    for filling in (0, 7):
        source = one.source.masked_fill(~one.source_valid, filling)
        previous = one.previous.masked_fill(~one.target_valid, filling)
        target = one.target.masked_fill(~one.target_valid, filling)
        loss = loss_of(translator, one._replace(source=source, previous=previous, target=target))
        assert loss.items == 9
        results.append([loss.total, *gradients(translator, loss.total)])
    torch.testing.assert_close(*results, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", FAMILIES)
def test_rows_one_by_one_add_up_to_the_batch(name):
    translator, one = model(name), batch()
    whole = loss_of(translator, one)
    rows = [loss_of(translator, TranslationBatch(*(part[row : row + 1] for part in one))) for row in range(3)]
    assert sum(row.items for row in rows) == whole.items
    total = sum(row.total for row in rows)
    torch.testing.assert_close(total, whole.total, rtol=1e-6, atol=0)
    torch.testing.assert_close(gradients(translator, total), gradients(translator, whole.total), rtol=1e-4, atol=1e-5)


def test_logits_are_those_of_real_tokens_in_order():
    translator, one = model("gru+dot"), batch()
    encoded = translator.encode(one.source, one.source_valid)
    every = translator.decoder(one.previous, encoded)
    expected = torch.stack([every[row, at] for row in range(3) for at in range(5) if one.target_valid[row, at]])
    torch.testing.assert_close(translator(one), expected)


@pytest.mark.parametrize("name", ["rnn", "lstm+additive", "transformer"])
def test_untied_other_vectors_predict(name):
    """Tied, moving a target token's vector moves what is read and what is said; untied, only what is read."""
    vocabularies, recipe = Vocabularies(11, 13), ModelRecipe(name=name, hidden=8, heads=2, dropout=0.0)
    tied = build_translator(recipe, vocabularies)
    untied = build_translator(recipe.model_copy(update={"tied_embeddings": False}), vocabularies)
    assert count_parameters(untied) - count_parameters(tied) == 13 * 8

    features = torch.randn(3, 8)
    for translator, moved in ((tied, True), (untied, False)):
        embedding = translator.decoder.embedding
        table = getattr(embedding, "tokens", embedding).table
        before = translator.decoder.to_logits(features)
        with torch.no_grad():
            table.weight[7] += 1.0
        after = translator.decoder.to_logits(features)
        expected = before + moved * nn.functional.one_hot(torch.tensor(7), 13) * features.sum(-1, keepdim=True)
        torch.testing.assert_close(after, expected)
