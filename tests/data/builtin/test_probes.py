"""The cook's weeks, and a plain network that learns the third rule from them alone."""

import random
from functools import partial

import pytest
import torch
from torch import nn

from atento.data.builtin import BUILTIN
from atento.data.builtin.probes import COOK_SIZES, DAYS, DISHES, WEATHERS, by_rain, week
from atento.errors import InputError
from atento.recurrent import ElmanCell, OutputLayer, Stack
from atento.spec import DataRecipe

STEPS = 1200


@pytest.fixture(scope="module")
def parts():
    return BUILTIN["cook"].make(DataRecipe(train="cook"), 0)


@pytest.mark.spec("R15")
def test_the_rule_by_hand():
    assert by_rain("burger", ["sunny", "rainy", "rainy", "sunny"]) == ["burger", "chicken", "pie", "pie"]
    assert week(random.Random(3), (4, 4)) == ("pie sunny rainy rainy sunny", "pie burger chicken chicken")


def test_later_parts_are_longer_and_share_nothing(parts):
    assert [len(part) for part in parts[:3]] == list(COOK_SIZES)
    lengths = [{len(target.split()) for _, target in part} for part in parts[:3]]
    assert [(min(found), max(found)) for found in lengths] == list(DAYS)
    sources = [source for part in parts[:3] for source, _ in part]
    assert len(set(sources)) == len(sources)
    assert BUILTIN["cook"].make(DataRecipe(train="cook"), 0) == parts
    assert BUILTIN["cook"].make(DataRecipe(train="cook"), 1) != parts


def test_every_week_follows_the_rule(parts):
    for source, target in (*parts.train, *parts.valid, *parts.test):
        first, *weathers = source.split()
        dish = first
        for weather, cooked in zip(weathers, target.split(), strict=True):
            dish = DISHES[(DISHES.index(dish) + 1) % 3] if weather == "rainy" else dish
            assert cooked == dish


@pytest.mark.parametrize("key", ["source", "target", "length"])
def test_there_is_nothing_to_choose(key):
    with pytest.raises(InputError, match=rf"data\.{key} has no meaning for the built-in cook"):
        BUILTIN["cook"].make(DataRecipe(train="cook", **{key: 5 if key == "length" else "de"}), 0)


def as_tensors(pairs):
    """Each day the weather and, on the first alone, the dish before it: (B, T, 5); the dishes (B, T)."""
    inputs, truth = [], []
    for source, target in pairs:
        first, *weathers = source.split()
        days = torch.zeros(len(weathers), 5)
        days[0, DISHES.index(first)] = 1
        days[range(len(weathers)), [3 + WEATHERS.index(weather) for weather in weathers]] = 1
        inputs.append(days)
        truth.append(torch.tensor([DISHES.index(dish) for dish in target.split()]))
    pad = torch.nn.utils.rnn.pad_sequence
    return pad(inputs, batch_first=True), pad(truth, batch_first=True, padding_value=-1)


@pytest.mark.spec("R15")
def test_a_plain_network_learns_the_third_rule(parts):
    """From weeks of at most ten days, given the first dish alone, to every day of longer weeks it never saw."""
    torch.manual_seed(1)
    stack, say = Stack(partial(ElmanCell, initializer=nn.init.orthogonal_), 5, 32), OutputLayer(32, 3)
    learner = torch.optim.Adam([*stack.parameters(), *say.parameters()], lr=1e-2, fused=True)
    inputs, truth = as_tensors(parts.train)
    for step in range(STEPS):
        rows = torch.randint(0, len(inputs), (64,))
        outputs = say(stack(inputs[rows], valid=truth[rows] >= 0).outputs)
        loss = torch.nn.functional.cross_entropy(outputs.mT, truth[rows], ignore_index=-1)
        learner.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(stack.parameters(), 1.0)
        learner.param_groups[0]["lr"] = 1e-2 * (1 - step / STEPS)
        learner.step()
    inputs, truth = as_tensors(parts.test)
    with torch.no_grad():
        found = say(stack(inputs, valid=truth >= 0).outputs).argmax(-1)
    assert (truth >= 0).sum(1).min() > 10
    assert torch.equal(found[truth >= 0], truth[truth >= 0])
