"""Heads that learn how far they look."""

import math

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from atento.attention import AdaptiveSpan, Attention, Causal, Dot, General, ScaledDot, Softmax
from atento.errors import InputError

BATCH, HEADS, LENGTH, SIZE, LONGEST, RAMP = 2, 3, 23, 5, 17, 4


def spans(*lengths):
    """An extent whose heads have these spans."""
    extent = AdaptiveSpan(len(lengths), LONGEST, RAMP)
    extent.logit.data.copy_(torch.tensor([[[math.log(span / (LONGEST - span))]] for span in lengths]))
    return extent


@pytest.mark.spec("C03")
@pytest.mark.parametrize("causal", [False, True], ids=["both sides", "causal"])
def test_the_ramp_multiplies_the_powers_before_they_are_shared_out(causal):
    """a_tr = m_z(t − r) exp(s_tr) / Σ m_z(t − q) exp(s_tq), m_z(x) = min(max((R + z − x) / R, 0), 1)."""
    extent, lengths = spans(0.5, 3.2, 7.7), [0.5, 3.2, 7.7]
    query, key, value = (torch.randn(BATCH, HEADS, LENGTH, SIZE, requires_grad=True) for _ in range(3))
    distance = torch.tensor([[float(abs(at - place)) for place in range(LENGTH)] for at in range(LENGTH)])
    span = LONGEST / (1 + torch.exp(-extent.logit))  # (H, 1, 1)
    torch.testing.assert_close(span.flatten(), torch.tensor(lengths))
    mask = torch.minimum(torch.maximum((RAMP + span - distance) / RAMP, torch.tensor(0.0)), torch.tensor(1.0))
    powers = mask * (query @ key.mT / SIZE**0.5).exp()
    powers = powers.tril() if causal else powers
    expected = powers / powers.sum(-1, keepdim=True) @ value

    attention = Attention(ScaledDot(), Softmax(), Causal() & extent if causal else extent)
    context = attention(query, key, value)
    torch.testing.assert_close(context, expected, rtol=0, atol=1e-13)
    leaves, upstream = (query, key, value, extent.logit), torch.randn_like(context)
    gradients = torch.autograd.grad(context, leaves, upstream)
    torch.testing.assert_close(gradients, torch.autograd.grad(expected, leaves, upstream), rtol=0, atol=1e-12)


@pytest.mark.spec("C03")
def test_the_penalty_is_the_mean_span_times_its_coefficient():
    extent = AdaptiveSpan(HEADS, LONGEST, RAMP, coefficient=0.3)
    extent.logit.data.normal_()
    expected = sum(0.3 * LONGEST / (1 + math.exp(-logit)) for logit in extent.logit.flatten().tolist()) / HEADS
    assert extent.penalty().item() == pytest.approx(expected, rel=1e-12)
    extent.penalty().backward()
    assert (extent.logit.grad > 0).all()


@pytest.mark.spec("C03")
def test_heads_shorten_on_a_local_task_and_stay_long_on_a_far_one():
    """Each query names the code of a key: in the first head of the next key, in the second of one twelve away."""
    offsets, length = (1, 12), 40
    extent = AdaptiveSpan(2, 32, RAMP, coefficient=0.02)
    attention, optimiser = Attention(Dot(), Softmax(), extent), torch.optim.Adam(extent.parameters(), lr=0.1)
    for _ in range(150):
        code, value = torch.randn(4, 2, length, 16), torch.randn(4, 2, length, 3)
        query = torch.stack([code[:, head].roll(-offset, dims=1) for head, offset in enumerate(offsets)], dim=1)
        wanted = torch.stack([value[:, head].roll(-offset, dims=1) for head, offset in enumerate(offsets)], dim=1)
        inside = slice(0, length - max(offsets))
        loss = (attention(query, code, value) - wanted)[..., inside, :].square().mean() + extent.penalty()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    near, far = extent.span.flatten().tolist()
    assert near < 3
    assert 12 - RAMP < far < 16


def products(extent, length=2048):
    items = [torch.randn(1, HEADS, length, SIZE) for _ in range(3)]
    attention = Attention(General(SIZE, SIZE), Softmax(), extent)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        attention(*items)
    return counter.get_total_flops()


@pytest.mark.spec("C03")
def test_compute_follows_the_longest_span():
    """Twice the span and ramp, about twice the work; one long head is enough to cost it."""

    def reaching(*lengths):
        extent = AdaptiveSpan(HEADS, 256, 32)
        extent.logit.data.copy_(torch.tensor([[[math.log(span / (256 - span))]] for span in lengths]))
        return products(extent)

    assert reaching(32, 32, 32) / reaching(1, 1, 1) == pytest.approx(64 / 33, rel=0.1)
    assert reaching(96, 1, 1) == reaching(96, 96, 96) == pytest.approx(2 * reaching(32, 1, 1), rel=0.1)


@pytest.mark.parametrize(
    "sizes, found",
    [
        ({"heads": 0}, "heads=0"),
        ({"max_span": 0}, "max_span=0"),
        ({"ramp": 0}, "ramp=0"),
        ({"coefficient": -0.1}, "coefficient=-0.1"),
        ({"coefficient": math.nan}, "coefficient=nan"),
    ],
)
def test_sizes_that_make_no_span_are_refused(sizes, found):
    with pytest.raises(InputError, match=found):
        AdaptiveSpan(**{"heads": 1, "max_span": 8, "ramp": 2, **sizes})
    assert "max_span=8" in repr(AdaptiveSpan(1, 8, 2))
