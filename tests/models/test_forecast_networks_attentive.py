"""The recurrent forecaster that looks back: walked by hand with attention written out."""

import pytest
import torch
from torch import nn

from atento.models import SeriesSizes
from atento.models.builders import build_forecaster
from atento.spec import ModelRecipe

ROWS, PAST, HORIZON, CHANNELS, COVARIATES, SIZE, PATCH = 2, 11, 7, 3, 2, 6, 3
SIZES = SeriesSizes(CHANNELS, COVARIATES, PAST, HORIZON)


def softmax(scores):
    raised = [torch.exp(score) for score in scores]
    return [one / sum(raised) for one in raised]


def additive(score, query, key):
    return score.collapse.weight[0] @ torch.tanh(score.project_query.weight @ query + score.project_key.weight @ key)


SCORES = {"additive": additive, "dot": lambda score, query, key: query @ key}


@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("family", ["gru", "lstm"])
def test_a_walk_by_hand(family, score, directions):
    recipe = ModelRecipe(
        name=f"{family}+{score}", hidden=SIZE, patch=PATCH, linear_skip=False, channels="joint", directions=directions
    )
    model = build_forecaster(recipe, SIZES).eval()
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.5)
    network = model.network
    past, known = torch.randn(ROWS, PAST, CHANNELS), torch.randn(ROWS, PAST + HORIZON, COVARIATES)
    effect = model.effect(known)
    bare = past - effect[:, :PAST]
    level = bare[:, -1:]
    read = network.embedding(bare - level, known[:, :PAST]).relu()
    asked = network.queries(known[:, PAST:])
    found, looked = model(past, known)[..., 0], model.weights(past, known)
    for row in range(ROWS):
        states = walked(network.encoder, read[row], directions)
        last = states[-1] if directions == 1 else torch.cat([states[-1][: SIZE // 2], states[0][SIZE // 2 :]])
        state = network.decoder.start(read[:1, 0])[0]
        state = state._replace(hidden=torch.tanh(network.first(last))[None])
        steps = []
        for place in range(3):
            state = network.decoder.cell(0)(asked[row : row + 1, place], state)
            said = state.hidden[0]
            shares = softmax([SCORES[score](network.attention.score, said, key) for key in states])
            context = sum(share * value for share, value in zip(shares, states, strict=True))
            torch.testing.assert_close(looked[row, 0, 0, 0, place], torch.stack(shares), rtol=0, atol=1e-12)
            joined = torch.tanh(network.join(torch.cat([context, said])))
            steps.append(network.head.map(joined).view(PATCH, CHANNELS))
        expected = torch.cat(steps)[:HORIZON] + level[row] + effect[row, PAST:]
        torch.testing.assert_close(found[row], expected, rtol=0, atol=1e-12)


def walked(stack, inputs, directions):
    """The states of all patches, those of both directions side by side."""
    ways = []
    for way in range(directions):
        cell, said = stack.cell(way), {}
        state = cell.start(inputs[:1])
        for place in reversed(range(len(inputs))) if way else range(len(inputs)):
            state = cell(inputs[place : place + 1], state)
            said[place] = state.hidden[0]
        ways.append([said[place] for place in range(len(inputs))])
    return [torch.cat(parts) for parts in zip(*ways, strict=True)]
