"""Sparse extents group by group: the same numbers as the masked matrix, without the matrix."""

import math

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from atento.attention import (
    AdaptiveSpan,
    Alibi,
    Attention,
    BlockLocal,
    BlockLocal2d,
    Causal,
    Everything,
    Extent,
    Fixed,
    General,
    Hard,
    Location,
    Masked,
    PredictiveLocal,
    RelativeBias,
    ScaledDot,
    Sizes,
    Softmax,
    Sparsemax,
    Strided,
    View,
    Window,
    recorded_draws,
)
from atento.attention.fast import sparse
from compositions import go_together, law_of_compositions

BATCH, HEADS, LENGTH, SIZE, VALUE_SIZE = 2, 3, 35, 7, 11


def ramp(query, key):
    """log m_z of a span of 6, ramp 4."""
    mask = min(1.0, (4 + 6 - abs(query - key)) / 4)
    return math.log(mask) if mask > 0 else None


def tiles_touch(query, key):
    down, across = query // 7 // 2 - key // 7 // 2, query % 7 // 3 - key % 7 // 3
    return max(abs(down), abs(across)) <= 1


def shown(visible):
    return 0.0 if visible else None


SLOPES = (1 / 16, 1 / 256, 1 / 4)  # of three heads: 2^−4, 2^−8, and 2^−2 between

# how to make an extent, and what it adds to the score of a query and a key in a head; None: hidden
PATTERNS = {
    "window": (lambda: Window(2), lambda head, query, key: shown(abs(query - key) <= 2)),
    "wide window": (lambda: Window(33), lambda head, query, key: shown(abs(query - key) <= 33)),
    "causal window": (lambda: Causal() & Window(3), lambda head, query, key: shown(0 <= query - key <= 3)),
    "block-local": (lambda: BlockLocal(5), lambda head, query, key: shown(abs(query // 5 - key // 5) <= 1)),
    "causal block-local": (
        lambda: BlockLocal(4, before=2, after=2) & Causal(),
        lambda head, query, key: shown(key <= query and query // 4 - key // 4 <= 2),
    ),
    "tiles": (lambda: BlockLocal2d(5, 7, (2, 3)), lambda head, query, key: shown(tiles_touch(query, key))),
    "causal tiles": (
        lambda: Causal() & BlockLocal2d(5, 7, (2, 3)),
        lambda head, query, key: shown(key <= query and tiles_touch(query, key)),
    ),
    "strided": (lambda: Strided(6), lambda head, query, key: shown(abs(query - key) <= 6 or (query - key) % 6 == 0)),
    "causal strided": (
        lambda: Causal() & Strided(6),
        lambda head, query, key: shown(0 <= query - key <= 6 or (key <= query and (query - key) % 6 == 0)),
    ),
    "fixed": (lambda: Fixed(5, 2), lambda head, query, key: shown(query // 5 == key // 5 or key % 5 >= 3)),
    "causal fixed": (
        lambda: Fixed(6) & Causal(),
        lambda head, query, key: shown(key <= query and (query // 6 == key // 6 or key % 6 == 5)),
    ),
    "adaptive span": (lambda: AdaptiveSpan(1, 12, 4), lambda head, query, key: ramp(query, key)),
    "causal adaptive span": (
        lambda: AdaptiveSpan(HEADS, 12, 4) & Causal(),
        lambda head, query, key: ramp(query, key) if key <= query else None,
    ),
    "alibi in a window": (
        lambda: Alibi(HEADS) & Window(4),
        lambda head, query, key: -SLOPES[head] * abs(query - key) if abs(query - key) <= 4 else None,
    ),
    "window or block": (
        lambda: Window(2) | BlockLocal(4, before=0, after=0),
        lambda head, query, key: shown(abs(query - key) <= 2 or query // 4 == key // 4),
    ),
}
ROWS = {"block-local": "C01", "tiles": "C01", "strided": "C02", "fixed": "C02", "adaptive span": "C03", "window": "A21"}

every_pattern = pytest.mark.parametrize(
    "make, tilt",
    [
        pytest.param(*pattern, id=name, marks=pytest.mark.spec(ROWS[name.removeprefix("causal ")]))
        if name.removeprefix("causal ") in ROWS
        else pytest.param(*pattern, id=name)
        for name, pattern in PATTERNS.items()
    ],
)


@pytest.fixture
def always(monkeypatch):
    """Groups also where they do not pay."""
    monkeypatch.setattr(sparse, "WORTH_IT", 0)


def some_items(length=LENGTH):
    sizes = (SIZE, SIZE, VALUE_SIZE)
    return [torch.randn(BATCH, HEADS, length, size, requires_grad=True) for size in sizes]


def holes():
    """Padding behind and in between, not before the first real key."""
    valid = torch.rand(BATCH, 1, LENGTH) < 0.7
    valid[:, :, 0] = True
    valid[1, :, 20:] = False
    return valid


def cover_of(attention, query, key, value, valid=None):
    return sparse.sparse_cover(attention.score, attention.extent, query, attention.prepare(key, value, valid=valid))


@every_pattern
@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
def test_groups_give_what_the_masked_softmax_gives(always, make, tilt, padded):
    query, key, value = leaves = some_items()
    valid = holes() if padded else torch.ones(BATCH, 1, LENGTH, dtype=torch.bool)
    rows = [
        [[tilt(head, at, place) for place in range(LENGTH)] for at in range(LENGTH)] for head in range(HEADS)
    ]  # (H, Q, K)
    added = torch.tensor([[[-math.inf if one is None else one for one in row] for row in head] for head in rows])
    scores = query @ key.mT / SIZE**0.5 + added
    expected = scores.masked_fill(~valid.unsqueeze(-2), -math.inf).softmax(-1).nan_to_num() @ value

    attention = Attention(ScaledDot(), Softmax(), make())
    assert cover_of(attention, *leaves, valid)
    context = attention(*leaves, valid=valid if padded else None)
    torch.testing.assert_close(context, expected, rtol=0, atol=1e-13)
    if not padded:  # a row of −inf alone has no gradient in the reference
        upstream = torch.randn_like(context)
        gradients = torch.autograd.grad(context, leaves, upstream)
        torch.testing.assert_close(gradients, torch.autograd.grad(expected, leaves, upstream), rtol=0, atol=1e-13)


BIASED = [name for name, (make, _) in PATTERNS.items() if make().biased]


def is_comparable(score, distribution, extent, pattern, padded):
    """Scores that ask what a key is and not where it stands, and no bias for proportions."""
    biased = distribution == "proportional" and pattern in BIASED
    return score != "location" and go_together(score, distribution) and not biased


def build(names):
    return names.build(Sizes(SIZE, SIZE, heads=HEADS)).eval()


@pytest.mark.spec("C01", "C02", "C03")
@pytest.mark.usefixtures("always")
@law_of_compositions(build, extents=["everything"], pattern=PATTERNS, padded=[False, True], allowed=is_comparable)
def test_any_score_and_distribution_on_groups(attention, pattern, padded):
    """The context is that of the weights, which are computed by the whole matrix; so are all gradients."""
    attention = attention.with_extent(PATTERNS[pattern][0]())
    leaves, valid = some_items(), holes() if padded else None
    assert cover_of(attention, *leaves, valid)
    prepared = attention.prepare(*leaves[1:], valid=valid)
    context = attention.read(leaves[0], prepared)
    by_formula = attention.weights_from(leaves[0], prepared) @ prepared.value
    torch.testing.assert_close(context, by_formula, rtol=0, atol=1e-13)
    upstream, leaves = torch.randn_like(context), [*leaves, *attention.parameters()]
    gradients, expected = (
        torch.autograd.grad(side, leaves, upstream, retain_graph=True, allow_unused=True)
        for side in (context, by_formula)
    )
    torch.testing.assert_close(gradients, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("extent", [Window(3), Causal() & Fixed(5)], ids=["one pair", "two pairs"])
def test_hard_attention_records_its_draws_row_by_row(always, extent):
    query, key, _ = (part.detach() for part in some_items())
    markers = torch.eye(LENGTH).expand(BATCH, HEADS, LENGTH, LENGTH)
    attention = Attention(ScaledDot(), Hard("score-function"), extent)
    with recorded_draws() as draws:
        drawn = attention(query, key, markers)  # (B, H, Q, K) one-hot
    expected = (Attention(ScaledDot(), Softmax(), extent).weights(query, key) * drawn).sum(-1).log()
    assert [part.shape for part in draws] == [(BATCH, HEADS, LENGTH)]
    torch.testing.assert_close(draws[0], expected, rtol=0, atol=1e-12)


def test_learned_biases_in_a_pattern_of_two_pairs(always):
    extent = RelativeBias(HEADS, 3) & Strided(4) & Causal()
    extent.left.left.table.data.normal_()
    leaves = some_items()
    attention = Attention(ScaledDot(), Sparsemax(), extent)
    assert len(cover_of(attention, *leaves)) == 2
    context, by_formula = attention(*leaves), attention.weights(*leaves[:2]) @ leaves[2]
    torch.testing.assert_close(context, by_formula, rtol=0, atol=1e-13)
    leaves, upstream = [*leaves, *attention.parameters()], torch.randn_like(context)
    gradients = torch.autograd.grad(context, leaves, upstream)
    torch.testing.assert_close(gradients, torch.autograd.grad(by_formula, leaves, upstream), rtol=0, atol=1e-12)


class Fade(Extent):
    """A factor that falls with distance, and nothing but distance."""

    position_only = True

    def forward(self, query, key, *, query_at, key_at, valid):
        distance = (key_at.unsqueeze(-2) - query_at.unsqueeze(-1)).double()
        return View(torch.ones_like(distance, dtype=torch.bool), factor=torch.exp(-distance.square() / 9))


@pytest.mark.parametrize("pattern", [Window(3), Strided(5)], ids=["one pair", "two pairs"])
def test_a_factor_multiplies_the_weights_of_groups(always, pattern):
    leaves, attention = some_items(), Attention(ScaledDot(), Softmax(), pattern & Fade())
    assert cover_of(attention, *leaves)
    fade = torch.exp(-(torch.arange(LENGTH) - torch.arange(LENGTH).unsqueeze(-1)).square() / 9)
    plain = Attention(ScaledDot(), Softmax(), pattern).weights(*leaves[:2])
    torch.testing.assert_close(attention(*leaves), (plain * fade) @ leaves[2], rtol=0, atol=1e-13)


@pytest.mark.parametrize("queries, keys", [(35, 50), (50, 35), (1, 40)])
def test_a_window_from_one_sequence_to_another(always, queries, keys):
    query, key, value = torch.randn(2, queries, SIZE), torch.randn(2, keys, SIZE), torch.randn(2, keys, VALUE_SIZE)
    attention = Attention(General(SIZE, SIZE), Softmax(), Window(3))
    assert cover_of(attention, query, key, value)
    torch.testing.assert_close(attention(query, key, value), attention.weights(query, key) @ value, rtol=0, atol=1e-13)


@every_pattern
def test_rows_that_see_nothing_give_zeros_and_finite_gradients(always, make, tilt):
    leaves, extent = some_items(), make()
    valid = torch.zeros(BATCH, 1, LENGTH, dtype=torch.bool)
    valid[1, 0, 0] = True
    context = Attention(ScaledDot(), Softmax(), extent)(*leaves, valid=valid)
    assert (context[0] == 0).all()
    gradients = torch.autograd.grad(context.square().sum(), [*leaves, *extent.parameters()])
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert all((gradient[0] == 0).all() for gradient in gradients[:3])


@pytest.mark.parametrize("make_score", [ScaledDot, lambda: General(SIZE, SIZE)], ids=["kernel", "formula"])
@pytest.mark.parametrize("name", [name for name in PATTERNS if name.startswith("causal")])
def test_the_future_never_matters_exactly(always, make_score, name):
    attention, items = Attention(make_score(), Softmax(), PATTERNS[name][0]()), [part.detach() for part in some_items()]
    expected = attention(*items)
    for now in (0, 4, 11, 33):
        changed = [part.clone() for part in items]
        for part in changed:
            part[..., now + 1 :, :] = 1e3 * torch.randn_like(part[..., now + 1 :, :])
        assert torch.equal(attention(*changed)[..., : now + 1, :], expected[..., : now + 1, :])


def test_groups_are_taken_where_they_save_and_where_they_can():
    long = [torch.randn(1, 1024, SIZE) for _ in range(3)]

    def taken(score, extent, items=long, valid=None):
        return bool(cover_of(Attention(score, Softmax(), extent), *items, valid))

    assert taken(ScaledDot(), Window(16))
    assert taken(General(SIZE, SIZE), Causal() & Strided(32))
    assert not taken(ScaledDot(), Window(16), [part[:, :40] for part in long])  # short: one matrix is less work
    assert not taken(ScaledDot(), Window(900))
    assert not taken(ScaledDot(), Everything())
    assert not taken(ScaledDot(), Causal())
    assert not taken(ScaledDot(), Window(16) | Causal())  # one of the two is not sparse
    assert not taken(Location(SIZE, 1024), Window(16))  # its scores ask where a key stands
    assert not taken(ScaledDot(), Window(16) & PredictiveLocal(SIZE, 5, 3))  # it must see all keys to count them
    assert not taken(ScaledDot(), Window(16) & Masked(torch.ones(1024, 1024, dtype=torch.bool)))
    padded = torch.ones(1, 1024, dtype=torch.bool)
    padded[0, :7] = False
    assert not taken(ScaledDot(), BlockLocal(16), valid=padded)  # its blocks begin behind the padding
    assert taken(ScaledDot(), Window(16), valid=padded)
    assert taken(ScaledDot(), BlockLocal(16), valid=padded.flip(-1))


def test_a_cached_step_reads_what_the_whole_pass_reads(always):
    items = [part.detach() for part in some_items()]
    for extent in (Causal() & Window(3), Causal() & Fixed(5), Causal() & AdaptiveSpan(HEADS, 5, 3)):
        attention = Attention(ScaledDot(), Softmax(), extent)
        whole, cache = attention(*items), None
        for at in range(LENGTH):
            step = [part[..., at : at + 1, :] for part in items]
            new = attention.prepare(*step[1:])
            cache = new if cache is None else cache.append(new)
            context = attention.read(step[0], cache, query_at=torch.tensor([at]))
            torch.testing.assert_close(context, whole[..., at : at + 1, :], rtol=0, atol=1e-13)


class Largest(TorchDispatchMode):
    """The most numbers any tensor holds."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        made = function(*arguments, **(options or {}))
        for part in made if isinstance(made, tuple | list) else (made,):
            if isinstance(part, torch.Tensor):
                self.count = max(self.count, part.numel())
        return made


@pytest.mark.spec("C01", "C02", "C03")
@pytest.mark.parametrize(
    "extent",
    [
        Window(16),
        BlockLocal(32),
        BlockLocal2d(32, 32, (4, 4)),
        Strided(32),
        Causal() & Fixed(32),
        AdaptiveSpan(1, 32, 8),
    ],
    ids=["window", "block-local", "tiles", "strided", "fixed", "adaptive span"],
)
@pytest.mark.parametrize("make_score", [ScaledDot, lambda: General(4, 4)], ids=["kernel", "formula"])
def test_no_matrix_of_all_queries_and_keys_is_built(extent, make_score):
    items = [torch.randn(1, 1024, 4, requires_grad=True) for _ in range(3)]
    with Largest() as largest:
        Attention(make_score(), Softmax(), extent)(*items).sum().backward()
    assert largest.count < 1024 * 1024 / 4
