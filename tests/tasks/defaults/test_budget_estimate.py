"""How much a run gets through, worked out by hand."""

import math

import pytest

from atento.spec import Recipe
from atento.tasks.defaults import budget_estimate
from atento.tasks.defaults.budget_estimate import LARGEST, TrainingEstimate, core_speed, tokens_of_pair
from atento.tasks.filling import BY_USER

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


def sized(monkeypatch, seconds, *, speed=1.0, device="cpu", model="transformer", **values):
    monkeypatch.setattr(budget_estimate, "core_speed", lambda: speed)
    settings = {"train.budget": seconds, "train.threads": 1, "model.name": model, "data.train": "rows.tsv", **values}
    recipe = Recipe().with_values(settings, why=BY_USER)
    found = budget_estimate.transformer_size(recipe, device)
    return tuple(found[key].value for key in ("model.layers", "model.hidden")) if found else ()


def test_the_less_time_a_transformer_has_the_smaller_it_is(monkeypatch):
    assert sized(monkeypatch, 95) == (1, 128)
    assert sized(monkeypatch, 95, speed=4.0) == (2, 128)
    assert sized(monkeypatch, 600) == (2, 128)
    assert sized(monkeypatch, 600, speed=2.0) == ()  # the values of the task
    assert sized(monkeypatch, 95, device="cuda") == ()
    assert sized(monkeypatch, 15, device="cuda") == (1, 128)


def test_other_families_other_limits_and_what_the_user_chose_stay(monkeypatch):
    assert sized(monkeypatch, 95, model="transformer+crf+wide") == (1, 128)
    assert sized(monkeypatch, 95, model="lstm") == ()
    assert sized(monkeypatch, 95, **{"train.steps": 9}) == ()
    assert sized(monkeypatch, 95, **{"model.hidden": 256}) == ()
    assert sized(monkeypatch, 95, **{"data.train": "numbers"}) == ()


def test_a_core_is_timed_once_and_the_processes_of_a_run_choose_alike(monkeypatch):
    core_speed.cache_clear()
    measured = core_speed()
    assert math.log2(measured) == int(math.log2(measured))
    core_speed.cache_clear()
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert core_speed() == 1.0
    core_speed.cache_clear()
