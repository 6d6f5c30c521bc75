"""A weight for each feature of each item: the formula, one feature at a time."""

import pytest
import torch
from torch.nn import functional

from atento.attention import Attention, Causal, Dot, Everything, Proportional, Softmax, Sparsemax
from atento.blocks import AttentionPooling, MultiDimensionalAttention
from atento.errors import InputError

BATCH, QUERIES, KEYS, QUERY_SIZE, KEY_SIZE, VALUE_SIZE, HIDDEN = 2, 3, 5, 7, 11, 13, 17
VALID = torch.tensor([[True, True, False, True, False], [False, True, True, True, True]])


def feature_wise(distribution=None, extent=None, **options):
    return MultiDimensionalAttention(
        QUERY_SIZE,
        KEY_SIZE,
        VALUE_SIZE,
        hidden_size=HIDDEN,
        distribution=distribution or Softmax(),
        extent=extent or Everything(),
        **options,
    )


@pytest.mark.spec("A30")
@pytest.mark.parametrize("activation", [torch.tanh, functional.elu])
@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
def test_each_feature_shares_its_own_weight_out(padded, activation):
    """f = W act(W₁ k + W₂ q + b₁) + b; P_ki = softmax_i(f_k); s_k = Σ_i P_ki v_ki."""
    module, valid = feature_wise(activation=activation), VALID if padded else None
    query = torch.randn(BATCH, QUERIES, QUERY_SIZE, requires_grad=True)
    key = torch.randn(BATCH, KEYS, KEY_SIZE, requires_grad=True)
    value = torch.randn(BATCH, KEYS, VALUE_SIZE, requires_grad=True)
    expected, weights = torch.zeros(BATCH, QUERIES, VALUE_SIZE), torch.zeros(BATCH, VALUE_SIZE, QUERIES, KEYS)
    for row in range(BATCH):
        real = [at for at in range(KEYS) if valid is None or valid[row, at]]
        for asked in range(QUERIES):
            to_hidden = module.project_query.weight @ query[row, asked] + module.project_query.bias
            scores = [
                module.to_scores.weight @ activation(module.project_key.weight @ key[row, at] + to_hidden)
                + module.to_scores.bias
                for at in real
            ]
            for feature in range(VALUE_SIZE):
                powers = [score[feature].exp() for score in scores]
                shares = torch.stack(powers) / sum(powers)
                weights[row, feature, asked, real] = shares.detach()
                expected[row, asked, feature] = shares @ value[row, real, feature]
    actual = module(query, key, value, valid=valid)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-13)
    torch.testing.assert_close(module.weights(query, key, valid=valid), weights, rtol=0, atol=1e-14)
    leaves, upstream = [query, key, value, *module.parameters()], torch.randn_like(expected)
    gradients = [torch.autograd.grad(side, leaves, upstream, retain_graph=True) for side in (actual, expected)]
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-12)


def trained(attention, items, target):
    """The error that is left, and the weights."""
    pooling = AttentionPooling(2, attention)
    optimiser = torch.optim.Adam(pooling.parameters(), lr=0.1)
    for _ in range(200):
        optimiser.zero_grad()
        loss = functional.mse_loss(pooling(items), target)
        loss.backward()
        optimiser.step()
    return loss.item(), pooling.weights(items)[0]


@pytest.mark.spec("A30")
def test_features_look_at_different_items():
    """One feature wants the first item, the other the second: no weight per item can give both."""
    items, target = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]]), torch.tensor([[1.0, 1.0]])
    by_feature = MultiDimensionalAttention(2, 2, 2, hidden_size=5, distribution=Softmax(), extent=Everything())
    error, (first, second) = trained(by_feature, items, target)
    assert error < 1e-3 and first[0] > 0.9 and second[1] > 0.9
    error, _ = trained(Attention(Dot(), Softmax(), Everything()), items, target)
    assert error == pytest.approx(0.25, abs=1e-3)  # half of each is the best that one weight can do


def test_any_distribution_and_extent():
    module = feature_wise(Sparsemax(), Causal())
    query, key = torch.randn(BATCH, KEYS, QUERY_SIZE), torch.randn(BATCH, KEYS, KEY_SIZE)
    with torch.no_grad():
        module.to_scores.weight.mul_(10)
    weights = module.weights(query, key)
    assert (weights.triu(1) == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(BATCH, VALUE_SIZE, KEYS))
    assert (weights[..., -1, :] == 0).any()
    part = module.weights(query, key, rows=slice(1, 3))
    torch.testing.assert_close(part, weights[..., 1:3, :], rtol=0, atol=1e-14)


def test_what_does_not_fit_is_named():
    module = feature_wise()
    query, key = torch.randn(BATCH, QUERIES, QUERY_SIZE), torch.randn(BATCH, KEYS, KEY_SIZE)
    value = torch.randn(BATCH, KEYS, VALUE_SIZE)
    for argument, arguments in (
        ("query", (key, key, value)),
        ("key", (query, value, value)),
        ("value", (query, key, key)),
    ):
        with pytest.raises(InputError, match=f"{argument} must have the shape"):
            module(*arguments)
    with pytest.raises(InputError, match="key and value must have the same items"):
        module(query, key[:1], value)
    with pytest.raises(InputError, match="valid says of each item of key"):
        module(query, key, value, valid=VALID[:, :3])
    with pytest.raises(InputError, match="Proportional divides non-negative scores"):
        feature_wise(Proportional())
    with pytest.raises(InputError, match="hidden_size must be positive"):
        MultiDimensionalAttention(1, 1, 1, hidden_size=0, distribution=Softmax(), extent=Everything())
