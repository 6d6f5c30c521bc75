"""Forecasters of the change from step to step: the plain recurrent net by its formula, and free running."""

import pytest
import torch

from atento.models import SeriesBatch, SeriesSizes
from atento.models.builders import build_forecaster
from atento.spec import ModelRecipe

WINDOWS, PAST, CHANNELS, HIDDEN = 5, 7, 3, 11


def build(sizes, *, pace=(), **keys):
    torch.manual_seed(0)
    recipe = ModelRecipe(
        **{
            "name": "rnn",
            "strategy": "recursive",
            "channels": "joint",
            "dropout": 0.0,
            "linear_skip": False,
            "patch": 1,
            **keys,
        }
    )
    model = build_forecaster(recipe, sizes, step_scale=pace).double()
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    return model


@pytest.mark.spec("D03")
def test_five_tanh_units_and_a_line_are_just_that():
    model = build(SeriesSizes(1, 0, PAST, 1), hidden=5, anchor="none")
    past = torch.randn(WINDOWS, PAST, 1).double()
    weights = dict(model.named_parameters())
    cell = {name.removeprefix("network.stack.cells.0."): value for name, value in weights.items()}
    state = torch.zeros(WINDOWS, 5, dtype=torch.float64)
    for time in range(PAST):
        read = past[:, time] @ cell["read.weight"].T + cell["read.bias"]
        state = torch.tanh(read + state @ cell["recur.weight"].T + cell["recur.bias"])
    expected = state @ weights["network.write.weight"].T + weights["network.write.bias"]
    assert len(weights) == 6
    torch.testing.assert_close(model(past, torch.zeros(WINDOWS, PAST + 1, 0).double())[:, 0, :, 0], expected)


@pytest.mark.spec("D04")
@pytest.mark.parametrize("family", ["rnn", "gru", "lstm"])
def test_several_steps_are_one_step_again_and_again(family):
    model = build(SeriesSizes(CHANNELS, 0, PAST, 4), name=family, hidden=HIDDEN, anchor="change")
    path = torch.randn(WINDOWS, PAST, CHANNELS).double()
    found = model.rollout(path, torch.zeros(WINDOWS, PAST + 4, 0).double(), 4)[..., 0]
    for _ in range(4):
        step = model(path[:, -PAST:], torch.zeros(WINDOWS, PAST + 1, 0).double())[..., 0]
        path = torch.cat([path, step], dim=1)
    torch.testing.assert_close(found, path[:, PAST:])


def test_a_change_is_said_at_the_pace_of_each_channel_and_read_from_numbers_as_they_are():
    sizes, pace = SeriesSizes(CHANNELS, 0, PAST, 1), (0.5, 2.0, 0.1)
    model = build(sizes, pace=pace, hidden=HIDDEN, anchor="change")
    past, known = torch.randn(WINDOWS, PAST, CHANNELS).double(), torch.zeros(WINDOWS, PAST + 1, 0).double()
    change = model(past, known)[:, 0, :, 0] - past[:, -1]
    torch.testing.assert_close(change, model.network(past, known)[:, 0, :, 0] * torch.tensor(pace).double())
    higher = model(past + 3, known)[:, 0, :, 0] - past[:, -1] - 3
    assert (higher - change).abs().max() > 0.01  # a flow is not the same everywhere
    anchored = build(sizes, pace=pace, hidden=HIDDEN, anchor="last")
    torch.testing.assert_close(anchored(past + 3, known), anchored(past, known) + 3)
    assert (anchored.step_scale == 1).all()


@pytest.mark.spec("D04")
def test_a_walk_on_its_own_output_is_learned_through():
    pace = (0.5, 2.0, 0.1)
    model = build(SeriesSizes(CHANNELS, 0, 2, 1), pace=pace, hidden=HIDDEN, anchor="change")
    past = torch.randn(WINDOWS, 2, CHANNELS, dtype=torch.float64)
    target = torch.randn(WINDOWS, 3, CHANNELS, dtype=torch.float64)
    known = torch.zeros(WINDOWS, 5, 0, dtype=torch.float64)
    loss = model.loss(SeriesBatch(past, known, target)).mean
    path = past
    for _ in range(3):
        path = torch.cat([path, model(path[:, -2:], known[:, :3])[..., 0]], dim=1)
    usual = sum(step * step for step in pace) / CHANNELS  # the mean squared change
    torch.testing.assert_close(loss, (path[:, 2:] - target).square().mean() / usual, rtol=1e-6, atol=0.0)
    gradients = torch.autograd.grad(loss, list(model.parameters()), retain_graph=True)
    weight = model.network.write.weight
    place, tiny = (1, 2), 1e-6
    with torch.no_grad():
        values = []
        for sign in (1, -1):
            weight[place] += sign * tiny
            values.append(float(model.loss(SeriesBatch(past, known, target)).mean))
            weight[place] -= sign * tiny
    index = [name for name, _ in model.named_parameters()].index("network.write.weight")
    assert abs(float(gradients[index][place]) - (values[0] - values[1]) / (2 * tiny)) < 1e-6
