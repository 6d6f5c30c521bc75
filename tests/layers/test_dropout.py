"""Dropout on a CPU against its definition: which share is dropped, what is kept, and what flows back."""

import pytest
import torch
from torch import nn

from atento.layers.dropout import Dropout, drop, random_bits, zero_dropped

ROWS, SIZE = 211, 307


@pytest.mark.parametrize("share", [0.1, 0.25, 0.7])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_this_share_is_zero_and_the_rest_is_scaled(share, dtype):
    torch.manual_seed(0)
    values = torch.rand(ROWS, SIZE, dtype=dtype) + 1
    found = drop(values, share)
    zero = found == 0
    deviation = (share * (1 - share) / values.numel()) ** 0.5
    assert zero.double().mean().item() == pytest.approx(share, abs=4 * deviation)
    torch.testing.assert_close(found[~zero], values[~zero] / (1 - share), rtol=1e-6, atol=0)


def test_elements_are_dropped_independently():
    torch.manual_seed(1)
    zero = (drop(torch.ones(ROWS, SIZE), 0.3) == 0).flatten()
    for apart in (1, 2, 3, 4, SIZE):  # four share 64 bits
        both = (zero[apart:] & zero[:-apart]).double().mean().item()
        assert both == pytest.approx(0.09, abs=0.006)


def test_the_gradient_takes_the_same_way_back_and_the_second_too():
    torch.manual_seed(2)
    values = torch.rand(7, 13, dtype=torch.float64, requires_grad=True)
    found = drop(values, 0.4)
    factors = found.detach() / values.detach()
    upstream = torch.randn(7, 13, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(found, values, upstream, create_graph=True)
    torch.testing.assert_close(gradient.detach(), upstream.detach() * factors)
    (second,) = torch.autograd.grad(gradient.sum(), upstream)
    torch.testing.assert_close(second, factors)


def test_a_nan_that_is_dropped_is_gone():
    torch.manual_seed(3)
    found = drop(torch.full((ROWS, SIZE), torch.nan), 0.5)
    assert ((found == 0) | found.isnan()).all() and (found == 0).any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_bits_drop_the_same_elements_in_every_dtype(dtype):
    torch.manual_seed(4)
    ones = torch.ones(ROWS, SIZE)
    bits = random_bits(ones)
    assert bits.shape == ones.shape
    assert torch.equal(zero_dropped(ones, bits, 0.3), zero_dropped(ones.to(dtype), bits, 0.3).float())


def test_the_layer_is_torchs_in_its_arguments_and_at_its_ends():
    torch.manual_seed(5)
    values = torch.randn(ROWS, SIZE)
    assert torch.equal(Dropout(0.5).eval()(values), values)
    assert torch.equal(Dropout(0.0)(values), values)
    assert not Dropout(1.0)(values).any()
    assert isinstance(Dropout(0.2), nn.Dropout) and repr(Dropout(0.2)) == repr(nn.Dropout(0.2))
    kept = values.clone()
    assert Dropout(0.5, inplace=True)(kept) is kept and (kept == 0).any()
    with pytest.raises(ValueError, match="probability"):
        Dropout(1.5)
    assert Dropout(0.5)(values[:0]).shape == (0, SIZE)


def test_one_seed_one_mask_and_no_other_use_of_the_generator():
    layer, values = Dropout(0.5), torch.ones(ROWS, SIZE)
    torch.manual_seed(6)
    first, state = layer(values), torch.get_rng_state()
    torch.manual_seed(6)
    assert torch.equal(layer(values), first) and torch.equal(torch.get_rng_state(), state)
    assert not torch.equal(layer(values), first)


def test_a_recorded_program_holds_torchs_dropout():
    program = torch.export.export(Dropout(0.5).train(), (torch.ones(3, 5),)).graph_module.code
    assert "dropout" in program and "threshold" not in program
