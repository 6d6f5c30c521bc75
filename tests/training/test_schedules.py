"""The learning rate: by hand, and as torch's schedules and pytorch_warmup give it."""

import functools
import itertools
import math

import pytest
import torch

from atento.errors import InputError
from atento.spec import Recipe
from atento.training import DECAYS, WARM_UPS, Progress, learning_rate
from atento.training.learner import progress_share
from atento.training.schedules import noam

STEPS = 1000


@pytest.fixture
def rate(whole_recipe):
    """The rate of a step of a recipe."""
    recipe = functools.cache(lambda **values: whole_recipe(**{"lr": 0.4, "warmup": 4, "decay": "constant", **values}))
    return lambda step, over=0.0, **values: learning_rate(recipe(**values), step, over)


@pytest.mark.spec("O04")
def test_the_rate_rises_by_equal_steps_and_stays(rate):
    assert [rate(step) for step in range(1, 7)] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.4, 0.4])


@pytest.mark.spec("O05")
def test_the_rate_rises_exponentially(rate):
    rates = [rate(step, warmup_shape="exponential") for step in (1, 4, 40)]
    assert rates == pytest.approx([0.4 * 0.2212, 0.4 * 0.6321, 0.4], abs=5e-5)  # 1 − e^−¼, 1 − e^−1, 1 − e^−10


@pytest.mark.spec("O06")
def test_untuned_warm_ups_by_hand(rate):
    untuned = {"lr": 1.0, "beta2": 0.999, "warmup": 7}  # whatever warmup says
    assert rate(1000, warmup_shape="untuned-exponential", **untuned) == pytest.approx(0.6321, abs=5e-5)
    assert rate(1000, warmup_shape="untuned-linear", **untuned) == pytest.approx(0.5)
    assert rate(2000, warmup_shape="untuned-linear", **untuned) == pytest.approx(1.0)


@pytest.mark.spec("O07")
def test_without_a_warm_up_the_first_rate_is_the_highest(rate):
    assert rate(1, warmup_shape="none") == 0.4
    assert [rate(1, warmup=0, warmup_shape=shape) for shape in ("linear", "exponential")] == [0.4, 0.4]


def test_the_rate_falls_by_a_factor_after_each_plateau(whole_recipe):
    recipe = whole_recipe(lr=0.4, warmup=4, decay="plateau", plateau_factor=0.5)
    assert [learning_rate(recipe, 9, 0.3, plateaus=many) for many in (0, 1, 3)] == pytest.approx([0.4, 0.2, 0.05])
    assert learning_rate(recipe, 2, 0.0, plateaus=1) == pytest.approx(0.1)
    constant = whole_recipe(lr=0.4, warmup=4, decay="constant")
    assert learning_rate(constant, 9, 0.3, plateaus=3) == 0.4


@pytest.mark.spec("O04", "O05", "O06")
@pytest.mark.parametrize(
    "shape, theirs",
    [
        ("linear", lambda module, optimizer: module.LinearWarmup(optimizer, warmup_period=53)),
        ("exponential", lambda module, optimizer: module.ExponentialWarmup(optimizer, warmup_period=53)),
        ("untuned-linear", lambda module, optimizer: module.UntunedLinearWarmup(optimizer)),
        ("untuned-exponential", lambda module, optimizer: module.UntunedExponentialWarmup(optimizer)),
    ],
)
def test_warm_ups_agree_with_pytorch_warmup(rate, shape, theirs):
    """With a cosine decay, so that it is also their way of joining both. They round τ; of β₂ = 1 − 1/64 it is whole."""
    import pytorch_warmup

    optimizer = torch.optim.Adam([torch.zeros(1, requires_grad=True)], lr=0.4, betas=(0.9, 1 - 1 / 64))
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    warm_up = theirs(pytorch_warmup, optimizer)
    for step in range(1, STEPS + 1):
        values = {"warmup_shape": shape, "warmup": 53, "beta2": 1 - 1 / 64, "decay": "cosine"}
        ours = rate(step, (step - 1) / STEPS, **values)
        assert ours == pytest.approx(optimizer.param_groups[0]["lr"], abs=1e-9)
        optimizer.step()
        with warm_up.dampening():
            decay.step()


@pytest.mark.parametrize(
    "decay, shares",
    [
        ("constant", [1, 1, 1, 1]),
        ("linear", [1, 0.75, 0.5, 0]),
        ("cosine", [1, (1 + math.sqrt(0.5)) / 2, 0.5, 0]),
        ("exponential", [1, 0.01**0.25, 0.1, 0.01]),
        ("inverse-sqrt", [0.1, 0.1, 0.1, 0.1]),  # step 100, whatever is over
    ],
)
def test_the_rate_falls_to_the_end(rate, decay, shares):
    rates = [rate(100, over, decay=decay, warmup=0) for over in (0, 0.25, 0.5, 1)]
    assert rates == pytest.approx([0.4 * share for share in shares], abs=1e-12)


@pytest.mark.spec("O07")
@pytest.mark.parametrize(
    "decay, theirs",
    [
        ("constant", lambda torch_s, optimizer: torch_s.ConstantLR(optimizer, factor=1.0)),
        ("linear", lambda torch_s, optimizer: torch_s.PolynomialLR(optimizer, total_iters=STEPS)),
        ("cosine", lambda torch_s, optimizer: torch_s.CosineAnnealingLR(optimizer, STEPS)),
        ("exponential", lambda torch_s, optimizer: torch_s.ExponentialLR(optimizer, 0.01 ** (1 / STEPS))),
        ("inverse-sqrt", lambda torch_s, optimizer: torch_s.LambdaLR(optimizer, lambda done: (done + 1) ** -0.5)),
    ],
)
def test_decays_agree_with_torch_s_schedules(rate, decay, theirs):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.4)
    schedule = theirs(torch.optim.lr_scheduler, optimizer)
    for step in range(1, STEPS + 1):
        ours = rate(step, (step - 1) / STEPS, decay=decay, warmup_shape="none")
        assert ours == pytest.approx(optimizer.param_groups[0]["lr"], abs=1e-9)
        optimizer.step()
        schedule.step()


@pytest.mark.spec("O03")
def test_noam_by_hand():
    """d = 512, w = 4000: it peaks at step 4000, at (512 · 4000)^−½."""
    assert noam(4000, width=512, warmup=4000) == pytest.approx(6.988e-4, abs=5e-8)
    rates = [noam(step, width=512, warmup=4000) for step in range(1, 20_000)]
    assert rates.index(max(rates)) == 4000 - 1
    assert rates[0] == pytest.approx(max(rates) / 4000)  # a line up,
    assert rates[16_000 - 1] == pytest.approx(max(rates) / 2)  # then 1/√s


@pytest.mark.spec("O03")
def test_noam_follows_from_width_and_warm_up_alone(rate):
    recipe = Recipe().with_values({"model.hidden": 512, "train.warmup": 4000, "train.decay": "noam", "train.lr": 0.4})
    for step in (1, 399, 4000, 100_000):
        expected = 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
        assert learning_rate(recipe, step, 0.9) == pytest.approx(expected, rel=1e-12)
        parts = rate(step, warmup=4000, decay="inverse-sqrt", lr=(512 * 4000) ** -0.5)
        assert parts == pytest.approx(expected)  # a linear warm-up times an inverse root, from its peak


def test_noam_needs_a_warm_up(whole_recipe):
    with pytest.raises(InputError, match="needs a warm-up") as caught:
        noam(1, width=512, warmup=0)
    assert caught.value.found == "warmup=0"
    with pytest.raises(InputError, match=r"train\.decay cannot be 'noam'") as caught:
        whole_recipe(decay="noam", warmup=0)
    assert "train.warmup" in caught.value.fix


@pytest.mark.spec("O07")
def test_any_warm_up_times_any_decay_and_never_below_zero(rate):
    for shape, decay in itertools.product(WARM_UPS, DECAYS):
        for step, share in ((1, -0.5), (2, 0.25), (900, 1.5)):
            alone = rate(step, share, warmup_shape="none", decay=decay, lr=1.0)
            warm = rate(step, share, warmup_shape=shape, decay="constant", lr=1.0)
            both = rate(step, share, warmup_shape=shape, decay=decay, lr=1.0)
            assert 0 <= both <= 1
            if decay != "inverse-sqrt":  # which begins to fall where its warm-up ends
                assert both == pytest.approx(alone * warm)
    assert rate(2, 0.25, decay="linear") == pytest.approx(0.4 * 0.5 * 0.75)
    assert rate(9, 1.5, decay="linear") == 0.0
    assert rate(8, 0.1, decay="inverse-sqrt") == pytest.approx(0.4 * math.sqrt(4 / 8))


def test_the_recipe_names_what_the_tables_hold():
    fields = Recipe.model_fields["train"].annotation.model_fields
    assert set(fields["warmup_shape"].annotation.__args__) == set(WARM_UPS)
    assert set(fields["decay"].annotation.__args__) == {*DECAYS, "noam"}


def test_the_share_that_is_over_is_of_the_nearest_limit(whole_recipe):
    progress = Progress(step=30, epoch=1, position=5, elapsed=12.0)
    assert progress_share(progress, whole_recipe(steps=100), batches=10) == pytest.approx(0.3)
    assert progress_share(progress, whole_recipe(epochs=3), batches=10) == pytest.approx(0.5)
    assert progress_share(progress, whole_recipe(budget=20), batches=10) == pytest.approx(0.6)
    assert progress_share(progress, whole_recipe(steps=100, epochs=3, budget=20), batches=10) == pytest.approx(0.6)
    assert progress_share(progress, whole_recipe(), batches=10) == 0.0
