"""Multi-head attention of packed rows: by one kernel that is told the lengths, or padded again, by any composition."""

from collections.abc import Sequence

import torch
from torch import Tensor

from atento.attention.attention import Attention
from atento.attention.extents.extents import Causal, PreparedKeys
from atento.attention.fast.packed import packed_library, packed_softmax
from atento.attention.heads import MultiHead
from atento.attention.scores.product import Dot
from atento.layers.packing import Packing

# Axes: B batch, T time, N source time, M real items, D size, H heads, d = D / H.

SHORT = (torch.bfloat16, torch.float16)
WIDEST_HEAD = 256


def self_context(heads: MultiHead, products: Tensor, packing: Packing) -> Tensor:
    """The context (M, D) of self-attention, of queries, keys and values (M, 3 D)."""
    if by_lengths(heads, products, packing):
        query, key, value = products.view(packing.rows, 3, heads.heads, -1).unbind(1)
        return varlen_context(heads, query, key, value, packing, packing)
    library = packed_library(heads.attention.direct, heads.size // heads.heads, products, packing)
    if library is not None and heads.attention.direct is not None:
        query, key, value = products.view(packing.rows, 3, heads.heads, -1).unbind(1)
        if heads.rotary is not None:
            query, key = (heads.turn(part.transpose(0, 1), packing.positions).transpose(0, 1) for part in (query, key))
        return packed_softmax(library, heads.attention.direct, query, key, value, packing, packing).flatten(1)
    parts = packing.unpack(products).view(packing.batch, packing.time, 3, heads.heads, -1)
    query, key, value = (part.transpose(1, 2) for part in parts.unbind(2))  # (B, H, T, d)
    return padded_context(heads, heads.turn(query, None), heads.turn(key, None), value, packing, packing)


def cross_context(heads: MultiHead, query: Tensor, keys: Tensor, packing: Packing, source: Packing) -> Tensor:
    """The context (M, D) of queries (M, D) over keys and values (M of the source, 2 D)."""
    if by_lengths(heads, query, packing, source):
        key, value = keys.view(source.rows, 2, heads.heads, -1).unbind(1)
        return varlen_context(heads, query.view(packing.rows, heads.heads, -1), key, value, packing, source)
    library = packed_library(heads.attention.direct, heads.size // heads.heads, query, packing, source)
    if library is not None and heads.attention.direct is not None:
        key, value = keys.view(source.rows, 2, heads.heads, -1).unbind(1)
        queries = query.view(packing.rows, heads.heads, -1)
        return packed_softmax(library, heads.attention.direct, queries, key, value, packing, source).flatten(1)
    key, value = source.unpack(keys).view(source.batch, source.time, 2, heads.heads, -1).transpose(1, 3).unbind(2)
    queries = packing.unpack(query).view(packing.batch, packing.time, heads.heads, -1).transpose(1, 2)
    return padded_context(heads, queries, key, value, packing, source)


def by_lengths(heads: MultiHead, values: Tensor, *packings: Packing) -> bool:
    """Whether torch's attention of sequences of different lengths computes this."""
    ragged = any(packing.places is not None for packing in packings)
    return values.is_cuda and ragged and values.dtype in SHORT and has_lengths([heads])


def varlen_context(
    heads: MultiHead, query: Tensor, key: Tensor, value: Tensor, packing: Packing, source: Packing
) -> Tensor:
    """The context (M, D) of packed queries (M, H, d), each over the keys of its own sequence."""
    from torch.nn.attention.varlen import varlen_attn  # imports Triton

    causal = type(heads.attention.extent) is Causal
    found = varlen_attn(
        query,
        key,
        value,
        packing.bounds,
        source.bounds,
        packing.time,
        source.time,
        scale=1.0 if type(heads.attention.score) is Dot else None,
        window_size=(-1, 0) if causal else (-1, -1),
    )
    return found.flatten(1)  # type: ignore[union-attr]


def padded_context(
    heads: MultiHead, query: Tensor, key: Tensor, value: Tensor, packing: Packing, source: Packing
) -> Tensor:
    """The context (M, D) of padded queries (B, H, T, d) over keys (B, H, N, d), by any composition."""
    attention = heads.attention
    valid = None if source.valid is None else source.valid.unsqueeze(1)  # (B, 1, N)
    if type(attention) is not Attention:
        prepared = attention.prepare(key, value, valid=valid)
    elif type(attention.extent) is Causal and source.is_right:  # padding comes after all that is real
        prepared = PreparedKeys(attention.score.prepare(key), value, None)
    else:
        prepared = PreparedKeys(attention.score.prepare(key), value, valid)  # padding is 0 already
    return packing.pack(attention.read(query, prepared).transpose(1, 2).flatten(2))


def has_lengths(heads: Sequence[MultiHead]) -> bool:
    """Whether all these attentions are ones that torch's kernel for sequences of different lengths computes."""
    return all(
        one.attention.direct is not None and one.rotary is None and one.size // one.heads <= WIDEST_HEAD
        for one in heads
    )
