"""Optimisers by name: the papers' formulas, torch's own, and RAdam's rectification by hand."""

import math

import pytest
import torch
from torch import nn

from atento.errors import InputError
from atento.spec import Recipe, TrainRecipe
from atento.training.checkpoints import load_checkpoint, save_checkpoint
from atento.training.learner import new_learner
from atento.training.optimisers import OPTIMISERS, rectification

RATE, BETA1, BETA2, PULL, TINY, STEPS = 0.01, 0.83, 0.97, 0.3, 1e-8, 97

RECIPE = TrainRecipe(lr=RATE, beta1=BETA1, beta2=BETA2, weight_decay=PULL)


def layer(dtype=torch.float32):
    torch.manual_seed(0)
    return nn.Linear(3, 2, dtype=dtype)


def radam_length(step):
    """ρ_t of Liu et al. (2020)."""
    return 2 / (1 - BETA2) - 1 - 2 * step * BETA2**step / (1 - BETA2**step)


class Paper:
    """Each update for one number at a time, as its paper writes it."""

    def __init__(self, name, matrix):
        self.name, self.matrix = name, matrix
        self.memory = self.squares = 0.0

    def __call__(self, weight, gradient, step):
        name = self.name
        if name == "sgd":
            return weight - RATE * gradient
        if name in ("momentum", "nesterov"):
            self.memory = BETA1 * self.memory + gradient
            ahead = gradient + BETA1 * self.memory
            return weight - RATE * (self.memory if name == "momentum" else ahead)
        self.squares = BETA2 * self.squares + (1 - BETA2) * gradient**2
        if name == "rmsprop":
            return weight - RATE * gradient / (math.sqrt(self.squares) + TINY)
        self.memory = BETA1 * self.memory + (1 - BETA1) * gradient
        mean, spread = self.memory / (1 - BETA1**step), math.sqrt(self.squares / (1 - BETA2**step))
        if name == "radam":
            longest, length = 2 / (1 - BETA2) - 1, radam_length(step)
            if length <= 5:
                return weight - RATE * mean
            factor = math.sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length))
            root = (math.sqrt(self.squares) + TINY) / math.sqrt(1 - BETA2**step)
            return weight - RATE * factor * mean / root
        pulled = weight * (1 - RATE * PULL) if name == "adamw" and self.matrix else weight
        return pulled - RATE * mean / (spread + TINY)


@pytest.mark.spec("O01", "O02")
@pytest.mark.parametrize("name", OPTIMISERS)
def test_every_step_by_the_paper(name):
    module = layer(torch.float64)
    optimiser = OPTIMISERS[name](module, RECIPE)
    expected = {key: value.tolist() for key, value in module.state_dict().items()}
    papers = [[Paper(name, True) for _ in range(3)] for _ in range(2)], [Paper(name, False) for _ in range(2)]
    for step in range(1, STEPS + 1):
        module.weight.grad = torch.randn(2, 3, dtype=torch.float64)
        module.bias.grad = torch.randn(2, dtype=torch.float64)
        for row in range(2):
            for column in range(3):
                gradient = module.weight.grad[row, column].item()
                paper, weight = papers[0][row][column], expected["weight"][row][column]
                expected["weight"][row][column] = paper(weight, gradient, step)
            expected["bias"][row] = papers[1][row](expected["bias"][row], module.bias.grad[row].item(), step)
        optimiser.step()
    torch.testing.assert_close({key: value.tolist() for key, value in module.state_dict().items()}, expected)


@pytest.mark.spec("O01", "O02")
@pytest.mark.parametrize(
    "name, make",
    [
        ("sgd", lambda weights: torch.optim.SGD(weights, RATE)),
        ("momentum", lambda weights: torch.optim.SGD(weights, RATE, momentum=BETA1)),
        ("nesterov", lambda weights: torch.optim.SGD(weights, RATE, momentum=BETA1, nesterov=True)),
        ("rmsprop", lambda weights: torch.optim.RMSprop(weights, RATE, alpha=BETA2)),
        ("adam", lambda weights: torch.optim.Adam(weights, RATE, betas=(BETA1, BETA2))),
        ("radam", lambda weights: torch.optim.RAdam(weights, RATE, betas=(BETA1, BETA2))),
    ],
)
def test_equal_to_torch_s(name, make):
    ours, theirs = layer(), layer()
    optimisers = OPTIMISERS[name](ours, RECIPE), make(theirs.parameters())
    inputs, targets = torch.randn(11, 3), torch.randn(11, 2)
    for _ in range(31):
        for module, optimiser in zip((ours, theirs), optimisers, strict=True):
            optimiser.zero_grad()
            (module(inputs) - targets).square().mean().backward()
            optimiser.step()
    torch.testing.assert_close(ours.state_dict(), theirs.state_dict(), rtol=0, atol=1e-7)


@pytest.mark.spec("O01")
def test_adamw_pulls_at_matrices_only():
    module = layer()
    optimiser = OPTIMISERS["adamw"](module, TrainRecipe(lr=0.1, weight_decay=0.5))
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    for parameter in module.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimiser.step()
    torch.testing.assert_close(module.weight.detach(), before["weight"] * (1 - 0.1 * 0.5))
    assert torch.equal(module.bias.detach(), before["bias"])


@pytest.mark.parametrize("name", [name for name in OPTIMISERS if name != "adamw"])
def test_no_other_pulls(name):
    module = layer()
    optimiser = OPTIMISERS[name](module, TrainRecipe(lr=0.1, weight_decay=0.5))
    before = module.weight.detach().clone()
    for parameter in module.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimiser.step()
    assert torch.equal(module.weight.detach(), before)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_the_recipe_knows_every_name(name):
    assert Recipe().with_values({"train.optimiser": name}).train.optimiser == name


@pytest.mark.parametrize("name", OPTIMISERS)
def test_a_checkpoint_holds_all_that_an_optimiser_remembers(name, tmp_path):
    """Six steps, or three, a checkpoint and three more in a new process's place: the same bits."""
    recipe = Recipe().with_values({"train.optimiser": name, "train.lr": 0.1})
    generator = torch.Generator().manual_seed(0)
    inputs, targets = torch.randn(6, 11, 3, generator=generator), torch.randn(6, 11, 2, generator=generator)

    def learn(learner, steps):
        for step in steps:
            learner.optimiser.zero_grad()
            (learner.module(inputs[step]) - targets[step]).square().mean().backward()
            learner.optimiser.step()

    straight, first, second = (new_learner(layer(), recipe) for _ in range(3))
    learn(straight, range(6))
    learn(first, range(3))
    save_checkpoint(tmp_path, first, fingerprint="f")
    load_checkpoint(tmp_path, second, fingerprint="f")
    learn(second, range(3, 6))
    for key, value in straight.module.state_dict().items():
        assert torch.equal(second.module.state_dict()[key], value)


@pytest.mark.spec("O02")
@pytest.mark.parametrize("step, expected", [(5, 0.0), (6, 0.0258), (100, 0.2153), (1000, 0.6453)])
def test_rectification_by_hand(step, expected):
    assert rectification(step, 0.999) == pytest.approx(expected, abs=5e-5)


@pytest.mark.spec("O02")
def test_the_paper_begins_one_step_before_torch():
    """ρ > 4 in the paper, ρ > 5 in torch: for β₂ = .999, ρ_5 is 4.99."""
    assert rectification(4, 0.999, shortest=4) == 0.0
    assert rectification(5, 0.999, shortest=4) > 0.0
    assert rectification(5, 0.999) == 0.0
    assert rectification(6, 0.999, shortest=4) == rectification(6, 0.999)


@pytest.mark.spec("O02")
@pytest.mark.parametrize("beta2", [0.9, 0.98, 0.999])
def test_torch_s_steps_are_rectified_so(beta2):
    """A constant gradient makes Adam's step 1: what is left of torch's step is the factor (1 before it begins)."""
    weight = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.RAdam([weight], lr=1.0, betas=(0.9, beta2))
    weight.grad = torch.ones(1, dtype=torch.float64)
    for step in range(1, 301):
        before = weight.item()
        optimiser.step()
        assert before - weight.item() == pytest.approx(rectification(step, beta2) or 1.0, rel=1e-6)


@pytest.mark.spec("O02")
@pytest.mark.parametrize("beta2", [0.98, 0.999])
def test_rectification_agrees_with_pytorch_warmup(beta2):
    """Its first step is the paper's first rectified one."""
    import pytorch_warmup

    optimiser = torch.optim.Adam([torch.zeros(1, requires_grad=True)], lr=1.0, betas=(0.9, beta2))
    warmup = pytorch_warmup.RAdamWarmup(optimiser)
    first = next(step for step in range(1, 100) if rectification(step, beta2, shortest=4))
    for step in range(first, first + 2000):
        assert optimiser.param_groups[0]["lr"] == pytest.approx(rectification(step, beta2, shortest=4))
        with warmup.dampening():
            pass


def test_what_cannot_be_is_refused():
    for values in ({"step": 0, "beta2": 0.9}, {"step": 1, "beta2": 1.0}, {"step": 1, "beta2": -0.1}):
        with pytest.raises(InputError) as caught:
            rectification(**values)
        assert f"step={values['step']}, beta2={values['beta2']}" in caught.value.found
    for key, value in (("beta1", 1.0), ("beta2", 1.0), ("beta2", -0.1)):
        with pytest.raises(InputError, match=f"train.{key} cannot be {value}") as caught:
            Recipe().with_values({f"train.{key}": value})
        assert "at least 0" in caught.value.fix and "less than 1" in caught.value.fix
    with pytest.raises(InputError, match="look ahead"):
        OPTIMISERS["nesterov"](layer(), TrainRecipe(beta1=0.0))
