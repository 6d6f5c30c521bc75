"""Co-attention against loops over the equations of Lu et al. (2016)."""

import pytest
import torch

from atento.attention import (
    ActivatedGeneral,
    Additive,
    Attention,
    Causal,
    DeAttention,
    Dot,
    Everything,
    General,
    Opposed,
    Similarity,
    Softmax,
    Sparsemax,
    minus_manhattan,
)
from atento.blocks import AlternatingCoAttention, ParallelCoAttention
from atento.errors import InputError

BATCH, FIRST, SECOND, FIRST_SIZE, SECOND_SIZE, HIDDEN = 2, 5, 3, 7, 11, 13
FIRST_VALID = torch.tensor([[True, False, True, True, False], [True] * 5])
SECOND_VALID = torch.tensor([[False, True, True], [True, True, False]])

padding = pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])


def sequences(padded):
    leaves = [torch.randn(BATCH, FIRST, FIRST_SIZE), torch.randn(BATCH, SECOND, SECOND_SIZE)]
    leaves = [leaf.requires_grad_() for leaf in leaves]
    return [*leaves, {"first_valid": FIRST_VALID, "second_valid": SECOND_VALID} if padded else {}]


def real_items(values, row, valid):
    return [(at, values[row, at]) for at in range(values.size(1)) if valid is None or valid[row, at]]


def softmax(scores):
    powers = [score.exp() for score in scores]
    return [power / sum(powers) for power in powers]


def same(actual, expected, leaves):
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-13)
    upstream = [torch.randn_like(part) for part in expected]
    gradients = torch.autograd.grad(expected, leaves, upstream, allow_unused=True, materialize_grads=True)
    torch.testing.assert_close(torch.autograd.grad(actual, leaves, upstream), gradients, rtol=0, atol=1e-12)


def parallel(distribution=None, affinity=None):
    return ParallelCoAttention(
        FIRST_SIZE,
        SECOND_SIZE,
        hidden_size=HIDDEN,
        affinity=affinity or ActivatedGeneral(FIRST_SIZE, SECOND_SIZE),
        distribution=distribution or Softmax(),
    )


@pytest.mark.spec("A27")
@padding
def test_parallel(padded):
    """C = tanh(Qᵀ W V); H_v = tanh(W_v V + (W_q Q) C); H_q = tanh(W_q Q + (W_v V) Cᵀ); softmaxes of w · H (eq. 3–5)."""
    module, (first, second, valid) = parallel(), sequences(padded)
    with torch.no_grad():
        module.affinity.bias.fill_(0.3)
    to_first, to_second = module.map_first.weight, module.map_second.weight
    pooled, weights = [[], []], [torch.zeros(BATCH, FIRST), torch.zeros(BATCH, SECOND)]
    for row in range(BATCH):
        questions = real_items(first, row, valid.get("first_valid"))
        regions = real_items(second, row, valid.get("second_valid"))
        affinity = {
            (t, n): torch.tanh(item @ module.affinity.weight.weight @ other + module.affinity.bias)
            for t, item in questions
            for n, other in regions
        }
        by_first = softmax(
            module.score_first.weight[0]
            @ torch.tanh(to_first @ item + sum(affinity[t, n] * (to_second @ other) for n, other in regions))
            for t, item in questions
        )
        by_second = softmax(
            module.score_second.weight[0]
            @ torch.tanh(to_second @ other + sum(affinity[t, n] * (to_first @ item) for t, item in questions))
            for n, other in regions
        )
        for side, (shares, items) in enumerate(((by_first, questions), (by_second, regions))):
            pooled[side].append(sum(share * item for share, (_, item) in zip(shares, items, strict=True)))
            for share, (at, _) in zip(shares, items, strict=True):
                weights[side][row, at] = share
    expected = [torch.stack(side) for side in pooled]
    same(list(module(first, second, **valid)), expected, [first, second, *module.parameters()])
    found = module.weights(first, second, **valid)
    torch.testing.assert_close(list(found), weights, rtol=0, atol=1e-14)


def additive(query_size, key_size, distribution):
    return Attention(Additive(query_size, key_size, hidden_size=HIDDEN), distribution, Everything())


def alternating(distribution=None):
    distribution = distribution or Softmax()
    return AlternatingCoAttention(
        FIRST_SIZE,
        SECOND_SIZE,
        opening=additive(SECOND_SIZE, FIRST_SIZE, distribution),
        across=additive(FIRST_SIZE, SECOND_SIZE, distribution),
        closing=additive(SECOND_SIZE, FIRST_SIZE, distribution),
    )


def guided(attention, items, guide):
    """H = tanh(W_x X + W_g g), a = softmax(w · H), x̂ = Σ a_i x_i (eq. 6)."""
    score = attention.score
    shares = softmax(
        score.collapse.weight[0]
        @ torch.tanh(score.project_key.weight @ item + (0 if guide is None else score.project_query.weight @ guide))
        for _, item in items
    )
    return shares, sum(share * item for share, (_, item) in zip(shares, items, strict=True))


@pytest.mark.spec("A27")
@padding
def test_alternating(padded):
    """The first by itself, the second guided by that, the first again guided by the answer."""
    module, (first, second, valid) = alternating(), sequences(padded)
    pooled, weights = [[], []], [torch.zeros(BATCH, FIRST), torch.zeros(BATCH, SECOND)]
    for row in range(BATCH):
        questions = real_items(first, row, valid.get("first_valid"))
        regions = real_items(second, row, valid.get("second_valid"))
        _, opened = guided(module.opening, questions, None)
        by_second, answer = guided(module.across, regions, opened)
        by_first, closed = guided(module.closing, questions, answer)
        pooled[0].append(closed)
        pooled[1].append(answer)
        for side, shares, items in ((0, by_first, questions), (1, by_second, regions)):
            for share, (at, _) in zip(shares, items, strict=True):
                weights[side][row, at] = share
    expected = [torch.stack(side) for side in pooled]
    same(list(module(first, second, **valid)), expected, [first, second, *module.parameters()])
    found = module.weights(first, second, **valid)
    torch.testing.assert_close(list(found), weights, rtol=0, atol=1e-14)


@pytest.mark.parametrize("make", [parallel, alternating])
def test_any_distribution(make):
    """Sparsemax leaves some items out altogether."""
    module, (first, second, valid) = make(Sparsemax()), sequences(True)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(5)
    found = module.weights(first, second, **valid)
    for weights in found:
        torch.testing.assert_close(weights.sum(-1), torch.ones(BATCH))
    assert (found.first[FIRST_VALID] == 0).any()


def test_the_affinity_is_any_score():
    module, (first, second, _) = parallel(affinity=General(FIRST_SIZE, SECOND_SIZE)), sequences(False)
    assert module(first, second).second.shape == (BATCH, SECOND_SIZE)


def test_parts_that_do_not_go_together_are_refused():
    with pytest.raises(InputError, match="de-attention needs two matrices"):
        parallel(DeAttention())
    with pytest.raises(InputError, match="affinity must give one matrix"):
        parallel(affinity=Opposed(Dot(), Similarity(minus_manhattan)))


@pytest.mark.parametrize("make", [parallel, alternating])
def test_what_does_not_fit_is_named(make):
    module, (first, second, _) = make(), sequences(False)
    with pytest.raises(InputError, match=r"first must have the shape \(\.\.\., T, 7\)"):
        module(second, second)
    with pytest.raises(InputError, match=r"second must have the shape \(\.\.\., T, 11\)"):
        module(first, first)
    with pytest.raises(InputError, match="valid says of each item of second"):
        module(first, second, second_valid=FIRST_VALID)
    with pytest.raises(InputError, match="first_size must be positive"):
        AlternatingCoAttention(0, 3, opening=None, across=None, closing=None)
    whole, past = (Attention(General(3, 3), Softmax(), extent) for extent in (Everything(), Causal()))
    with pytest.raises(InputError, match="within one sequence only"):
        AlternatingCoAttention(3, 3, opening=whole, across=past, closing=whole)
