import pytest
import torch
from torch import nn

from atento.spec import TrainRecipe
from atento.training.loop import clip_gradients

NUMBERS = [3.0, -4.0, 12.0]  # of norm 13


@pytest.mark.spec("R14")
@pytest.mark.parametrize(
    "choices, expected",
    [
        ({"clip": 0.0}, NUMBERS),
        ({"clip": 1.0}, [3 / 13, -4 / 13, 12 / 13]),
        ({"clip": 100.0}, NUMBERS),
        ({"clip": 0.0, "clip_value": 3.5}, [3.0, -3.5, 3.5]),
        ({"clip": 3.0, "clip_value": 1.0}, [1.0, -1.0, 1.0]),  # of norm √3
        ({"clip": 3**0.5 / 2, "clip_value": 1.0}, [0.5, -0.5, 0.5]),
    ],
)
def test_gradients_are_bounded_by_norm_and_by_value(choices, expected):
    """The norm is that of all parameters together."""
    module = nn.ParameterList([torch.zeros(2), torch.zeros(1)])
    module[0].grad, module[1].grad = torch.tensor(NUMBERS[:2]), torch.tensor(NUMBERS[2:])
    clip_gradients(module, TrainRecipe(**choices))
    found = torch.cat([parameter.grad for parameter in module])
    torch.testing.assert_close(found, torch.tensor(expected), rtol=0, atol=1e-5)
