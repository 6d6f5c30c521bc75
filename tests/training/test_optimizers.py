"""Optimizers by name against the papers' formulas and torch's own."""

import copy
import math

import pytest
import torch
from torch import nn

from atento.errors import InputError
from atento.spec import Recipe, TrainRecipe
from atento.training import OPTIMIZERS, load_checkpoint, new_learner, save_checkpoint

RATE, BETA1, BETA2, PULL, TINY, STEPS = 0.01, 0.83, 0.97, 0.3, 1e-8, 97

RECIPE = TrainRecipe(lr=RATE, beta1=BETA1, beta2=BETA2, weight_decay=PULL)


def layer(dtype=torch.float32):
    torch.manual_seed(0)
    return nn.Linear(3, 2, dtype=dtype)


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
            factor = rectification(step, BETA2)
            if factor is None:
                return weight - RATE * mean
            root = (math.sqrt(self.squares) + TINY) / math.sqrt(1 - BETA2**step)
            return weight - RATE * factor * mean / root
        pulled = weight * (1 - RATE * PULL) if name == "adamw" and self.matrix else weight
        return pulled - RATE * mean / (spread + TINY)


TORCHS = {
    "sgd": torch.optim.SGD,
    "momentum": torch.optim.SGD,
    "nesterov": torch.optim.SGD,
    "rmsprop": torch.optim.RMSprop,
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "radam": torch.optim.RAdam,
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_is_torchs_with_its_hooks_states_and_copies(name):
    """Without the decorators that load torch's compiler."""
    module = layer()
    optimizer, seen = OPTIMIZERS[name](module, RECIPE), []
    assert isinstance(optimizer, TORCHS[name])
    optimizer.register_step_post_hook(lambda *given: seen.append(torch.is_grad_enabled()))
    for _ in range(2):
        module(torch.ones(1, 3)).sum().backward()
        optimizer.step()
    assert seen == [True, True]  # outside of the step, gradients are followed again
    assert all(not weight.requires_grad or weight.grad_fn is None for weight in module.parameters())
    twin = copy.deepcopy(optimizer)
    assert type(twin) is type(optimizer)
    for key, state in optimizer.state_dict()["state"].items():
        assert all(torch.equal(value, twin.state_dict()["state"][key][part]) for part, value in state.items())


@pytest.mark.spec("O01", "O02")
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_step_by_the_paper(name):
    module = layer(torch.float64)
    optimizer = OPTIMIZERS[name](module, RECIPE)
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
        optimizer.step()
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
    optimizers = OPTIMIZERS[name](ours, RECIPE), make(theirs.parameters())
    inputs, targets = torch.randn(11, 3), torch.randn(11, 2)
    for _ in range(31):
        for module, optimizer in zip((ours, theirs), optimizers, strict=True):
            optimizer.zero_grad()
            (module(inputs) - targets).square().mean().backward()
            optimizer.step()
    torch.testing.assert_close(ours.state_dict(), theirs.state_dict(), rtol=0, atol=1e-7)


@pytest.mark.spec("O01")
def test_adamw_pulls_at_matrices_only():
    module = layer()
    optimizer = OPTIMIZERS["adamw"](module, TrainRecipe(lr=0.1, weight_decay=0.5))
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    for parameter in module.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    torch.testing.assert_close(module.weight.detach(), before["weight"] * (1 - 0.1 * 0.5))
    assert torch.equal(module.bias.detach(), before["bias"])


@pytest.mark.parametrize("name", [name for name in OPTIMIZERS if name != "adamw"])
def test_no_other_pulls(name):
    module = layer()
    optimizer = OPTIMIZERS[name](module, TrainRecipe(lr=0.1, weight_decay=0.5))
    before = module.weight.detach().clone()
    for parameter in module.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    assert torch.equal(module.weight.detach(), before)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_recipe_knows_every_name(name):
    assert Recipe().with_values({"train.optimizer": name}).train.optimizer == name


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_checkpoint_holds_all_that_an_optimiser_remembers(name, tmp_path):
    """Six steps, or three, a checkpoint and three more in a new process's place: the same bits."""
    recipe = Recipe().with_values({"train.optimizer": name, "train.lr": 0.1})
    generator = torch.Generator().manual_seed(0)
    inputs, targets = torch.randn(6, 11, 3, generator=generator), torch.randn(6, 11, 2, generator=generator)

    def learn(learner, steps):
        for step in steps:
            learner.optimizer.zero_grad()
            (learner.module(inputs[step]) - targets[step]).square().mean().backward()
            learner.optimizer.step()

    straight, first, second = (new_learner(layer(), recipe) for _ in range(3))
    learn(straight, range(6))
    learn(first, range(3))
    save_checkpoint(tmp_path, first, fingerprint="f")
    load_checkpoint(tmp_path, second, fingerprint="f")
    learn(second, range(3, 6))
    for key, value in straight.module.state_dict().items():
        assert torch.equal(second.module.state_dict()[key], value)


def rectification(step, beta2):
    """r_t of Liu et al. (2020, alg. 2), from ρ > 5 on as in torch; the paper begins at ρ > 4."""
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * step * beta2**step / (1 - beta2**step)
    if length <= 5:
        return None
    return math.sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length))


@pytest.mark.spec("O02")
@pytest.mark.parametrize("beta2", [0.9, 0.98, 0.999])
def test_radam_s_steps_are_rectified(beta2):
    """A constant gradient makes Adam's step 1: what is left of RAdam's step is the factor (1 before it begins)."""
    module = nn.Linear(1, 1, bias=False, dtype=torch.float64)
    optimizer = OPTIMIZERS["radam"](module, TrainRecipe(lr=1.0, beta1=0.9, beta2=beta2))
    module.weight.grad = torch.ones_like(module.weight)
    for step in range(1, 301):
        before = module.weight.item()
        optimizer.step()
        assert before - module.weight.item() == pytest.approx(rectification(step, beta2) or 1.0, rel=1e-6)


def test_what_cannot_be_is_refused():
    for key, value in (("beta1", 1.0), ("beta2", 1.0), ("beta2", -0.1)):
        with pytest.raises(InputError, match=f"train.{key} cannot be {value}") as caught:
            Recipe().with_values({f"train.{key}": value})
        assert "at least 0" in caught.value.fix and "less than 1" in caught.value.fix
    with pytest.raises(InputError, match="needs momentum"):
        OPTIMIZERS["nesterov"](layer(), TrainRecipe(beta1=0.0))
