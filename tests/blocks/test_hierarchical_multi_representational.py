"""Several embeddings of the same item: the formula, and a noisy one that is learned to be ignored."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from atento.attention import Attention, Dot, Everything, Softmax
from atento.blocks import AttentionPooling, MultiRepresentationalAttention
from atento.errors import InputError

BATCH, TIME, SIZE, SIZES = 2, 5, 11, (3, 7, 2)
VALID = torch.tensor([[True, True, False, True, False], [False, True, True, True, True]])


def mixture(sizes=SIZES, size=SIZE):
    return MultiRepresentationalAttention(
        sizes, size, AttentionPooling(size, Attention(Dot(), Softmax(), Everything()))
    )


@pytest.mark.spec("A29")
@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
def test_one_item_at_a_time(padded):
    """x'_i = P_i x_i + b_i; α = softmax_i(a · x'_i); Σ α_i x'_i."""
    module, valid = mixture(), VALID if padded else None
    embeddings = [torch.randn(BATCH, TIME, size, requires_grad=True) for size in SIZES]
    expected, weights = torch.zeros(BATCH, TIME, SIZE), torch.zeros(BATCH, TIME, len(SIZES))
    for row in range(BATCH):
        for at in range(TIME):
            if valid is None or valid[row, at]:
                mapped = [
                    map_.weight @ values[row, at] + map_.bias
                    for map_, values in zip(module.maps, embeddings, strict=True)
                ]
                powers = [(module.pooling.query @ one).exp() for one in mapped]
                shares = torch.stack(powers) / sum(powers)
                weights[row, at] = shares.detach()
                expected[row, at] = sum(share * one for share, one in zip(shares, mapped, strict=True))
    actual = module(embeddings, valid=valid)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-13)
    torch.testing.assert_close(module.weights(embeddings, valid=valid).detach(), weights, rtol=0, atol=1e-14)
    leaves, upstream = [*embeddings, *module.parameters()], torch.randn_like(expected)
    gradients = [torch.autograd.grad(side, leaves, upstream, retain_graph=True) for side in (actual, expected)]
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-12)


@pytest.mark.spec("A29")
def test_a_noise_embedding_is_ignored():
    """Two embeddings tell the class, one is drawn anew each time."""
    classes, size = 7, 8
    module = nn.ModuleDict({"mixture": mixture((5, 13, 5), size), "readout": nn.Linear(size, classes)}).float()
    tables = [torch.randn(classes, 5), None, torch.randn(classes, 5)]
    tables = [None if table is None else table.float() for table in tables]

    def draw(count):
        target = torch.randint(classes, (count,))
        noise = 3 * torch.randn(count, 1, 13).float()
        return [noise if table is None else table[target].unsqueeze(1) for table in tables], target

    optimiser = torch.optim.Adam(module.parameters(), lr=0.02, fused=True)
    for _ in range(300):
        embeddings, target = draw(64)
        optimiser.zero_grad()
        functional.cross_entropy(module["readout"](module["mixture"](embeddings)).squeeze(1), target).backward()
        optimiser.step()
    embeddings, target = draw(500)
    assert (module["readout"](module["mixture"](embeddings)).squeeze(1).argmax(-1) == target).float().mean() > 0.98
    weights = module["mixture"].weights(embeddings).mean(dim=(0, 1))
    assert weights[1] < 0.05
    assert weights[0] + weights[2] > 0.95


def test_what_does_not_fit_is_named():
    module = mixture()
    embeddings = [torch.randn(BATCH, TIME, size) for size in SIZES]
    with pytest.raises(InputError, match="embeddings must be 3 tensors"):
        module(embeddings[:2])
    with pytest.raises(InputError, match=r"embeddings\[1\] must have the shape \(\.\.\., T, 7\)"):
        module([embeddings[0]] * 3)
    with pytest.raises(InputError, match="valid says of each item"):
        module(embeddings, valid=VALID[:, :3])
    with pytest.raises(InputError, match="names no embedding"):
        mixture(())
    with pytest.raises(InputError, match=r"sizes\[1\] must be positive"):
        mixture((3, 0))
