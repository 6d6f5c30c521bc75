"""Windows around a position, given or predicted."""

import math

import pytest
import torch

from atento.attention import (
    Attention,
    Causal,
    General,
    MultiHead,
    PredictiveLocal,
    ScaledDot,
    Softmax,
    Sparsemax,
    Window,
)
from atento.errors import InputError

BATCH, QUERIES, KEYS, SIZE, VALUE_SIZE, HIDDEN, REACH = 2, 5, 13, 3, 11, 7, 3


@pytest.mark.spec("A21")
def test_the_borders_of_a_window():
    """A key at the reach is read, the one behind it is not."""
    query, key, value = torch.randn(1, 7, SIZE), torch.randn(1, 7, SIZE), torch.randn(1, 7, 11)
    attention = Attention(General(SIZE, SIZE), Sparsemax(), Window(2))
    before = Attention(ScaledDot(), Softmax(), Window(2))(query, key, value)[0, 3]
    for moved, is_read in [(0, False), (1, True), (5, True), (6, False)]:
        other = value.clone()
        other[0, moved] += 1
        after = Attention(ScaledDot(), Softmax(), Window(2))(query, key, other)[0, 3]
        assert torch.equal(after, before) is not is_read
    assert (attention.weights(query, key)[0, 3, [0, 6]] == 0).all()


def test_a_window_cannot_reach_less_than_nothing():
    with pytest.raises(InputError, match="reach=-1"):
        Window(-1)
    assert "Window(128)" in repr(Causal() & Window(128))


def predicted(valid=None):
    """The formula, one query and one key at a time: context, weights, centres."""
    extent = PredictiveLocal(SIZE, HIDDEN, REACH)
    extent.collapse.weight.data.mul_(5)  # centres all over the sequence
    query, key = (torch.randn(BATCH, length, SIZE, requires_grad=True) for length in (QUERIES, KEYS))
    value = torch.randn(BATCH, KEYS, VALUE_SIZE, requires_grad=True)
    weights = []
    for row in range(BATCH):
        real = [at for at in range(KEYS) if valid is None or valid[row, at]]
        for at in range(QUERIES):
            hidden = torch.tanh(extent.project.weight @ query[row, at])
            centre = len(real) / (1 + torch.exp(-(extent.collapse.weight @ hidden)))
            near = [(place, where) for place, where in enumerate(real) if abs(place - centre) <= REACH]
            powers = {where: (query[row, at] @ key[row, where] / SIZE**0.5).exp() for _, where in near}
            total, line = sum(powers.values()), [torch.zeros(())] * KEYS
            for place, where in near:
                line[where] = (powers[where] / total * torch.exp(-((place - centre) ** 2) / (2 * (REACH / 2) ** 2)))[0]
            weights.append(torch.stack(line))
    weights = torch.stack(weights).view(BATCH, QUERIES, KEYS)
    return extent, (query, key, value), weights


HOLES = torch.tensor(
    [[True] * 9 + [False] * 4, [False, False, True, False, True, True, True, False, True, True, True, True, False]]
)


@pytest.mark.spec("A22")
@pytest.mark.parametrize("valid", [None, HOLES], ids=["whole", "padded"])
def test_a_predicted_centre_by_the_paper_s_formula(valid):
    extent, leaves, weights = predicted(valid)
    attention = Attention(ScaledDot(), Softmax(), extent)
    context = attention(*leaves, valid=valid)
    torch.testing.assert_close(attention.weights(*leaves[:2], valid=valid), weights, rtol=0, atol=1e-14)
    torch.testing.assert_close(context, weights @ leaves[2], rtol=0, atol=1e-13)
    leaves, upstream = [*leaves, *extent.parameters()], torch.randn_like(context)
    expected = torch.autograd.grad(weights @ leaves[2], leaves, upstream)
    torch.testing.assert_close(torch.autograd.grad(context, leaves, upstream), expected, rtol=0, atol=1e-12)


@pytest.mark.spec("A22")
def test_gradient_flows_to_the_centre():
    """Keys all alike, so only the Gaussian decides: the centre is pulled towards the only value that pays."""
    extent = PredictiveLocal(SIZE, HIDDEN, REACH)
    query, key, value = torch.randn(1, 1, SIZE), torch.zeros(1, KEYS, SIZE), torch.zeros(1, KEYS, 1)
    valid = torch.ones(1, KEYS, dtype=torch.bool)
    start = extent.centre(query, valid).item()
    target = round(start) + 2
    value[0, target] = 1.0
    optimiser = torch.optim.Adam(extent.parameters(), lr=0.01, fused=True)
    for _ in range(100):
        optimiser.zero_grad()
        (-Attention(ScaledDot(), Softmax(), extent)(query, key, value)).sum().backward()
        assert all(parameter.grad.abs().max() > 0 for parameter in extent.parameters())
        optimiser.step()
    assert abs(extent.centre(query, valid).item() - target) < 0.3 < abs(start - target)


@pytest.mark.spec("A22")
@pytest.mark.parametrize("before, after", [(0, 4), (3, 0), (2, 5)])
def test_padding_on_either_side_moves_no_centre(before, after):
    extent, leaves, weights = predicted()
    query, key, value = (part.detach() for part in leaves)
    padded = [torch.nn.functional.pad(part, (0, 0, before, after), value=math.nan) for part in (key, value)]
    valid = torch.zeros(BATCH, before + KEYS + after, dtype=torch.bool)
    valid[:, before : before + KEYS] = True
    context = Attention(ScaledDot(), Softmax(), extent)(query, *padded, valid=valid)
    torch.testing.assert_close(context, weights @ value, rtol=0, atol=1e-13)


def test_every_head_predicts_with_its_own_query():
    attention = Attention(ScaledDot(), Softmax(), PredictiveLocal(SIZE, HIDDEN, REACH))
    query, key, value = (torch.randn(BATCH, 4, KEYS, SIZE) for _ in range(3))
    together = attention(query, key, value, valid=HOLES.unsqueeze(1))
    for head in range(4):
        alone = attention(query[:, head], key[:, head], value[:, head], valid=HOLES)
        torch.testing.assert_close(together[:, head], alone, rtol=0, atol=1e-14)
    assert MultiHead(4 * SIZE, 4, attention)(torch.randn(BATCH, 2, 12), torch.randn(BATCH, 7, 12)).isfinite().all()


@pytest.mark.spec("A32")
@pytest.mark.parametrize(
    "join",
    [
        lambda one: Causal() & one,
        lambda one: one & Causal(),
        lambda one: (one & Window(3)) & Causal(),
        lambda one: (Causal() & Window(3)) & one,
    ],
)
def test_a_growing_past_has_no_predicted_centre(join):
    with pytest.raises(InputError, match="needs the length of the whole sequence") as caught:
        join(PredictiveLocal(SIZE, HIDDEN, REACH))
    assert "Causal() & Window(reach)" in caught.value.fix


@pytest.mark.parametrize(
    "sizes, found", [((0, 3, 1), "query_size=0"), ((3, 0, 1), "hidden_size=0"), ((3, 3, 0), "reach=0")]
)
def test_sizes_that_predict_nothing_are_refused(sizes, found):
    with pytest.raises(InputError, match=found):
        PredictiveLocal(*sizes)
