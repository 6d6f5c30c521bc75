import pytest
import torch
from torch import nn

from atento.spec import TrainRecipe
from atento.training.optimisers import OPTIMISERS


def layer():
    torch.manual_seed(0)
    return nn.Linear(3, 2)


def test_adamw_pulls_at_matrices_only():
    module = layer()
    optimiser = OPTIMISERS["adamw"](module, TrainRecipe(lr=0.1, weight_decay=0.5))
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    for parameter in module.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimiser.step()
    torch.testing.assert_close(module.weight.detach(), before["weight"] * (1 - 0.1 * 0.5))
    assert torch.equal(module.bias.detach(), before["bias"])


@pytest.mark.parametrize("name", ["adam", "adamw"])
def test_the_first_step_by_hand(name):
    """Kingma & Ba (2015): the first step is lr in the direction of the gradient's sign."""
    module = layer()
    optimiser = OPTIMISERS[name](module, TrainRecipe(lr=0.1, weight_decay=0.0))
    before = module.weight.detach().clone()
    module.weight.grad = torch.tensor([[1.0, -2.0, 3.0], [-4.0, 5.0, -6.0]])
    module.bias.grad = torch.zeros(2)
    optimiser.step()
    torch.testing.assert_close(module.weight.detach(), before - 0.1 * module.weight.grad.sign(), rtol=0, atol=1e-6)


def test_adam_does_not_pull():
    module = layer()
    optimiser = OPTIMISERS["adam"](module, TrainRecipe(lr=0.1, weight_decay=0.5))
    before = module.weight.detach().clone()
    for parameter in module.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimiser.step()
    assert torch.equal(module.weight.detach(), before)
