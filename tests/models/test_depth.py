"""Gradients near the output before training, against depth (Xiong et al., 2020, th. 1): why post-norm is warmed up."""

import math
import statistics

import pytest
import torch
from torch import nn

from atento.models import ModelPart
from atento.models.builders.transformer import transformer_body
from atento.spec import ModelRecipe

DEPTHS, SEEDS, SIZE, TOKENS, ROWS, TIME = (4, 8, 16, 32, 64), 5, 32, 11, 7, 5


def last_gradients(norm, depth, seed):
    """The norms of the gradients, in the last layer's feed-forward weights, of each row's loss at its last place."""
    torch.manual_seed(seed)
    sizes = {"hidden": SIZE, "heads": 2, "feed_forward": SIZE, "layers": depth}
    recipe = ModelRecipe(name="transformer", norm=norm, init="xavier", dropout=0.0, **sizes)
    embedding, stack = transformer_body(ModelPart("transformer"), recipe, TOKENS)
    tokens, answers = torch.randint(1, TOKENS, (ROWS, TIME)), torch.randint(TOKENS, (ROWS,))
    states = stack(embedding(tokens, torch.arange(TIME)))[:, -1]
    losses = nn.functional.cross_entropy(
        states @ torch.randn(SIZE, TOKENS) / math.sqrt(SIZE), answers, reduction="none"
    )
    weight = stack.layers[-1].feed_forward.narrow.weight
    return [torch.autograd.grad(loss, weight, retain_graph=True)[0].norm().item() for loss in losses]


@pytest.mark.spec("O08", "T05")
@pytest.mark.parametrize("norm, exponent", [("post", 0.0), ("pre", -0.5)])
def test_level_in_post_norm_and_one_over_root_depth_in_pre_norm(norm, exponent):
    """The slope of log norm against log depth; other seeds move it by about .03."""
    norms = []
    for depth in DEPTHS:
        every = [size for seed in range(SEEDS) for size in last_gradients(norm, depth, seed)]
        norms.append(math.log(statistics.mean(every)))
    slope, _ = statistics.linear_regression([math.log(depth) for depth in DEPTHS], norms)
    assert slope == pytest.approx(exponent, abs=0.1)
