"""Areas of neighbouring items: their features, what hides them, and the attention over them, one area at a time."""

import itertools
import math

import pytest
import torch

from atento.attention import (
    Attention,
    Causal,
    Everything,
    Extent,
    FeatureBased,
    Location,
    ScaledDot,
    Softmax,
    Sparsemax,
    View,
    Window,
)
from atento.blocks import AreaAttention, means, means_and_stds
from atento.blocks.area import mean_of, std_of, sums
from atento.errors import InputError

BATCH, QUERIES, KEYS, SIZE, VALUE_SIZE, LARGEST, HIDDEN = 2, 3, 7, 5, 11, 3, 13
VALID = torch.tensor([[True, True, False, True, True, True, False], [False, True, True, True, True, False, True]])
PLACES = [(start, length) for length in range(1, LARGEST + 1) for start in range(KEYS - length + 1)]


def items(requires_grad=False):
    query, key = torch.randn(BATCH, QUERIES, SIZE), torch.randn(BATCH, KEYS, SIZE)
    return [part.requires_grad_(requires_grad) for part in (query, key, torch.randn(BATCH, KEYS, VALUE_SIZE))]


def area_of(values, start, length):
    return [values[start + step] for step in range(length)]


def mean(area):
    return sum(area) / len(area)


def std(area):
    return (sum((item - mean(area)).square() for item in area) / len(area)).sqrt()


def stds(items, largest):
    return means_and_stds(items, largest).chunk(2, dim=-1)[1]


@pytest.mark.spec("A11")
def test_features_of_every_area():
    """Mean, standard deviation and sum of one to three neighbours, starts in order, short areas first."""
    values = torch.randn(KEYS, SIZE)
    areas = [area_of(values, *place) for place in PLACES]
    assert len(areas) == 7 + 6 + 5
    for features, formula in ((means, mean), (stds, std), (sums, sum)):
        torch.testing.assert_close(features(values, LARGEST), torch.stack([formula(area) for area in areas]))
    torch.testing.assert_close(means(values[:2], LARGEST), torch.stack([*values[:2], mean(values[:2])]))  # few items


def test_the_spread_of_equal_items_has_a_gradient():
    values = torch.ones(KEYS, SIZE, requires_grad=True)
    (gradient,) = torch.autograd.grad(stds(values, LARGEST).sum(), values)
    assert (gradient == 0).all()


def scaled_dot(query, keys, _):
    return [query @ mean(area) / math.sqrt(SIZE) for area in keys]


def feature_based(query, keys, score):
    """v · tanh(W₁ mean + W₂ std + b): the query is not asked; a single item has no std."""
    first, second = score.project_first, score.project_second
    bent = [
        torch.tanh(
            first.weight @ mean(area)
            + first.bias
            + (second.weight @ std(area) if len(area) > 1 else torch.zeros(HIDDEN))
        )
        for area in keys
    ]
    return [score.collapse.weight[0] @ hidden for hidden in bent]


def over_areas(kind, distribution=None, extent=None):
    if kind is scaled_dot:
        return AreaAttention(Attention(ScaledDot(), distribution or Softmax(), extent or Everything()), largest=LARGEST)
    score = FeatureBased(2 * SIZE, HIDDEN, first=mean_of, second=std_of)
    attention = Attention(score, distribution or Softmax(), extent or Everything())
    return AreaAttention(attention, largest=LARGEST, features=means_and_stds)


@pytest.mark.spec("A11")
@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
@pytest.mark.parametrize("formula", [scaled_dot, feature_based])
def test_one_area_at_a_time(formula, padded):
    """Σ_r softmax_r(score of area r) Σ_{i in r} v_i, over areas that hold no padding."""
    module, (query, key, value), valid = over_areas(formula), items(requires_grad=True), VALID if padded else None
    expected, weights = torch.zeros(BATCH, QUERIES, VALUE_SIZE), torch.zeros(BATCH, QUERIES, len(PLACES))
    for row, asked in itertools.product(range(BATCH), range(QUERIES)):
        whole = [at for at, place in enumerate(PLACES) if valid is None or all(area_of(valid[row], *place))]
        keys = [area_of(key[row], *PLACES[at]) for at in whole]
        powers = torch.stack(formula(query[row, asked], keys, module.attention.score)).exp()
        shares = powers / powers.sum()
        weights[row, asked, whole] = shares.detach()
        values = [sum(area_of(value[row], *PLACES[at])) for at in whole]
        expected[row, asked] = sum(share * one for share, one in zip(shares, values, strict=True))
    actual = module(query, key, value, valid=valid)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-13)
    found = module.weights(query, key, valid=valid)
    torch.testing.assert_close(found.weights.detach(), weights, rtol=0, atol=1e-14)
    assert list(zip(found.start.tolist(), found.length.tolist(), strict=True)) == PLACES
    torch.testing.assert_close(found.on_items() @ value, actual, rtol=0, atol=1e-13)
    leaves, upstream = [query, key, value, *module.parameters()], torch.randn_like(expected)
    gradients = [
        torch.autograd.grad(side, leaves, upstream, retain_graph=True, allow_unused=True, materialize_grads=True)
        for side in (actual, expected)
    ]
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-12)


def test_areas_of_one_item_are_plain_attention():
    (query, key, value), attention = items(), Attention(ScaledDot(), Sparsemax(), Window(1))
    module = AreaAttention(attention, largest=1)
    expected = attention(query, key, value, valid=VALID)
    torch.testing.assert_close(module(query, key, value, valid=VALID), expected, rtol=0, atol=1e-14)


@pytest.mark.spec("A11")
@pytest.mark.parametrize("extent", [Causal(), Window(1), Causal() & Window(2)])
def test_an_area_with_a_hidden_item_is_hidden(extent):
    """The future too: an area is seen once its last item is."""
    module, (_, key, value) = over_areas(scaled_dot, extent=extent), items()
    weights = module.weights(key, key).weights
    at = torch.arange(KEYS)
    visible = extent(key, key, query_at=at, key_at=at, valid=None).visible
    for asked, (place, (first, count)) in itertools.product(range(KEYS), enumerate(PLACES)):
        seen = all(visible[asked, first : first + count])
        assert ((weights[:, asked, place] > 0) == seen).all()
    changed = value.clone()
    changed[:, 4:] = 1e3
    if not isinstance(extent, Window):
        later = key.clone()
        later[:, 4:] = 1e3
        assert torch.equal(module(key, key, value)[:, :4], module(later, later, changed)[:, :4])
    part = module.weights(key, key, rows=slice(2, 5)).weights
    torch.testing.assert_close(part, weights[:, 2:5], rtol=0, atol=1e-14)


class Fading(Extent):
    """Far keys count less: a bias and a factor."""

    def forward(self, query, key, *, query_at, key_at, valid):
        far = (key_at.unsqueeze(-2) - query_at.unsqueeze(-1)).abs().to(query.dtype)
        return View(torch.ones(1, 1, dtype=torch.bool), bias=-far, factor=1 / (1 + far))


def test_bias_and_factor_of_an_area_are_the_mean_of_its_items():
    module, (query, key, _) = over_areas(scaled_dot, extent=Fading()), items()
    weights = module.weights(query, key).weights
    for row, asked in itertools.product(range(BATCH), range(QUERIES)):
        far = [[abs(at - asked) for at in range(start, start + length)] for start, length in PLACES]
        scores = scaled_dot(query[row, asked], [area_of(key[row], *place) for place in PLACES], None)
        powers = [(score - sum(steps) / len(steps)).exp() for score, steps in zip(scores, far, strict=True)]
        factors = [sum(1 / (1 + step) for step in steps) / len(steps) for steps in far]
        expected = [factor * power / sum(powers) for factor, power in zip(factors, powers, strict=True)]
        torch.testing.assert_close(weights[row, asked], torch.stack(expected), rtol=0, atol=1e-14)


def test_what_does_not_fit_is_named():
    module, (query, key, value) = over_areas(scaled_dot), items()
    with pytest.raises(InputError, match="largest must be positive"):
        AreaAttention(module.attention, largest=0)
    with pytest.raises(InputError, match="valid says of each item of value"):
        module(query, key, value, valid=VALID[:, :4])
    with pytest.raises(InputError, match="key and value must have the same items") as caught:
        module(query, key[:, 1:], value)
    assert caught.value.found == "key (2, 6, 5), value (2, 7, 11)"
    with pytest.raises(InputError, match="key must have the shape"):
        module.weights(query, key[0, 0])
    with pytest.raises(InputError, match="depends on the position of a key"):
        AreaAttention(Attention(Location(SIZE, KEYS), Softmax(), Everything()), largest=2)
