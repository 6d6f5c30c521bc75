"""Keys and values projected along time."""

import math

import pytest
import torch

from atento.attention import (
    Attention,
    Causal,
    Everything,
    General,
    Linformer,
    Location,
    MultiHead,
    ScaledDot,
    Softmax,
    Sparsemax,
    Window,
)
from atento.errors import InputError
from cases import law_over

BATCH, QUERIES, KEYS, SIZE, VALUE_SIZE, LONGEST, RANK = 2, 5, 7, 3, 11, 13, 4


def made(*, shared=False, max_length=LONGEST, rank=RANK):
    return Linformer(Attention(ScaledDot(), Softmax(), Everything()), max_length, rank, shared=shared)


def some_items(queries=QUERIES):
    shapes = ((queries, SIZE), (KEYS, SIZE), (KEYS, VALUE_SIZE))
    return [torch.randn(BATCH, *shape, requires_grad=True) for shape in shapes]


@pytest.mark.spec("C05")
@law_over(queries=[1, QUERIES, 19], shared=[False, True], padded=[False, True])
def test_the_paper_s_formula(shared, padded, queries):
    """softmax(Q (E K)ᵀ / √d) (F V), where what is padded mixes nothing in; few queries are read the other way round."""
    linformer, (query, key, value) = made(shared=shared), some_items(queries)
    valid = torch.tensor([[True, True, True, False, True, False, False], [True] * 7]) if padded else None
    real = torch.ones(BATCH, KEYS, 1) if valid is None else valid.unsqueeze(-1)
    first, second = linformer.project_keys[:, :KEYS], linformer.project_values[:, :KEYS]
    mixed_keys, mixed_values = first @ (key * real), second @ (value * real)
    shares = (query @ mixed_keys.mT / SIZE**0.5).softmax(-1)
    expected = shares @ mixed_values

    context = linformer(query, key, value, valid=valid)
    torch.testing.assert_close(context, expected, rtol=0, atol=1e-13)
    weights = linformer.weights(query, key, valid=valid)
    torch.testing.assert_close(weights, shares @ second * real.mT, rtol=0, atol=1e-13)
    torch.testing.assert_close(weights @ (value * real), context, rtol=0, atol=1e-13)
    leaves = [query, key, value, *linformer.parameters()]
    assert len(leaves) == (4 if shared else 5)
    upstream = torch.randn_like(context)
    gradients = torch.autograd.grad(context, leaves, upstream)
    torch.testing.assert_close(gradients, torch.autograd.grad(expected, leaves, upstream), rtol=0, atol=1e-12)


@pytest.mark.spec("C05")
@pytest.mark.parametrize("before, after", [(0, 4), (2, 0), (3, 9)])
def test_neither_the_amount_nor_the_side_nor_the_content_of_padding_matters(before, after):
    linformer, (query, key, value) = made(), [part.detach() for part in some_items()]
    padded = [torch.nn.functional.pad(part, (0, 0, before, after), value=math.nan) for part in (key, value)]
    valid = torch.zeros(BATCH, before + KEYS + after, dtype=torch.bool)
    valid[:, before : before + KEYS] = True
    for queries in (query, query[:, :1]):
        expected = linformer(queries, key, value)
        torch.testing.assert_close(linformer(queries, *padded, valid=valid), expected, rtol=0, atol=1e-13)
    weights = linformer.weights(query, padded[0], valid=valid)
    torch.testing.assert_close(weights[..., before : before + KEYS], linformer.weights(query, key), rtol=0, atol=1e-13)
    assert (weights[..., :before] == 0).all() and (weights[..., before + KEYS :] == 0).all()


@pytest.mark.parametrize("queries", [1, 19])
def test_a_row_without_a_real_key_gives_zeros_and_finite_gradients(queries):
    linformer, leaves = made(), some_items(queries)
    valid = torch.tensor([[False] * KEYS, [True] * KEYS])
    context = linformer(*leaves, valid=valid)
    assert (context[0] == 0).all()
    assert (linformer.weights(*leaves[:2], valid=valid)[0] == 0).all()
    gradients = torch.autograd.grad(context.square().sum(), [*leaves, *linformer.parameters()])
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert all((gradient[0] == 0).all() for gradient in gradients[:3])


def test_it_stands_where_an_attention_stands():
    """In heads, with any score and distribution, prepared once and asked often."""
    inner = Attention(General(SIZE, SIZE), Sparsemax(), Everything())
    heads = MultiHead(4 * SIZE, 4, Linformer(inner, LONGEST, RANK))
    query, source = torch.randn(BATCH, QUERIES, 12), torch.randn(BATCH, KEYS, 12)
    valid = torch.arange(KEYS) < torch.tensor([[7], [3]])
    whole, prepared = heads(query, source, valid=valid), heads.prepare(source, valid=valid)
    for at in range(QUERIES):
        step = heads.read(query[:, at : at + 1], prepared, query_at=torch.tensor([at]))
        torch.testing.assert_close(step, whole[:, at : at + 1], rtol=0, atol=1e-13)
    weights = heads.weights(query, source, valid=valid)
    assert weights.shape == (BATCH, 4, QUERIES, KEYS)
    torch.testing.assert_close(heads.weights(query, source, valid=valid, heads=slice(1, 3)), weights[:, 1:3])
    with pytest.raises(InputError, match="cannot compute this composition"):
        MultiHead(4 * SIZE, 4, made()).to_torch()


def test_more_keys_than_places_are_refused():
    linformer, key = made(max_length=5), torch.randn(1, 6, SIZE)
    with pytest.raises(InputError, match="6 keys, max_length=5") as caught:
        linformer(key, key, key)
    assert "max_length=6" in caught.value.fix
    for valid in ([True] * 5 + [False], [False] + [True] * 5):  # five real ones fit
        assert linformer(key, key, key, valid=torch.tensor([valid])).isfinite().all()


@pytest.mark.spec("A32")
@pytest.mark.parametrize(
    "attention",
    [
        lambda: Attention(ScaledDot(), Softmax(), Causal()),
        lambda: Attention(ScaledDot(), Softmax(), Window(3)),
        lambda: Attention(Location(SIZE, 9), Softmax(), Everything()),
    ],
    ids=["causal", "window", "location"],
)
def test_a_mixture_has_no_position(attention):
    with pytest.raises(InputError, match="may depend on positions") as caught:
        Linformer(attention(), LONGEST, RANK)
    assert "Kernel" in caught.value.fix


@pytest.mark.parametrize("sizes, found", [((0, 4), "max_length=0"), ((4, 0), "rank=0")])
def test_sizes_below_one_are_refused(sizes, found):
    with pytest.raises(InputError, match=found):
        Linformer(Attention(ScaledDot(), Softmax(), Everything()), *sizes)
    assert "rank=4" in repr(made())
