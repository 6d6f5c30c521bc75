"""Who may look at whom, position by position."""

import pytest
import torch

from atento.attention import Attention, Causal, Everything, Extent, Masked, ScaledDot, Softmax, View, Window
from atento.errors import InputError

BATCH, QUERIES, KEYS, SIZE = 2, 5, 7, 3


class Slope(Extent):
    """A bias that falls with distance."""

    def __init__(self, slope):
        super().__init__()
        self.slope = torch.nn.Parameter(torch.tensor(slope))

    def forward(self, query, key, *, query_at, key_at, valid):
        distance = (key_at.unsqueeze(-2) - query_at.unsqueeze(-1)).abs()
        return View(torch.ones(1, 1, dtype=torch.bool), bias=-self.slope * distance)


class Fade(Extent):
    """A factor that falls with distance."""

    def __init__(self, width):
        super().__init__()
        self.width = torch.nn.Parameter(torch.tensor(width))

    def forward(self, query, key, *, query_at, key_at, valid):
        distance = key_at.unsqueeze(-2) - query_at.unsqueeze(-1)
        return View(torch.ones(1, 1, dtype=torch.bool), factor=torch.exp(-((distance / self.width) ** 2)))


def shown(extent, query_at, key_at):
    view = extent(torch.zeros(QUERIES, SIZE), torch.zeros(KEYS, SIZE), query_at=query_at, key_at=key_at, valid=None)
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
        pytest.param(Causal() & Window(2), PREDICATES[4][1], marks=pytest.mark.spec("A20", "A21")),
        (Window(1) | Causal(), PREDICATES[5][1]),
    ],
    ids=["global", "causal", "window", "both", "either"],
)
def test_only_what_is_shown_is_read(extent, may_look):
    query, key = (torch.randn(2, QUERIES, SIZE, requires_grad=True) for _ in range(2))
    value = torch.randn(2, QUERIES, 11, requires_grad=True)
    expected = context_by_loops(query, key, value, may_look)
    attention = Attention(ScaledDot(), Softmax(), extent)
    context = attention(query, key, value)
    torch.testing.assert_close(context, expected, rtol=0, atol=1e-13)
    torch.testing.assert_close(attention.weights(query, key) @ value, expected, rtol=0, atol=1e-13)  # by the formula
    upstream, leaves = torch.randn_like(context), (query, key, value)
    gradients = torch.autograd.grad(context, leaves, upstream)
    torch.testing.assert_close(gradients, torch.autograd.grad(expected, leaves, upstream), rtol=0, atol=1e-13)


def test_biases_add_and_factors_multiply():
    positions = {"query_at": torch.arange(QUERIES), "key_at": torch.arange(KEYS), "valid": None}
    query, key = torch.zeros(QUERIES, SIZE), torch.zeros(KEYS, SIZE)
    distance = (torch.arange(KEYS) - torch.arange(QUERIES).unsqueeze(-1)).abs().double()
    view = (Slope(0.5) & Fade(3.0) & Slope(0.25) & Fade(2.0) & Causal())(query, key, **positions)
    torch.testing.assert_close(view.bias, -0.75 * distance)
    torch.testing.assert_close(view.factor, torch.exp(-(distance**2) * (1 / 9 + 1 / 4)))
    assert torch.equal(view.visible, Causal()(query, key, **positions).visible)
    scores = torch.randn(QUERIES, KEYS)
    torch.testing.assert_close(view.add_bias(scores), scores - 0.75 * distance)
    torch.testing.assert_close(view.scale(scores), scores * view.factor)
    plain = Everything()(query, key, **positions)
    assert plain.add_bias(scores) is scores
    assert plain.scale(scores) is scores


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
    view = extent(query, key, query_at=positions, key_at=positions, valid=valid)
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


class OurSoftmax(Softmax):
    """A kind that no kernel knows."""


def given_mask():
    """Some pairs at random, and a query that may look nowhere."""
    mask = torch.rand(QUERIES, QUERIES) < 0.6
    mask[1] = False
    return mask


@pytest.mark.spec("A23")
@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
def test_a_boolean_mask_is_obeyed(padded):
    """Only what the mask shows and what is real is read; a row with nothing to look at gives zeros."""
    query, key, value = (torch.randn(2, QUERIES, SIZE, requires_grad=True) for _ in range(3))
    valid = torch.tensor([[True, False, True, True, True], [False] * QUERIES]) if padded else None
    mask = given_mask()
    attention = Attention(ScaledDot(), Softmax(), Masked(mask))
    context, weights = attention(query, key, value, valid=valid), attention.weights(query, key, valid=valid)
    for row in range(2):
        for at in range(QUERIES):
            seen = mask[at] if valid is None else mask[at] & valid[row]
            powers = ((key[row] @ query[row, at]) / SIZE**0.5).exp() * seen
            shares = powers / powers.sum() if seen.any() else torch.zeros(QUERIES)
            torch.testing.assert_close(weights[row, at], shares, rtol=0, atol=1e-14)
            torch.testing.assert_close(context[row, at], shares @ value[row], rtol=0, atol=1e-13)
    assert (context[:, 1] == 0).all()
    gradients = torch.autograd.grad(context.square().sum(), (query, key, value))
    assert all(gradient.isfinite().all() for gradient in gradients)


@pytest.mark.spec("A23")
@pytest.mark.parametrize("make_distribution", [Softmax, OurSoftmax], ids=["kernel", "formula"])
@pytest.mark.parametrize("shape", [(QUERIES, QUERIES), (3, QUERIES, QUERIES), (2, 1, QUERIES, QUERIES)], ids=len)
def test_an_additive_mask_is_added_and_may_be_learned(shape, make_distribution):
    hidden = given_mask()
    mask = torch.nn.Parameter(torch.randn(shape).masked_fill(~hidden, -torch.inf))
    query, key, value = (torch.randn(2, 3, QUERIES, SIZE) for _ in range(3))
    powers = (query @ key.mT / SIZE**0.5 + mask.masked_fill(~hidden, 0.0)).exp() * hidden
    expected = powers / powers.sum(-1, keepdim=True).clamp(min=1e-300) @ value
    attention = Attention(ScaledDot(), make_distribution(), Masked(mask))
    context = attention(query, key, value)
    torch.testing.assert_close(context, expected, rtol=0, atol=1e-13)
    assert [parameter is mask for parameter in attention.parameters()] == [True]
    found, wanted = (torch.autograd.grad(part.square().sum(), mask)[0] for part in (context, expected))
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)


@pytest.mark.spec("A23")
def test_a_mask_speaks_of_absolute_positions():
    mask, items = given_mask(), torch.randn(1, QUERIES, SIZE)
    attention = Attention(ScaledDot(), Softmax(), Masked(mask))
    whole, prepared = attention(items, items, items), attention.prepare(items, items)
    for at in range(QUERIES):
        step = attention.read(items[:, at : at + 1], prepared, query_at=torch.tensor([at]))
        torch.testing.assert_close(step, whole[:, at : at + 1], rtol=0, atol=1e-14)
    part = (Masked(mask) & Causal())(items, items, query_at=torch.tensor([4]), key_at=torch.arange(3), valid=None)
    assert torch.equal(part.visible, mask[4:5, :3])


@pytest.mark.parametrize(
    "mask, found",
    [
        (torch.ones(3), "shape (3,)"),
        (torch.ones(3, 3, dtype=torch.long), "torch.int64"),
        (torch.full((3, 3), torch.nan), "NaN or +inf"),
        (torch.full((3, 3), torch.inf), "NaN or +inf"),
    ],
)
def test_a_mask_that_cannot_be_one_is_refused(mask, found):
    with pytest.raises(InputError, match="Masked: ") as caught:
        Masked(mask)
    assert found in caught.value.found


@pytest.mark.parametrize("queries, keys", [(4, 3), (3, 4)])
def test_a_mask_that_is_too_small_is_refused(queries, keys):
    attention = Attention(ScaledDot(), Softmax(), Masked(torch.ones(3, 3, dtype=torch.bool)))
    with pytest.raises(InputError, match="mask 3 × 3"):
        attention(torch.randn(1, queries, SIZE), torch.randn(1, keys, SIZE), torch.randn(1, keys, SIZE))


def test_what_joined_extents_promise():
    sided = Causal() & Window(2)
    assert (sided.crosses_sequences, sided.causal_safe, sided.position_only, sided.biased) == (False, True, True, False)
    assert (Window(1) | Everything()).crosses_sequences
    assert (Slope(0.5) & Window(1)).position_only is False
    assert (Window(1) & Masked(torch.zeros(2, 2))).biased
    assert not (Window(1) & Masked(torch.ones(2, 2, dtype=torch.bool))).biased


@pytest.mark.parametrize("left_padded", [False, True])
@pytest.mark.parametrize("right_padded", [False, True])
def test_appended_keys_keep_their_padding(left_padded, right_padded):
    attention = Attention(ScaledDot(), Softmax(), Everything())
    key, query = torch.randn(BATCH, 5, SIZE), torch.randn(BATCH, 11, SIZE)
    valid = torch.ones(BATCH, 5, dtype=torch.bool)
    valid[0, 1] = not left_padded
    valid[1, 4] = not right_padded
    parts = [
        attention.prepare(key[:, place], key[:, place], valid=valid[:, place] if padded else None)
        for place, padded in ((slice(0, 3), left_padded), (slice(3, 5), right_padded))
    ]
    joined = parts[0].append(parts[1])
    assert (joined.valid is None) is not (left_padded or right_padded)
    whole = attention(query, key, key, valid=valid)
    torch.testing.assert_close(attention.read(query, joined), whole, rtol=0, atol=1e-14)
