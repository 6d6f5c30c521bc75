"""The kernels of the template agree with the formula in float64, gradients included, in Triton's interpreter.

The same compositions run on a GPU in `benchmarks/gpu`, each behind such a gate."""

import copy
import math
import os

import pytest
import torch

if torch.cuda.is_available():
    pytest.skip("the interpreter is for machines without a GPU", allow_module_level=True)
pytest.importorskip("triton")

from atento.attention import (
    ActivatedGeneral,
    AdaptiveSpan,
    Additive,
    Alibi,
    Attention,
    BiasedGeneral,
    BlockLocal,
    Causal,
    DeAttention,
    Dot,
    Entmax,
    Everything,
    Fixed,
    General,
    Hard,
    Opposed,
    PredictiveLocal,
    RelativeBias,
    ScaledDot,
    Sigmoid,
    Similarity,
    Softmax,
    Sparsemax,
    Strided,
    Window,
    cosine,
    minus_manhattan,
)
from atento.attention.fast.gpu import additive, composing, plan

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # the interpreter computes hidden places in NumPy
    pytest.mark.skipif(os.name == "nt", reason="Triton has no build for it"),
]

BATCH, HEADS, LENGTH, KEYS, WIDTH, VALUES = 3, 2, 37, 41, 7, 5
NEAR = 1e-5

SCORES = {
    "dot": Dot,
    "scaled-dot": ScaledDot,
    "general": lambda: General(WIDTH, WIDTH),
    "biased-general": lambda: BiasedGeneral(WIDTH, WIDTH),
    "activated-general": lambda: ActivatedGeneral(WIDTH, WIDTH),
    "cosine": lambda: Similarity(cosine, sharpness=10.0, learned=True),
    "additive": lambda: Additive(WIDTH, WIDTH, hidden_size=5),
}
DISTRIBUTIONS = {
    "softmax": Softmax,
    "sigmoid": Sigmoid,
    "sparsemax": Sparsemax,
    "entmax15": Entmax,
    "entmax of 1.3": lambda: Entmax(1.3),
    "entmax learned": lambda: Entmax.learned(HEADS),
}
EXTENTS = {
    "everything": Everything,
    "causal": Causal,
    "window": lambda: Window(5),
    "causal window": lambda: Causal() & Window(20),
    "strided": lambda: Causal() & Strided(4),
    "fixed": lambda: Fixed(6, 2),
    "block-local": lambda: BlockLocal(8),
    "alibi": lambda: Causal() & Alibi(HEADS),
    "adaptive-span": lambda: AdaptiveSpan(HEADS, 20, 5),
    "relative": lambda: varied(RelativeBias(HEADS, 6)),
}


def varied(extent):
    """With numbers in its table, which begins with zeros."""
    torch.nn.init.normal_(extent.table)
    return extent


def some(length, width, scale=1.0):
    return scale * torch.randn(BATCH, HEADS, length, width, dtype=torch.float32)


def padding(keys):
    """A full row, a shorter one, and one without any real key."""
    lengths = torch.tensor([keys, keys - 9, 0])
    return (torch.arange(keys) < lengths.unsqueeze(-1)).unsqueeze(1)


def by_formula(attention, query, prepared, query_at):
    return attention.weights_from(query, prepared, query_at=query_at) @ prepared.value


def by_template(attention, query, prepared, query_at):
    parts = attention.score, attention.distribution, attention.extent
    return composing.template_context(*parts, query, prepared, query_at)


def agree(attention, *, queries=LENGTH, keys=LENGTH, valid=None, query_at=None, scale=1.0, gradient=True, whole=False):
    """Context and gradients of inputs and parameters, relative to the size of each. whole: scores without rounding.

    A gradient of one number is a sum whose terms cancel, so twice the error of the formula in float32 is near, too.
    """
    given = [some(queries, WIDTH, scale), some(keys, WIDTH), some(keys, VALUES)]
    given = [part.round() for part in given] if whole else given
    upstream, found = some(queries, VALUES), []
    if valid is not None:
        given[1:] = [part.masked_fill(~valid.unsqueeze(-1), torch.nan) for part in given[1:]]
    paths = (by_formula, torch.float64), (by_formula, torch.float32), (by_template, torch.float32)
    for path, dtype in paths:
        module = copy.deepcopy(attention).to(dtype)
        leaves = [part.to(dtype).requires_grad_(gradient) for part in given]
        context = path(module, leaves[0], module.prepare(*leaves[1:], valid=valid), query_at)
        sources = [*leaves, *module.parameters()]
        found.append([context.detach()])
        if gradient:
            found[-1] += torch.autograd.grad(context, sources, upstream.to(dtype), allow_unused=True)
    for number, (exact, rounded, one) in enumerate(zip(*found, strict=True)):
        assert (exact is None) == (one is None), number
        if exact is not None:
            size = exact.norm().clamp(min=1e-6 * math.sqrt(exact.numel()))
            near = max(NEAR * size, 2 * (rounded.double() - exact).norm())
            assert torch.isfinite(one).all() and (one.double() - exact).norm() <= near, number


@pytest.mark.parametrize("name", SCORES)
def test_scores(name):
    agree(Attention(SCORES[name](), Softmax(), Everything()), keys=KEYS, valid=padding(KEYS))


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions(name):
    agree(Attention(ScaledDot(), DISTRIBUTIONS[name](), Causal()), keys=LENGTH, valid=padding(LENGTH))
    agree(Attention(Dot(), DISTRIBUTIONS[name](), Everything()), keys=97)


@pytest.mark.parametrize("name", EXTENTS)
def test_extents(name):
    agree(Attention(ScaledDot(), Softmax(), EXTENTS[name]()), valid=padding(LENGTH))
    agree(Attention(ScaledDot(), Entmax(), EXTENTS[name]()))


@pytest.mark.parametrize("distribution", [Softmax, Sigmoid])
def test_windows_around_predicted_positions(distribution):
    extent = PredictiveLocal(WIDTH, 3, 4)
    for layer in (extent.project, extent.collapse):
        torch.nn.init.normal_(layer.weight)  # positions all over the sequence
    agree(Attention(ScaledDot(), distribution(), extent), keys=67)
    agree(Attention(ScaledDot(), distribution(), extent), keys=67, valid=padding(67))
    agree(Attention(ScaledDot(), distribution(), extent), keys=67, valid=padding(67).flip(-1))


@pytest.mark.parametrize("extent", [Strided(4), Causal() & Strided(4)])
def test_strided_extents_in_two_parts(monkeypatch, extent):
    monkeypatch.setattr(composing, "FOLDED", 2)
    agree(Attention(ScaledDot(), Softmax(), extent), queries=44, keys=44)


def test_de_attention(monkeypatch):
    attention = Attention(
        Opposed(ScaledDot(), Similarity(minus_manhattan, sharpness=1 / WIDTH)), DeAttention(), Everything()
    )
    agree(attention, keys=KEYS, valid=padding(KEYS))
    monkeypatch.setattr(composing, "PAIRS", BATCH * HEADS * LENGTH * 17)  # distances of 17 queries at a time
    agree(attention.with_extent(Causal()))


def test_offsets_beyond_a_learned_table():
    """Keys so far away that all of a tile share one number."""
    agree(Attention(ScaledDot(), Softmax(), varied(RelativeBias(HEADS, 6))), queries=131, keys=131)


def test_padding_on_the_left_shifts_blocks():
    valid = padding(LENGTH).flip(-1)
    agree(Attention(ScaledDot(), Softmax(), Fixed(6, 2)), valid=valid)


def test_positions_of_the_queries():
    """A step with a cache: later queries over all keys so far."""
    agree(Attention(ScaledDot(), Softmax(), Causal() & Window(9)), queries=3, query_at=torch.tensor([30, 4, 17]))


@pytest.mark.parametrize("distribution", [Softmax, Sparsemax, Sigmoid])
def test_scores_of_ten_thousands(distribution):
    """Context only: the gradient through saturated weights is 0 but for rounding."""
    agree(Attention(Dot(), distribution(), Causal()), scale=1e4, whole=True, gradient=False)


def test_additive_scores_of_large_items():
    """Beyond the exponentials that float32 holds, each exponential is taken of a sum."""
    for keys in (KEYS, 67):  # in one tile, and in several
        agree(Attention(Additive(WIDTH, WIDTH, hidden_size=5), Softmax(), Everything()), keys=keys, scale=60.0)


def test_additive_scores_in_parts(monkeypatch):
    """Scores of some queries at a time give what all at once give."""
    monkeypatch.setattr(additive, "SCRATCH", BATCH * HEADS * 64 * 23)
    agree(Attention(Additive(WIDTH, WIDTH, hidden_size=5), Entmax(), Everything()), queries=67, keys=23)


def test_the_best_key_of_a_hard_choice():
    agree(Attention(ScaledDot(), Hard(), Causal()).eval(), valid=padding(LENGTH), gradient=False)


def test_short_floats_within_their_rounding():
    """float16 here: the interpreter multiplies no matrices of bfloat16."""
    given = [some(LENGTH, WIDTH).half() for _ in range(3)]
    for distribution in (Softmax(), Sparsemax()):
        attention = Attention(ScaledDot(), distribution, Causal())
        exact = attention.prepare(given[1].double(), given[2].double())
        wanted = by_formula(attention, given[0].double(), exact, None)
        found = by_template(attention, given[0], attention.prepare(*given[1:]), None)
        assert found.dtype == torch.float16
        assert (found.double() - wanted).norm() / wanted.norm() < 1e-2


def test_autocast_takes_its_dtype():
    attention, given = Attention(Dot(), Entmax(), Everything()), [some(LENGTH, WIDTH) for _ in range(3)]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert plan.common_dtype(given[0], attention.prepare(*given[1:])) == torch.bfloat16
    with torch.autocast("cpu", dtype=torch.float16):
        assert by_template(attention, given[0], attention.prepare(*given[1:]), None).dtype == torch.float16


def test_keys_are_drawn_by_their_weights(monkeypatch):
    """With random numbers at equal distances, each key is drawn as often as its weight says, hidden ones never."""
    number, keys = 640, 71
    query, key, value = some(1, WIDTH)[:1, :1].expand(1, 1, number, -1), some(keys, WIDTH)[:1, :1], torch.eye(keys)
    evenly = (torch.arange(number) + 0.5) / number
    monkeypatch.setattr(torch, "rand", lambda shape, device: evenly[torch.randperm(number)].expand(shape).contiguous())
    attention = Attention(Dot(), Hard(), Everything())
    valid = torch.arange(keys) % 5 > 0
    prepared = attention.prepare(key, value.view(1, 1, keys, keys), valid=valid.view(1, 1, keys))
    drawn = by_template(attention, query, prepared, None)[0, 0]
    weights = (query[0, 0, :1] @ key[0, 0].mT).masked_fill(~valid, -torch.inf).softmax(dim=-1)[0]
    assert ((drawn == 1).sum(dim=-1) == 1).all() and ((drawn.sum(dim=0) - number * weights).abs() < 1.01).all()


def test_the_gradient_of_drawn_keys_is_that_of_their_probabilities():
    """Straight through: the drawn key forward, the softmax backward; rows that see nothing give zeros."""
    valid = padding(LENGTH)
    given = [some(LENGTH, WIDTH), some(LENGTH, WIDTH), some(LENGTH, VALUES)]
    upstream, attention = some(LENGTH, VALUES), Attention(ScaledDot(), Hard(), Causal())
    leaves = [part.clone().requires_grad_() for part in given]
    context = by_template(attention, leaves[0], attention.prepare(*leaves[1:], valid=valid), None)
    found = torch.autograd.grad(context, leaves, upstream)
    exact = [part.double().requires_grad_() for part in given]
    cleaned = exact[2].masked_fill(~valid.unsqueeze(-1), 0.0)
    chosen = torch.cdist(context.detach().double(), cleaned.detach()).argmin(dim=-1)
    visible = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril() & valid.unsqueeze(-2)
    seen = visible.any(dim=-1, keepdim=True)
    scores = (exact[0] @ exact[1].mT / math.sqrt(WIDTH)).masked_fill(~visible, -1e300)
    soft = scores.softmax(dim=-1).masked_fill(~visible, 0.0)
    hard = torch.nn.functional.one_hot(chosen, LENGTH) * seen
    assert (hard <= visible).all()
    wanted = (hard + soft - soft.detach()) @ cleaned
    assert torch.equal(context, wanted.float())
    for one, other in zip(found, torch.autograd.grad(wanted, exact, upstream.double()), strict=True):
        assert (one.double() - other).norm() / other.norm() < NEAR
