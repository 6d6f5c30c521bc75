"""How much a run gets through, worked out by hand."""

import math

import pytest

from atento.spec import Recipe
from atento.tasks.defaults.budget_estimate import LARGEST, TrainingEstimate, tokens_of_pair

PAIRS = [("manducar\tV;PST;SG", "manducado")] * 500  # 8 letters, 3 features, 9 letters


def estimate(device="cpu", **limits):
    recipe = Recipe().with_values({f"train.{key}": value for key, value in limits.items()})
    return TrainingEstimate.of(recipe, PAIRS, device)


def test_letters_and_features_are_tokens_and_words_are_subwords():
    assert tokens_of_pair(PAIRS) == 20
    assert tokens_of_pair([("ein alter Mann", "an old man here")] * 7) == pytest.approx(1.3 * 7)
    assert tokens_of_pair([]) == 0


def test_time_times_speed_over_tokens():
    assert estimate(budget=100, threads=1).passes == pytest.approx(100 * 6_000 / (500 * 20))
    assert estimate(budget=100).passes == pytest.approx(1.7 * 60)
    assert estimate("cuda", budget=100).passes == pytest.approx(600)


def test_the_first_limit_decides():
    assert estimate(epochs=3, budget=1e6).passes == pytest.approx(3)
    assert estimate(epochs=3).seconds == math.inf
    counted = estimate(steps=10, batch_tokens=1000, budget=1e6)
    assert (counted.passes, counted.batch_tokens, counted.steps) == (pytest.approx(1.0), 0, 10)


def test_a_batch_for_eight_thousand_steps():
    assert estimate(budget=600, threads=1).batch_tokens == 600 * 6_000 // 8_000
    assert estimate(budget=600, threads=1).steps == pytest.approx(8_000)
    assert estimate(budget=10).batch_tokens == 256
    assert estimate(budget=10, threads=1).steps == pytest.approx(60_000 / 256)
    assert estimate().batch_tokens == LARGEST
