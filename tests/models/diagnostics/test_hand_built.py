"""The three hand-built cooks give the menu exactly, by the matrices as they are written down."""

import random

import pytest
import torch

from atento.data.builtin.probes import DISHES, WEATHERS, by_rain
from atento.models.diagnostics import FollowsWeather, Rotates, RotatesInRain


def one_hot(names, known):
    return torch.eye(len(known))[[known.index(name) for name in names]]


def menu(network, first, weathers):
    dishes = network(one_hot([first], DISHES), one_hot(weathers, WEATHERS).unsqueeze(0))[0]
    assert dishes.sum(-1).tolist() == [1.0] * len(weathers)
    assert set(dishes.flatten().tolist()) <= {0.0, 1.0}
    return [DISHES[place] for place in dishes.argmax(-1).tolist()]


WEEK = ["sunny", "rainy", "rainy", "sunny", "rainy", "sunny", "sunny"]


@pytest.mark.spec("R15")
def test_the_matrices_are_those_of_the_story():
    assert FollowsWeather().weather.tolist() == [[1, 0], [0, 1], [0, 0]]
    assert Rotates().rotation.tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    third = RotatesInRain()
    assert (third.food.shape, third.weather.shape) == ((6, 3), (6, 2))
    assert third.food.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1], [1, 0, 0], [0, 1, 0]]
    assert third.weather.tolist() == [[1, 0]] * 3 + [[0, 1]] * 3
    assert not list(third.parameters())


@pytest.mark.spec("R15")
def test_the_menu_by_hand():
    """Worked on paper: pie first, then a week of sun and rain."""
    assert menu(FollowsWeather(), "chicken", WEEK) == ["pie", "burger", "burger", "pie", "burger", "pie", "pie"]
    assert menu(Rotates(), "pie", WEEK) == ["burger", "chicken", "pie", "burger", "chicken", "pie", "burger"]
    expected = ["pie", "burger", "chicken", "chicken", "pie", "pie", "pie"]
    assert menu(RotatesInRain(), "pie", WEEK) == expected
    one_day = {(dish, sky): menu(RotatesInRain(), dish, [sky])[0] for dish in DISHES for sky in WEATHERS}
    assert one_day == {
        ("pie", "sunny"): "pie",
        ("burger", "sunny"): "burger",
        ("chicken", "sunny"): "chicken",
        ("pie", "rainy"): "burger",
        ("burger", "rainy"): "chicken",
        ("chicken", "rainy"): "pie",
    }


@pytest.mark.parametrize("days", [1, 7, 200])
def test_networks_and_rules_agree(days):
    chance = random.Random(days)
    first, weathers = chance.choice(DISHES), chance.choices(WEATHERS, k=days)
    assert menu(FollowsWeather(), first, weathers) == [DISHES[WEATHERS.index(weather)] for weather in weathers]
    assert menu(Rotates(), first, weathers) == [DISHES[(DISHES.index(first) + day) % 3] for day in range(1, days + 1)]
    assert menu(RotatesInRain(), first, weathers) == by_rain(first, weathers)


def test_a_batch_of_weeks():
    first = one_hot(["pie", "chicken"], DISHES)
    weather = torch.stack([one_hot(WEEK, WEATHERS), one_hot(WEEK[::-1], WEATHERS)])
    together = RotatesInRain()(first, weather)
    assert together.shape == (2, 7, 3)
    for row in range(2):
        assert torch.equal(RotatesInRain()(first[row : row + 1], weather[row : row + 1])[0], together[row])
