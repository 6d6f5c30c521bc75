import math

import pytest

from atento.spec import TrainRecipe
from atento.training.learner import Progress, over
from atento.training.schedules import learning_rate


def recipe(**values):
    return TrainRecipe(**{"lr": 0.4, "warmup": 4, "decay": "constant", **values})


def test_the_rate_rises_by_equal_steps_and_stays():
    rates = [learning_rate(recipe(), step, 0.0) for step in range(1, 7)]
    assert rates == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.4, 0.4])


@pytest.mark.parametrize(
    "decay, shares",
    [
        ("constant", [1, 1, 1, 1]),
        ("linear", [1, 0.75, 0.5, 0]),
        ("cosine", [1, (1 + math.sqrt(0.5)) / 2, 0.5, 0]),
    ],
)
def test_the_rate_falls_to_the_end(decay, shares):
    rates = [learning_rate(recipe(decay=decay, warmup=0), 100, over) for over in (0, 0.25, 0.5, 1)]
    assert rates == pytest.approx([0.4 * share for share in shares], abs=1e-12)


def test_warm_up_times_decay_and_never_below_zero():
    assert learning_rate(recipe(decay="linear"), 2, 0.25) == pytest.approx(0.4 * 0.5 * 0.75)
    assert learning_rate(recipe(decay="linear"), 9, 1.5) == 0.0
    assert learning_rate(recipe(decay="linear", warmup=0), 1, -0.5) == pytest.approx(0.4)


def test_the_share_that_is_over_is_of_the_nearest_limit(whole_recipe):
    progress = Progress(step=30, epoch=1, position=5, elapsed=12.0)
    assert over(progress, whole_recipe(steps=100), batches=10) == pytest.approx(0.3)
    assert over(progress, whole_recipe(epochs=3), batches=10) == pytest.approx(0.5)
    assert over(progress, whole_recipe(budget=20), batches=10) == pytest.approx(0.6)
    assert over(progress, whole_recipe(steps=100, epochs=3, budget=20), batches=10) == pytest.approx(0.6)
    assert over(progress, whole_recipe(), batches=10) == 0.0
