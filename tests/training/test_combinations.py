"""Any optimizer with any warm-up and any decay, through the loop's own step."""

import dataclasses

import pytest
import torch
from torch import nn

from atento.layers import Loss
from atento.spec import TokensRecipe
from atento.tasks.catalogue import TRANSLATE
from atento.tasks.outputs.output import Example
from atento.training import DECAYS, OPTIMIZERS, WARM_UPS, Plan, learning_rate, new_learner
from atento.training.loop import take_step

STEPS = 12


def distance(module, batch, smoothing):
    """How far the weights are from one: a bowl that every optimizer rolls down."""
    return Loss((module.weight - 1).square().sum() * len(batch.source), len(batch.source))


@pytest.mark.spec("O07", "O01", "O02")
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("warmup_shape", WARM_UPS)
def test_every_combination_learns(optimizer, warmup_shape, whole_recipe, tmp_path):
    for decay in (*DECAYS, "noam"):
        options = {"lr": 0.02, "warmup": 4, "beta2": 0.9, "steps": STEPS}
        recipe = whole_recipe(optimizer=optimizer, warmup_shape=warmup_shape, decay=decay, **options)
        plan = Plan(
            task=dataclasses.replace(TRANSLATE, learning=dataclasses.replace(TRANSLATE.learning, loss=distance)),
            recipe=recipe,
            codec=TRANSLATE.learning.learn(TokensRecipe(), [("ab", "ba")]),
            examples=[Example([5, 6], [5])],
            validation=[],
            fingerprint="f",
            device=torch.device("cpu"),
            folder=tmp_path,
        )
        module = nn.Linear(3, 2, bias=False)
        nn.init.zeros_(module.weight)
        learner = new_learner(module, recipe)
        losses, rates = [], []
        for _ in range(STEPS):
            losses.append(take_step(plan, learner, [0], batches=3).item())
            rates.append({group["lr"] for group in learner.optimizer.param_groups})
        assert rates == [{learning_rate(recipe, step + 1, step / STEPS)} for step in range(STEPS)]
        assert losses[0] == 6.0 > losses[1] > losses[-1]
