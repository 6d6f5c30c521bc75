"""Recurrent forecasters: walked by hand, and what an order in time is worth."""

import pytest
import torch
from torch import nn

from atento.baselines import FeedForwardTagger
from atento.models import SeriesBatch, SeriesSizes
from atento.models.builders import build_forecaster
from atento.spec import ModelRecipe

ROWS, PAST, HORIZON, CHANNELS, COVARIATES = 2, 11, 7, 3, 2
SIZES = SeriesSizes(CHANNELS, COVARIATES, PAST, HORIZON)


def build(name, sizes=SIZES, **choices):
    recipe = ModelRecipe(name=name, **{"hidden": 5, "linear_skip": False, "channels": "joint", **choices})
    model = build_forecaster(recipe, sizes).eval()
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.5)
    return model


def climb(stack, input, states):
    """One step of all layers by the cells' own formula."""
    moved = []
    for layer in range(stack.layers):
        moved.append(stack.cell(layer)(input, states[layer]))
        input = moved[-1].hidden
    return input, moved


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("name", ["rnn", "gru", "lstm"])
def test_step_by_step_by_hand(name, layers):
    model = build(name, patch=1, layers=layers)
    network, stack = model.network, model.network.stack
    past, known = torch.randn(ROWS, PAST, CHANNELS), torch.randn(ROWS, PAST + HORIZON, COVARIATES)
    effect = model.effect(known)
    bare = past - effect[:, :PAST]
    level = bare[:, -1:]
    read = torch.cat([bare - level, known[:, 1 : PAST + 1]], dim=-1)
    states = list(stack.start(read[:, 0]))
    for time in range(PAST):
        said, states = climb(stack, read[:, time], states)
    expected = (said @ network.write.weight.mT + network.write.bias).view(ROWS, HORIZON, CHANNELS)
    expected = expected + level + effect[:, PAST:]
    torch.testing.assert_close(model(past, known)[..., 0], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["rnn", "gru", "lstm"])
def test_patches_in_parallel_by_hand(name):
    """Each patch of the horizon is one step from the same last state."""
    model = build(name, patch=4, layers=2)
    network, stack = model.network, model.network.stack
    past, known = torch.randn(ROWS, PAST, CHANNELS), torch.randn(ROWS, PAST + HORIZON, COVARIATES)
    effect = model.effect(known)
    bare = past - effect[:, :PAST]
    level = bare[:, -1:]
    read = network.embedding(bare - level, known[:, :PAST]).relu()
    states = list(stack.start(read[:, 0]))
    for place in range(3):
        _, states = climb(stack, read[:, place], states)
    asked = network.queries(known[:, PAST:])
    steps = [network.head.map(climb(stack, asked[:, place], states)[0]).view(ROWS, 4, CHANNELS) for place in range(2)]
    expected = torch.cat(steps, dim=1)[:, :HORIZON] + level + effect[:, PAST:]
    torch.testing.assert_close(model(past, known)[..., 0], expected, rtol=0, atol=1e-12)


def test_five_units_and_a_matrix():
    """The small forecaster: an RNN of five tanh units reads one coordinate, a matrix says what comes next."""
    recipe = ModelRecipe(name="rnn", hidden=5, patch=1, linear_skip=False, anchor="none", strategy="recursive")
    model = build_forecaster(recipe, SeriesSizes(1, 0, 40, 9))
    assert sum(weight.numel() for weight in model.parameters()) == 5 * 1 + 5 * 5 + 2 * 5 + 5 + 1


def learn(model, batch, steps, lr=0.02):
    optimiser = torch.optim.Adam(model.parameters(), lr=lr, fused=True)
    for _ in range(steps):
        optimiser.zero_grad()
        model.loss(batch).mean.backward()
        optimiser.step()
    return model.loss(batch).mean.item()


@pytest.mark.spec("B03")
def test_a_copy_of_the_step_before_needs_memory():
    """Numbers drawn one by one: of y_t = x_{t−1} the last step alone tells nothing, so the best guess is the mean and
    its error the spread, 1; an RNN that has read the step before remembers it.
    """
    chance = torch.Generator().manual_seed(0)
    numbers = torch.randn(500, 4, 1, generator=chance)
    target = numbers[:, -2:-1]
    found = {}
    for name, steps_seen in (("each step by itself", 1), ("rnn", 4)):
        past = numbers[:, -steps_seen:]
        batch = SeriesBatch(past, past.new_zeros(len(past), steps_seen + 1, 0), target)
        torch.manual_seed(0)
        recipe = ModelRecipe(name="rnn", hidden=16, patch=1, linear_skip=False, anchor="none", dropout=0.0)
        model = build_forecaster(recipe, SeriesSizes(1, 0, steps_seen, 1))
        found[name] = learn(model, batch, steps=150)
    assert found["each step by itself"] > 0.95
    assert found["rnn"] < 0.05


@pytest.mark.spec("B03")
def test_the_sign_of_the_number_before_cannot_be_seen_from_a_number():
    chance = torch.Generator().manual_seed(0)
    frames = torch.randn(120, 9, 1, generator=chance)
    signs = [["-" if value < 0 else "+" for value in row[:, 0]] for row in frames]
    before = [["+", *row[:-1]] for row in signs]
    rows = frames.tolist()
    for truth, least, most in ((signs, 0.97, 1.0), (before, 0.0, 0.65)):
        said = FeedForwardTagger().fit(rows[:80], truth[:80]).predict(rows[80:])
        pairs = [
            (one, other) for a, b in zip(said, truth[80:], strict=True) for one, other in zip(a[1:], b[1:], strict=True)
        ]
        right = sum(one == other for one, other in pairs) / len(pairs)
        assert least <= right <= most
