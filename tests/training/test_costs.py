"""What a step follows: the mean over tokens or over sequences, and the penalty on the weights."""

import dataclasses
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from atento.data.text.vocabulary import START
from atento.models import RegressionHead, TranslationBatch
from atento.models.builders import Vocabularies, build_translator
from atento.spec import ModelRecipe
from atento.tasks.catalogue import TRANSLATE
from atento.training.gradients import backpropagate

BATCH, STEPS, TOKENS = 3, 5, 11
CPU = torch.device("cpu")


def some_batch():
    torch.manual_seed(1)
    source, target = torch.randint(4, TOKENS, (BATCH, STEPS)), torch.randint(4, TOKENS, (BATCH, STEPS))
    valid = torch.arange(STEPS) < torch.tensor([[5], [1], [3]])
    previous = torch.cat([torch.full((BATCH, 1), START), target[:, :-1]], dim=1)
    return TranslationBatch(source, valid, previous, target, valid)


def build():
    torch.manual_seed(0)
    return build_translator(ModelRecipe(name="gru", hidden=10, dropout=0.0), Vocabularies(TOKENS, TOKENS)).double()


def learned(recipe):
    module = build()
    loss = backpropagate(TRANSLATE, module, some_batch(), recipe.train, CPU)
    return loss.item(), {name: weight.grad for name, weight in module.named_parameters()}


@pytest.mark.spec("L05")
@pytest.mark.parametrize("bptt_steps", [0, 2])
@pytest.mark.parametrize("over, items", [("tokens", 9), ("sequences", 3)])
def test_the_mean_is_over_tokens_or_over_sequences(whole_recipe, over, items, bptt_steps):
    """Five, one and three tokens: minus their log-probabilities, summed, over 9 or over 3."""
    module, batch = build(), some_batch()
    chances = module.decoder(batch.previous, module.encode(batch.source, batch.source_valid)).log_softmax(-1)
    said = chances.gather(2, batch.target.unsqueeze(-1)).squeeze(-1)
    expected = -sum(said[row, at] for row, length in enumerate([5, 1, 3]) for at in range(length)) / items
    loss, slopes = learned(whole_recipe(loss_over=over, bptt_steps=bptt_steps, precision="fp32"))
    assert loss == pytest.approx(expected.item(), rel=1e-12)
    if not bptt_steps:
        wanted = torch.autograd.grad(expected, list(module.parameters()))
        torch.testing.assert_close(list(slopes.values()), list(wanted), rtol=1e-9, atol=1e-12)


@pytest.mark.spec("L05")
def test_a_padded_batch_has_the_loss_of_its_rows(whole_recipe):
    """Over sequences, three rows together cost the mean of what they cost alone, unpadded."""
    recipe = whole_recipe(loss_over="sequences", precision="fp32").train
    module, batch = build(), some_batch()
    together = backpropagate(TRANSLATE, module, batch, recipe, CPU).item()
    alone = [
        backpropagate(
            TRANSLATE, module, TranslationBatch(*(part[row : row + 1, :length] for part in batch)), recipe, CPU
        )
        for row, length in enumerate([5, 1, 3])
    ]
    assert together == pytest.approx(sum(one.item() for one in alone) / 3, rel=1e-12)


@pytest.mark.spec("L06")
@pytest.mark.parametrize("bptt_steps", [0, 2])
def test_the_penalty_pulls_matrices_to_zero_and_leaves_the_reported_loss_alone(whole_recipe, bptt_steps):
    plain, slopes = learned(whole_recipe(bptt_steps=bptt_steps, precision="fp32"))
    penalised, pulled = learned(whole_recipe(bptt_steps=bptt_steps, precision="fp32", l2=0.25))
    assert penalised == plain
    for name, weight in build().named_parameters():
        expected = slopes[name] + (0.5 * weight if weight.dim() > 1 else 0.0)  # 2 · l2 · w
        torch.testing.assert_close(pulled[name], expected.detach(), rtol=0, atol=1e-12)


class Cases(NamedTuple):
    features: Tensor
    truth: Tensor


@pytest.mark.spec("L06")
def test_the_loop_s_own_step_reaches_the_closed_form_of_ridge_regression(whole_recipe):
    """w = (X̃ᵀX̃ + n λ I)⁻¹ X̃ᵀỹ of centred X̃, ỹ, by gradient steps from `train.l2`."""
    torch.manual_seed(0)
    features = torch.randn(31, 5, dtype=torch.float64) + 1
    truth = features @ torch.randn(5, 1, dtype=torch.float64) + torch.randn(31, 1, dtype=torch.float64)
    head, recipe = RegressionHead(5, 1).double(), whole_recipe(l2=0.3, precision="fp32").train
    learning = dataclasses.replace(
        TRANSLATE.learning, loss=lambda module, batch, _: module.loss(module(batch.features), batch.truth)
    )
    task = dataclasses.replace(TRANSLATE, learning=learning)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    for _ in range(1500):
        optimizer.zero_grad()
        backpropagate(task, head, Cases(features, truth), recipe, CPU)
        optimizer.step()
    centred = features - features.mean(0)
    gram = centred.T @ centred + 31 * 0.3 * torch.eye(5, dtype=torch.float64)
    expected = torch.linalg.solve(gram, centred.T @ (truth - truth.mean(0)))
    torch.testing.assert_close(head.map.weight.detach(), expected.T, rtol=0, atol=1e-9)
