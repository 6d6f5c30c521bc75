"""Laws of every pooling and every arrangement of the tables: what is padded never matters, nor do neighbours."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch.nn import functional

from atento.attention import EXTENTS, Sizes
from atento.blocks import (
    ARRANGEMENTS,
    POOLINGS,
    AreaAttention,
    AttentionPooling,
    ContinuousAttention,
    GaussianBasis,
    ParabolaDensity,
)
from cases import in_case
from compositions import law_of_compositions

BATCH, QUERIES, TIME, OTHER, SENTENCES, QUERY_SIZE, KEY_SIZE = 2, 3, 5, 7, 3, 11, 13
SIZES = Sizes(query=QUERY_SIZE, key=KEY_SIZE)

HOLES = torch.tensor([[True, False, True, True, False], [False, True, True, True, True]])
OTHER_HOLES = torch.tensor(
    [[False, True, True, True, False, True, True], [True, True, False, True, False, False, True]]
)
DOCUMENT = torch.stack([HOLES, HOLES.flip(0), HOLES.flip(1) & ~HOLES], dim=1)


class Kind(NamedTuple):
    """How one arrangement is fed. `covers`: which of the valids says what is real in each item tensor, if any does."""

    row: str
    shapes: tuple[tuple[int, ...], ...]
    covers: tuple[int | None, ...]
    valids: tuple[torch.Tensor, ...]
    run: Callable[..., Any]
    weigh: Callable[..., Any] | None = None
    by_item: bool = False  # an output for each item, not one for the sequence


def one_sequence(weights):
    return Kind(
        "A33",
        ((BATCH, TIME, KEY_SIZE),),
        (0,),
        (HOLES,),
        lambda module, items, valids: [module(items[0], valid=valids[0])],
        (lambda module, items, valids: [module.weights(items[0], valid=valids[0])]) if weights else None,
    )


def asked(row, weights=lambda found: found):
    """A query, keys and values."""
    return Kind(
        row,
        ((BATCH, QUERIES, QUERY_SIZE), (BATCH, TIME, KEY_SIZE), (BATCH, TIME, KEY_SIZE)),
        (None, 0, 0),
        (HOLES,),
        lambda module, items, valids: [module(*items, valid=valids[0])],
        lambda module, items, valids: [weights(module.weights(*items[:2], valid=valids[0]))],
    )


def sides(valids):
    return {"first_valid": valids[0], "second_valid": valids[1]}


TWO_SEQUENCES = Kind(
    "A27",
    ((BATCH, TIME, QUERY_SIZE), (BATCH, OTHER, KEY_SIZE)),
    (0, 1),
    (HOLES, OTHER_HOLES),
    lambda module, items, valids: list(module(*items, **sides(valids))),
    lambda module, items, valids: list(module.weights(*items, **sides(valids))),
)
ONE_DOCUMENT = Kind(
    "A28",
    ((BATCH, SENTENCES, TIME, KEY_SIZE),),
    (0,),
    (DOCUMENT,),
    lambda module, items, valids: [module(items[0], valid=valids[0])],
    lambda module, items, valids: list(module.weights(items[0], valid=valids[0])),
)
EMBEDDINGS = Kind(
    "A29",
    ((BATCH, TIME, QUERY_SIZE), (BATCH, TIME, KEY_SIZE)),
    (0, 0),
    (HOLES,),
    lambda module, items, valids: [module(items, valid=valids[0])],
    lambda module, items, valids: [module.weights(items, valid=valids[0])],
    by_item=True,
)

KINDS = {
    "area": asked("A11", lambda found: found.weights),
    "co-attention-alternating": TWO_SEQUENCES,
    "co-attention-parallel": TWO_SEQUENCES,
    "continuous-softmax": asked("A18"),
    "continuous-sparsemax": asked("A18"),
    "hierarchical": ONE_DOCUMENT,
    "multi-dimensional": asked("A30"),
    "multi-representational": EMBEDDINGS,
}
POOLED = {name: one_sequence(weights=name not in ("mean", "max", "last")) for name in POOLINGS}
CASES = [
    pytest.param(table[name].make, kind, id=name, marks=pytest.mark.spec(kind.row))
    for table, kinds in ((ARRANGEMENTS, KINDS), (POOLINGS, POOLED))
    for name, kind in kinds.items()
]
every_arrangement = pytest.mark.parametrize("make, kind", CASES)


def test_every_arrangement_is_fed_here():
    assert set(KINDS) == set(ARRANGEMENTS)


def some_items(kind):
    return [torch.randn(shape) for shape in kind.shapes]


def built(make):
    """Every parameter with a value of its own: biases start at zero."""
    module = make(SIZES).double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return module


def results(module, kind, items, valids):
    """Outputs, weights and gradients."""
    leaves = [part.clone().requires_grad_() for part in items]
    outputs = kind.run(module, leaves, valids)
    weights = kind.weigh(module, leaves, valids) if kind.weigh else []
    loss = sum(part.square().sum() + part.sum() for part in outputs)
    wanted = [*leaves, *module.parameters()]
    gradients = torch.autograd.grad(loss, wanted, allow_unused=True, materialize_grads=True)
    return outputs, weights, gradients


@every_arrangement
def test_what_padding_holds_never_matters(make, kind):
    module, items, found = built(make), some_items(kind), []
    for filling in (0.0, math.nan, math.inf):
        filled = [
            part if cover is None else part.masked_fill(~kind.valids[cover].unsqueeze(-1), filling)
            for part, cover in zip(items, kind.covers, strict=True)
        ]
        outputs, weights, gradients = results(module, kind, filled, kind.valids)
        found.append([*outputs, *weights, *gradients])
    for plain, *odd in zip(*found, strict=True):
        assert all(torch.equal(plain, one) for one in odd)
    for gradient, cover in zip(gradients, kind.covers, strict=False):
        assert cover is None or (gradient[~kind.valids[cover]] == 0).all()


@every_arrangement
def test_neither_the_amount_nor_the_side_of_padding_matters(make, kind):
    module, items = built(make), some_items(kind)
    expected = kind.run(module, items, [None] * len(kind.valids))
    for before, after in ((0, 3), (2, 0), (3, 1)):
        around = (before, after) * (kind.valids[0].dim() - 1)  # also around sentences, where there are sentences
        padded = [
            part if cover is None else functional.pad(part, (0, 0, *around), value=math.nan)
            for part, cover in zip(items, kind.covers, strict=True)
        ]
        valids = [functional.pad(torch.ones_like(valid), around) for valid in kind.valids]
        with in_case(before, after):
            for actual, part in zip(kind.run(module, padded, valids), expected, strict=True):
                inside = actual[:, before : before + TIME] if kind.by_item else actual
                torch.testing.assert_close(inside, part, rtol=0, atol=1e-12)


@every_arrangement
def test_all_real_is_nothing_padded(make, kind):
    module, items = built(make), some_items(kind)
    every = [torch.ones_like(valid) for valid in kind.valids]
    for said, unsaid in zip(
        results(module, kind, items, every), results(module, kind, items, [None] * len(every)), strict=True
    ):
        torch.testing.assert_close(list(said), list(unsaid), rtol=0, atol=1e-12)


@every_arrangement
def test_neighbours_never_matter(make, kind):
    module, items = built(make), some_items(kind)
    together = kind.run(module, items, kind.valids)
    for row in range(BATCH):
        place = slice(row, row + 1)
        alone = kind.run(module, [part[place] for part in items], [valid[place] for valid in kind.valids])
        for one, whole in zip(alone, together, strict=True):
            torch.testing.assert_close(one, whole[place], rtol=0, atol=1e-12)


@every_arrangement
def test_a_row_that_sees_nothing_gives_zeros_and_finite_gradients(make, kind):
    module, items = built(make), some_items(kind)
    valids = [valid.clone() for valid in kind.valids]
    for valid in valids:
        valid[0] = False
    outputs, weights, gradients = results(module, kind, items, valids)
    assert all((part[0] == 0).all() for part in (*outputs, *weights))
    assert all(part.isfinite().all() for part in (*outputs, *weights, *gradients))
    assert all((gradient[0] == 0).all() for gradient, _ in zip(gradients, items, strict=False))


@every_arrangement
def test_gradients_with_padding(make, kind):
    module, items = built(make), [part.requires_grad_() for part in some_items(kind)]

    def outputs(*leaves):
        return tuple(kind.run(module, list(leaves[: len(items)]), kind.valids))

    assert torch.autograd.gradcheck(outputs, (*items, *module.parameters()), fast_mode=True)


@every_arrangement
def test_single_precision_stays_close(make, kind):
    module, items = built(make), some_items(kind)
    expected = kind.run(module, items, kind.valids)
    short = kind.run(module.float(), [part.float() for part in items], kind.valids)
    for part, whole in zip(short, expected, strict=True):
        assert part.dtype == torch.float32
        torch.testing.assert_close(part.double(), whole, rtol=1e-5, atol=1e-5)


CROSSING = [name for name, part in EXTENTS.items() if part.make(SIZES).crosses_sequences]  # for a stranger's query


def every_attention(size):
    """A law of poolings and arrangements that any attention goes into."""
    sizes = Sizes(query=size, key=size, reach=2)
    return law_of_compositions(lambda names: names.build(sizes).double().eval(), extents=CROSSING)


@pytest.mark.spec("A32", "A33")
@every_attention(KEY_SIZE)
def test_any_attention_pools(attention):
    """What comes out is what the weights say, padding or not, and a row of padding is a row of zeros."""
    pooling, values = AttentionPooling(KEY_SIZE, attention), torch.randn(BATCH, TIME, KEY_SIZE)
    for valid in (None, HOLES):
        weights = pooling.weights(values, valid=valid)
        expected = (weights.unsqueeze(-2) @ values).squeeze(-2)
        torch.testing.assert_close(pooling(values, valid=valid), expected, rtol=0, atol=1e-12)
    assert (weights[~HOLES] == 0).all()
    assert torch.equal(
        pooling(values.masked_fill(~HOLES[..., None], math.nan), valid=HOLES), pooling(values, valid=HOLES)
    )
    leaf = values.clone().requires_grad_()
    nothing = pooling(leaf, valid=torch.zeros_like(HOLES))
    (gradient,) = torch.autograd.grad(nothing.sum(), leaf)
    assert (nothing == 0).all() and (gradient == 0).all()


@pytest.mark.spec("A11", "A18", "A32")
@every_attention(QUERY_SIZE)
def test_any_attention_over_areas_and_densities(attention):
    """With the weights of each area, or of each item's share in the fit, as the values' only way in."""
    query, key, value = (torch.randn(BATCH, length, QUERY_SIZE) for length in (QUERIES, TIME, TIME))
    arrangements = []
    if not attention.score.by_position:
        arrangements.append(AreaAttention(attention, largest=3))
    if attention.distribution.non_negative:
        arrangements.append(ContinuousAttention(attention, ParabolaDensity(), GaussianBasis(5, (0.2,))))
    for module in arrangements:
        weights = module.weights(query, key, valid=HOLES)
        weights = weights.on_items() if isinstance(module, AreaAttention) else weights
        assert (weights.mT[~HOLES] == 0).all()
        torch.testing.assert_close(module(query, key, value, valid=HOLES), weights @ value, rtol=0, atol=1e-12)
