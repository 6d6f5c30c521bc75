"""Shapes that do not fit: the argument, what was given, what is allowed; never torch's own words."""

import pytest
import torch

from atento.attention import SCORES, Attention, Dot, Everything, MultiHead, Sizes, Softmax, compose
from atento.errors import InputError
from atento.models.builders.recurrent import CELLS
from atento.recurrent import Stack, unroll

BATCH, QUERIES, KEYS, SIZE, VALUE = 2, 3, 5, 7, 11
KEYLESS = {"location"}  # looks at no key
QUERYLESS = {"feature-based"}  # looks at no query


def attention_of(score):
    return compose([score], default_score=score).build(Sizes(query=SIZE, key=SIZE))


def items(number, width=SIZE):
    return torch.randn(BATCH, number, width)


@pytest.mark.parametrize("score", [name for name in SCORES if name not in QUERYLESS])
def test_a_query_of_another_width(score):
    with pytest.raises(InputError, match=r"width|query") as told:
        attention_of(score)(items(QUERIES, SIZE + 1), items(KEYS), items(KEYS, VALUE))
    assert str(SIZE) in str(told.value) and str(SIZE + 1) in str(told.value)


@pytest.mark.parametrize("score", [name for name in SCORES if name not in KEYLESS])
def test_a_key_of_another_width(score):
    with pytest.raises(InputError, match=r"width|key") as told:
        attention_of(score)(items(QUERIES), items(KEYS, SIZE + 1), items(KEYS, VALUE))
    assert str(SIZE) in str(told.value) and str(SIZE + 1) in str(told.value)


@pytest.mark.parametrize("score", SCORES)
def test_fewer_values_than_keys(score):
    with pytest.raises(InputError, match="a value for each key"):
        attention_of(score)(items(QUERIES), items(KEYS), items(KEYS - 1, VALUE))


@pytest.mark.parametrize("valid", [torch.ones(BATCH, KEYS - 1, dtype=torch.bool), torch.ones(BATCH, KEYS)])
def test_a_valid_that_is_none(valid):
    with pytest.raises(InputError, match="whether it is real"):
        Attention(Dot(), Softmax(), Everything())(items(QUERIES), items(KEYS), items(KEYS), valid=valid)


def test_heads():
    heads = MultiHead(6, 3, Attention(Dot(), Softmax(), Everything()), source_size=SIZE)
    with pytest.raises(InputError, match="query is of another width"):
        heads(items(QUERIES, 5), items(KEYS))
    with pytest.raises(InputError, match=r"source must have the shape \(\.\.\., T, 7\)"):
        heads(items(QUERIES, 6), items(KEYS, 5))
    with pytest.raises(InputError, match="heads must divide size"):
        MultiHead(7, 3, Attention(Dot(), Softmax(), Everything()))


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
def test_recurrences(cell):
    with pytest.raises(InputError, match="inputs must have the shape"):
        Stack(cell, SIZE, 3)(items(QUERIES, SIZE - 1))
    with pytest.raises(InputError, match="whether it is real"):
        unroll(cell(SIZE, 3), items(QUERIES), valid=torch.ones(BATCH, QUERIES + 1, dtype=torch.bool))
