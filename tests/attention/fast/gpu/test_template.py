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
    Dot,
    Entmax,
    Everything,
    Fixed,
    General,
    Hard,
    ScaledDot,
    Sigmoid,
    Similarity,
    Softmax,
    Sparsemax,
    Strided,
    Window,
    cosine,
)
from atento.attention.fast.gpu import additive, plan

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
}


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
    return plan.template_context(*parts, query, prepared, query_at)


def agree(attention, *, queries=LENGTH, keys=LENGTH, valid=None, query_at=None, scale=1.0, gradient=True, whole=False):
    """Context and gradients of inputs and parameters, relative to the size of each. whole: scores without rounding."""
    given = [some(queries, WIDTH, scale), some(keys, WIDTH), some(keys, VALUES)]
    given = [part.round() for part in given] if whole else given
    upstream, found = some(queries, VALUES), []
    if valid is not None:
        given[1:] = [part.masked_fill(~valid.unsqueeze(-1), torch.nan) for part in given[1:]]
    for path, dtype in ((by_formula, torch.float64), (by_template, torch.float32)):
        module = copy.deepcopy(attention).to(dtype)
        leaves = [part.to(dtype).requires_grad_(gradient) for part in given]
        context = path(module, leaves[0], module.prepare(*leaves[1:], valid=valid), query_at)
        sources = [*leaves, *module.parameters()]
        found.append([context.detach()])
        if gradient:
            found[-1] += torch.autograd.grad(context, sources, upstream.to(dtype), allow_unused=True)
    for number, (exact, one) in enumerate(zip(*found, strict=True)):
        assert (exact is None) == (one is None), number
        if exact is not None:
            size = exact.norm().clamp(min=1e-6 * math.sqrt(exact.numel()))
            assert torch.isfinite(one).all() and (one.double() - exact).norm() / size < NEAR, number


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
    agree(Attention(Additive(WIDTH, WIDTH, hidden_size=5), Softmax(), Everything()), keys=KEYS, scale=60.0)


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
