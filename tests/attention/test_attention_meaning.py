"""What does not go together says so, and why, when it is put together."""

import pytest
import torch

from atento.attention import (
    Additive,
    Alibi,
    Attention,
    Causal,
    DeAttention,
    Dot,
    EluPlusOne,
    Entmax,
    Everything,
    Hard,
    Kernel,
    Masked,
    Opposed,
    Proportional,
    RandomFeatures,
    ScaledDot,
    Sigmoid,
    Similarity,
    Softmax,
    Sparsemax,
    Window,
    minus_manhattan,
)
from atento.errors import InputError

KERNEL = Kernel(EluPlusOne())
PAIR = Opposed(ScaledDot(), Similarity(minus_manhattan))


@pytest.mark.spec("A32")
@pytest.mark.parametrize(
    "score, distribution, why, way_out",
    [
        (KERNEL, Softmax(), "stands for exp(score) already", "Proportional"),
        (Kernel(RandomFeatures(3)), Sparsemax(), "divided by its sum", "Proportional"),
        (KERNEL, Hard(), "only be divided by its sum", "Proportional"),
        (KERNEL, DeAttention(), "never negative", "another score"),
        (Dot(), Proportional(), "this score gives any number", "Kernel"),
        (Additive(3, 3, hidden_size=3), Proportional(), "gives any number", "Softmax"),
        (ScaledDot(), DeAttention(), "needs two matrices", "Opposed"),
        (PAIR, Softmax(), "gives two matrices", "DeAttention"),
        (PAIR, Entmax(1.5), "gives two matrices", "DeAttention"),
        (PAIR, Proportional(), "gives two matrices", "DeAttention"),
    ],
)
def test_no_meaning(score, distribution, why, way_out):
    with pytest.raises(InputError) as caught:
        Attention(score, distribution, Everything())
    assert why in caught.value.problem
    assert way_out in caught.value.fix
    assert type(score).__name__ in caught.value.found and type(distribution).__name__ in caught.value.found


@pytest.mark.spec("A32")
@pytest.mark.parametrize(
    "extent",
    [Alibi(2), Causal() & Alibi(2), Alibi(2) & Window(3), Masked(torch.zeros(5, 5))],
    ids=["alibi", "right", "left", "mask"],
)
def test_a_bias_has_no_meaning_for_proportions(extent):
    with pytest.raises(InputError, match="added to scores before an exponential"):
        Attention(KERNEL, Proportional(), extent)
    with pytest.raises(InputError, match="is added to scores"):
        Attention(KERNEL, Proportional(), Everything()).with_extent(extent)


@pytest.mark.parametrize(
    "score, distribution, extent",
    [
        (KERNEL, Proportional(), Causal() & Window(3)),
        (KERNEL, Proportional(), Masked(torch.ones(5, 5, dtype=torch.bool))),
        (PAIR, DeAttention(), Alibi(1)),
        (Dot(), Sigmoid(), Alibi(1)),
    ],
)
def test_what_goes_together_is_put_together(score, distribution, extent):
    items = torch.randn(2, 5, 7)
    assert Attention(score, distribution, extent)(items, items, items).shape == (2, 5, 7)


def test_another_extent_keeps_score_and_distribution():
    whole = Attention(Additive(7, 7, hidden_size=3), Sparsemax(), Everything())
    causal = whole.with_extent(Causal())
    assert (causal.score, causal.distribution) == (whole.score, whole.distribution)
    items = torch.randn(2, 5, 7)
    assert (causal.weights(items, items).triu(1) == 0).all()
