"""Kernel attention without its matrix: the same numbers, in both directions."""

import math

import pytest
import torch

from atento.attention import (
    Attention,
    Causal,
    EluPlusOne,
    Everything,
    Kernel,
    Proportional,
    RandomFeatures,
    Rectified,
    Window,
)
from atento.attention.fast import dispatch
from cases import law_over

BATCH, HEADS, SIZE, VALUE_SIZE = 2, 3, 5, 7

EXTENTS = {"both directions": Everything(), "causal": Causal()}
FEATURES = {"random": lambda: RandomFeatures(SIZE, count=11), "elu": EluPlusOne, "relu": Rectified}

directions = pytest.mark.parametrize("extent", EXTENTS.values(), ids=EXTENTS)


@pytest.fixture
def taken(monkeypatch):
    """Every time the linear way is taken, which still does its work."""
    made, way = [], dispatch.linear_context

    def counted(*arguments, **options):
        made.append(options["causal"])
        return way(*arguments, **options)

    monkeypatch.setattr(dispatch, "linear_context", counted)
    monkeypatch.setattr(dispatch, "CHUNK", 8)
    return made


def some_items(length):
    sizes = (SIZE, SIZE, VALUE_SIZE)
    return [torch.randn(BATCH, HEADS, length, size, requires_grad=True) for size in sizes]


def by_matrix(score, query, key, value, *, causal, valid=None):
    """Σ φ(q)·φ(k_i) v_i / Σ φ(q)·φ(k_i), with every φ(q)·φ(k) written out."""
    kernels = torch.einsum("...qf,...kf->...qk", score.features(query), score.features(key))
    if causal:
        kernels = kernels.tril()
    if valid is not None:
        kernels = kernels * valid.unsqueeze(-2)
    total = kernels.sum(-1, keepdim=True)
    return kernels / total.masked_fill(total == 0, 1.0) @ value


@pytest.mark.spec("C04")
@law_over(features=FEATURES, extent=EXTENTS, length=[24, 31, 33], padded=[False, True])
def test_the_linear_way_gives_what_the_matrix_gives(taken, features, extent, length, padded):
    """In whole chunks of eight, and not."""
    taken.clear()
    leaves = some_items(length)
    valid = torch.rand(BATCH, 1, length) < 0.7 if padded else None
    if padded:
        valid[0, :, :5] = False
        valid[1] = False
    score, causal = Kernel(FEATURES[features]()), extent == "causal"
    expected = by_matrix(score, *leaves, causal=causal, valid=valid)
    context = Attention(score, Proportional(), EXTENTS[extent])(*leaves, valid=valid)
    assert taken == [causal]
    torch.testing.assert_close(context, expected, rtol=0, atol=1e-13)
    upstream = torch.randn_like(context)
    gradients = torch.autograd.grad(context, leaves, upstream)
    torch.testing.assert_close(gradients, torch.autograd.grad(expected, leaves, upstream), rtol=0, atol=1e-12)
    if padded:
        assert (context[1] == 0).all()


@directions
def test_weights_are_those_the_linear_way_used(taken, extent):
    query, key, _ = some_items(31)
    attention, markers = Attention(Kernel(EluPlusOne()), Proportional(), extent), torch.eye(31).expand(2, 3, 31, 31)
    context = attention(query, key, markers)
    assert len(taken) == 1
    torch.testing.assert_close(attention.weights(query, key), context, rtol=0, atol=1e-14)


@pytest.mark.spec("C04")
def test_the_future_never_matters_exactly(taken):
    items = [part.detach() for part in some_items(33)]
    attention = Attention(Kernel(RandomFeatures(SIZE, count=11)), Proportional(), Causal())
    expected = attention(*items)
    for now in (0, 6, 7, 8, 20, 31):
        changed = [part.clone() for part in items]
        for part in changed:
            part[..., now + 1 :, :] = 3 * torch.randn_like(part[..., now + 1 :, :])
        assert torch.equal(attention(*changed)[..., : now + 1, :], expected[..., : now + 1, :])
    assert all(taken)


@pytest.mark.spec("C04")
@directions
def test_the_estimate_of_softmax_attention_gets_better_as_the_root_of_the_features(taken, extent):
    """The error of the context falls as F^−½, in both directions (A07's law)."""
    query, key, value = (0.3 * part.detach() for part in some_items(40))  # larger ones make the tail long
    scores = query @ key.mT / SIZE**0.5
    if isinstance(extent, Causal):
        scores = scores.masked_fill(torch.ones(40, 40).triu(1).bool(), -math.inf)
    exact, counts, errors = scores.softmax(-1) @ value, (16, 64, 256, 1024), []
    for count in counts:
        scorers = [Kernel(RandomFeatures(SIZE, count=count, seed=seed)) for seed in range(12)]
        contexts = [Attention(score, Proportional(), extent)(query, key, value) for score in scorers]
        errors.append((torch.stack(contexts) - exact).square().mean().sqrt().item())
    slope = (math.log(errors[-1]) - math.log(errors[0])) / (math.log(counts[-1]) - math.log(counts[0]))
    assert slope == pytest.approx(-0.5, abs=0.08)
    assert errors[-1] < 0.02 * exact.std()


def test_the_linear_way_is_taken_where_it_saves_and_where_it_can(taken):
    def asked(length, extent, **options):
        query, key, value = (part.detach() for part in some_items(length))
        attention = Attention(Kernel(EluPlusOne()), Proportional(), extent)
        attention.read(query, attention.prepare(key, value), **options)
        return taken and taken.pop() is not None

    assert asked(40, Everything())
    assert asked(40, Causal())
    assert not asked(3, Everything())  # short: the matrix is less work
    assert not asked(40, Window(3))  # its own keys for each query: groups, not one sum
    assert not asked(40, Causal(), query_at=torch.arange(40))  # a cached step
    assert asked(40, Everything(), query_at=torch.arange(40))  # positions that nobody asks
