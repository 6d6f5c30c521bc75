"""Who may look at whom, position by position."""

import pytest
import torch

from atento.attention import Attention, Causal, Everything, Extent, Softmax, Sparsemax, View, Window
from atento.attention.scores import General, ScaledDot
from atento.errors import InputError

QUERIES, KEYS, SIZE = 5, 7, 3


class Slope(Extent):
    """A bias that falls with distance."""

    def __init__(self, slope):
        super().__init__()
        self.slope = torch.nn.Parameter(torch.tensor(slope))

    def forward(self, query, key, *, query_at, key_at):
        distance = (key_at.unsqueeze(-2) - query_at.unsqueeze(-1)).abs()
        return View(torch.ones(1, 1, dtype=torch.bool), bias=-self.slope * distance)


class Fade(Extent):
    """A factor that falls with distance."""

    def __init__(self, width):
        super().__init__()
        self.width = torch.nn.Parameter(torch.tensor(width))

    def forward(self, query, key, *, query_at, key_at):
        distance = key_at.unsqueeze(-2) - query_at.unsqueeze(-1)
        return View(torch.ones(1, 1, dtype=torch.bool), factor=torch.exp(-((distance / self.width) ** 2)))


def shown(extent, query_at, key_at):
    view = extent(torch.zeros(QUERIES, SIZE), torch.zeros(KEYS, SIZE), query_at=query_at, key_at=key_at)
    return view.visible.expand(len(query_at), len(key_at))


PREDICATES = [
    (Everything(), lambda query, key: True),
    (Causal(), lambda query, key: key <= query),
    (Window(0), lambda query, key: key == query),
    (Window(2), lambda query, key: key in range(query - 2, query + 3)),
    (Causal() & Window(2), lambda query, key: query - 2 <= key <= query),
    (Causal() | Window(1), lambda query, key: key <= query + 1),
    (Everything() & Everything(), lambda query, key: True),
    (Window(1) | Everything(), lambda query, key: True),
    ((Window(1) | Causal()) & Window(3), lambda query, key: query - 3 <= key <= query + 1),
]


@pytest.mark.parametrize("extent, may_look", PREDICATES, ids=range(len(PREDICATES)))
@pytest.mark.parametrize("first", [0, 11])
def test_extents_show_what_they_say(extent, may_look, first):
    query_at, key_at = torch.arange(first, first + QUERIES), torch.arange(KEYS)
    expected = [[may_look(query, key) for key in key_at.tolist()] for query in query_at.tolist()]
    assert shown(extent, query_at, key_at).tolist() == expected


def context_by_loops(query, key, value, may_look):
    """Softmax of scaled products over the visible keys alone."""
    contexts = []
    for row in range(len(query)):
        for at in range(query.size(1)):
            seen = [place for place in range(key.size(1)) if may_look(at, place)]
            powers = torch.stack([(query[row, at] * key[row, place]).sum() / SIZE**0.5 for place in seen]).exp()
            contexts.append(sum(powers[rank] * value[row, place] for rank, place in enumerate(seen)) / powers.sum())
    return torch.stack(contexts).view(len(query), query.size(1), -1)


@pytest.mark.parametrize(
    "extent, may_look",
    [
        pytest.param(Everything(), PREDICATES[0][1], marks=pytest.mark.spec("A19")),
        pytest.param(Causal(), PREDICATES[1][1], marks=pytest.mark.spec("A20")),
        pytest.param(Window(2), PREDICATES[3][1], marks=pytest.mark.spec("A21")),
        (Causal() & Window(2), PREDICATES[4][1]),
        (Window(1) | Causal(), PREDICATES[5][1]),
    ],
    ids=["global", "causal", "window", "both", "either"],
)
def test_only_what_is_shown_is_read(extent, may_look):
    query, key = (torch.randn(2, QUERIES, SIZE, requires_grad=True) for _ in range(2))
    value = torch.randn(2, QUERIES, 11, requires_grad=True)
    expected = context_by_loops(query, key, value, may_look)
    context = Attention(ScaledDot(), Softmax(), extent)(query, key, value)
    torch.testing.assert_close(context, expected, rtol=0, atol=1e-13)
    upstream, leaves = torch.randn_like(context), (query, key, value)
    gradients = torch.autograd.grad(context, leaves, upstream)
    torch.testing.assert_close(gradients, torch.autograd.grad(expected, leaves, upstream), rtol=0, atol=1e-13)


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


def test_biases_add_and_factors_multiply():
    positions = {"query_at": torch.arange(QUERIES), "key_at": torch.arange(KEYS)}
    query, key = torch.zeros(QUERIES, SIZE), torch.zeros(KEYS, SIZE)
    distance = (torch.arange(KEYS) - torch.arange(QUERIES).unsqueeze(-1)).abs().double()
    view = (Slope(0.5) & Fade(3.0) & Slope(0.25) & Fade(2.0) & Causal())(query, key, **positions)
    torch.testing.assert_close(view.bias, -0.75 * distance)
    torch.testing.assert_close(view.factor, torch.exp(-(distance**2) * (1 / 9 + 1 / 4)))
    assert torch.equal(view.visible, Causal()(query, key, **positions).visible)
    scores = torch.randn(QUERIES, KEYS)
    torch.testing.assert_close(view.tilt(scores), scores - 0.75 * distance)
    torch.testing.assert_close(view.shade(scores), scores * view.factor)
    plain = Everything()(query, key, **positions)
    assert plain.tilt(scores) is scores
    assert plain.shade(scores) is scores


@pytest.mark.parametrize("valid", [None, [True, False, True, True, True]], ids=["whole", "padded"])
@pytest.mark.parametrize(
    "extent",
    [Slope(0.5), Fade(2.0), Slope(0.5) & Causal(), Fade(2.0) & Window(1), Slope(0.5) & Fade(2.0)],
    ids=["bias", "factor", "bias and causal", "factor and window", "both"],
)
def test_bias_and_factor_reach_the_context(extent, valid):
    """Whichever path computes it: exp(s + b) / Σ exp(s + b), then times f, not shared out again."""
    query, key, value = torch.randn(2, QUERIES, SIZE), torch.randn(2, QUERIES, SIZE), torch.randn(2, QUERIES, 11)
    valid = None if valid is None else torch.tensor([valid, [True] * QUERIES])
    positions = torch.arange(QUERIES)
    view = extent(query, key, query_at=positions, key_at=positions)
    visible = view.visible if valid is None else view.visible & valid.unsqueeze(1)
    powers = (query @ key.mT / SIZE**0.5 + (0 if view.bias is None else view.bias)).exp() * visible
    weights = powers / powers.sum(-1, keepdim=True) * (1 if view.factor is None else view.factor)
    leaves = list(extent.parameters())
    expected, expected_gradients = weights @ value, torch.autograd.grad((weights @ value).sum(), leaves)

    attention = Attention(ScaledDot(), Softmax(), extent)
    context = attention(query, key, value, valid=valid)
    torch.testing.assert_close(context, expected, rtol=0, atol=1e-13)
    torch.testing.assert_close(torch.autograd.grad(context.sum(), leaves), expected_gradients)
    torch.testing.assert_close(attention.weights(query, key, valid=valid), weights, rtol=0, atol=1e-13)


@pytest.mark.parametrize("extent", [Slope(0.5) & Causal(), Fade(2.0) & Causal()], ids=["bias", "factor"])
def test_a_row_that_sees_nothing_gives_zeros_and_finite_gradients(extent):
    items = torch.randn(1, QUERIES, SIZE, requires_grad=True)
    valid = torch.tensor([[False, False, True, True, True]])
    context = Attention(ScaledDot(), Softmax(), extent)(items, items, items, valid=valid)
    assert (context[0, :2] == 0).all()
    gradients = torch.autograd.grad(context.square().sum(), [items, *extent.parameters()])
    assert all(gradient.isfinite().all() for gradient in gradients)


@pytest.mark.spec("A32")
@pytest.mark.parametrize("extent", [Slope(0.5) | Causal(), Causal() | Fade(2.0)], ids=["bias", "factor"])
def test_either_of_two_biases_has_no_meaning(extent):
    with pytest.raises(InputError, match="only show or hide") as caught:
        shown(extent, torch.arange(QUERIES), torch.arange(KEYS))
    assert "&" in caught.value.fix


def test_a_window_cannot_reach_less_than_nothing():
    with pytest.raises(InputError, match="reach=-1"):
        Window(-1)
    assert "Window(128)" in repr(Causal() & Window(128))
