"""Packed batches: what is real, in order; nothing of what is not; and gradients that only real items get."""

import pytest
import torch

from atento.layers.packing import ROWS, Packing, moved, real_items

BATCH, TIME, SIZE = 3, 5, 7
MASKS = {
    "right": [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [1, 0, 0, 0, 0]],
    "left": [[0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [0, 0, 0, 0, 1]],
    "gaps": [[1, 0, 1, 1, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]],
    "all": [[1] * 5] * 3,
    "none": [[0] * 5] * 3,
}
masks = pytest.mark.parametrize("name", MASKS)


def mask(name):
    return torch.tensor(MASKS[name], dtype=torch.bool)


@masks
def test_packs_what_is_real_and_unpacks_zeros_elsewhere(name):
    valid = mask(name)
    values = torch.randn(BATCH, TIME, SIZE).masked_fill(~valid.unsqueeze(-1), torch.nan).requires_grad_()
    packing = Packing.of(values, valid)
    packed = packing.pack(values)
    assert packing.items == int(valid.sum())
    assert packed.shape == (packing.rows, SIZE)
    assert packing.places is None or packing.rows % ROWS == 0
    torch.testing.assert_close(packed[: packing.items], values[valid], rtol=0, atol=0)
    assert not packed[packing.items :].any()
    back = packing.unpack(packed)
    torch.testing.assert_close(back, values.nan_to_num(0.0), rtol=0, atol=0)
    gradient = torch.randn_like(back)
    (found,) = torch.autograd.grad(back, values, gradient)
    torch.testing.assert_close(found, gradient.masked_fill(~valid.unsqueeze(-1), 0.0), rtol=0, atol=0)


@masks
def test_bounds_and_the_side_of_padding(name):
    valid = mask(name)
    packing = Packing.of(torch.zeros(BATCH, TIME, SIZE), valid)
    assert packing.bounds.tolist() == [0, *valid.sum(1).cumsum(0).tolist()]
    assert packing.is_right == (name not in ("left", "gaps"))
    tokens = torch.arange(BATCH * TIME).view(BATCH, TIME)
    assert real_items(tokens, valid).tolist() == tokens[valid].tolist()


def test_a_mask_that_is_changed_in_place_is_packed_anew():
    valid = mask("right")
    values = torch.randn(BATCH, TIME, SIZE)
    first = Packing.of(values, valid)
    assert Packing.of(values, valid) is first
    valid[2, 1] = True
    assert Packing.of(values, valid).items == first.items + 1


def test_gradients_of_gradients():
    valid = mask("gaps")
    values = torch.randn(BATCH, TIME, SIZE, dtype=torch.float64, requires_grad=True)
    packing = Packing.of(values, valid)
    assert torch.autograd.gradgradcheck(lambda one: packing.unpack(packing.pack(one).square()), (values,))


def test_moving_to_the_same_device_changes_nothing():
    valid = mask("left")
    assert moved(valid, torch.device("cpu")) is valid
