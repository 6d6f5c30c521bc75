"""Contracts of attention: those of sequences, then weights, cache, and each head by itself."""

from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.extents.extents import PreparedKeys, View, view_of
from atento.attention.heads import MultiHead
from atento.checks.attention_parts import judge_weights, why_side_matters
from atento.checks.finding import CLOSE, Finding, difference, judged
from atento.checks.sequences import check_sequence
from atento.checks.subject import (
    CUTS,
    ROWS,
    TIME,
    Outputs,
    Subject,
    check_laws,
    exact_copy,
    numbers_of,
    ragged,
    seeded,
    some_numbers,
    widths_that_fit,
)
from atento.layers.masking import clean

# Axes: B rows, H heads, Q queries, K keys, d size of a head.

VALUE_SIZE = 5
SEES_AHEAD = "in its extent a query sees later keys"


def check_attention(module: Attention) -> list[Finding]:
    """The contracts of self-attention over items that hold query, key and value side by side."""
    sizes = sizes_of(module)
    query, key = some(*sizes)
    ahead, sided = why_not_causal(module, query, key), why_side_matters(module)

    def read(one: nn.Module, items: Tensor, valid: Tensor) -> Outputs:
        asked, key, value = torch.split(items, [*sizes, VALUE_SIZE], dim=-1)
        return Outputs(items=one(clean(asked, valid), key, value, valid=valid))  # `valid` masks keys alone

    draw = numbers_of(sum(sizes) + VALUE_SIZE)
    subject = Subject(module, read, draw, side_matters=sided, not_causal=ahead, zeros=True)
    own = {
        "weights": partial(weights, query=query, key=key),
        "weights used": partial(weights_used, query=query, key=key),
        "cache": partial(attention_cache, query=query, key=key, causal=not ahead),
    }
    return check_sequence(subject) + check_laws(module, own)


def check_heads(module: MultiHead) -> list[Finding]:
    """The contracts of self-attention; items are as wide as the wider of query and source."""
    width = module.to_key.in_features
    layer = exact_copy(module)
    query, source = some(module.size, width)
    ahead, sided = why_not_causal(layer.attention, *in_heads(layer, query, source)[:2]), why_side_matters(module)

    def read(one: nn.Module, items: Tensor, valid: Tensor) -> Outputs:
        asked = clean(items[..., : module.size], valid)  # `valid` masks the source alone
        return Outputs(items=one(asked, items[..., :width], valid=valid))

    subject = Subject(module, read, numbers_of(max(module.size, width)), side_matters=sided, not_causal=ahead)
    own = {
        "weights": partial(weights_of_heads, query=query, source=source),
        "heads": partial(heads_alone, query=query, source=source),
    }
    return check_sequence(subject) + check_laws(module, own)


def sizes_of(module: Attention) -> tuple[int, int]:
    """The widths of queries and keys that it compares."""
    attention = exact_copy(module)

    def attempt(*sizes: int) -> None:
        attention(*(some_numbers(1, 3, size) for size in (*sizes, VALUE_SIZE)))

    query, key = widths_that_fit(attention, attempt, sizes=2)
    return query, key


def why_not_causal(module: nn.Module, query: Tensor, key: Tensor) -> str:
    """Why it is not causal; empty where its extent hides every later key."""
    seen = shown(exact_copy(module), query, key, None).visible
    later = torch.ones(TIME, TIME, dtype=torch.bool).triu(1)
    return SEES_AHEAD if (seen & later).any() else ""


def shown(attention: Any, query: Tensor, key: Tensor, valid: Tensor | None) -> View:
    """The view of its extent."""
    with torch.no_grad():
        return view_of(attention.extent, query, PreparedKeys(key, key, valid), query_at=None)


def weights(attention: Any, *, query: Tensor, key: Tensor) -> Finding:
    """Weights are 0 where hidden, not negative and sum to 1 where the distribution declares so."""
    with torch.no_grad():
        found = attention.weights(query, key, valid=ragged())
    view = shown(attention, query, key, ragged())
    return judge_weights(found, view.visible.expand_as(found), attention.distribution, whole=view.factor is None)


def weights_of_heads(layer: Any, *, query: Tensor, source: Tensor) -> Finding:
    """The same of every head."""
    with torch.no_grad():
        found = layer.weights(query, source, valid=ragged())  # (B, H, Q, K)
        view = shown(layer.attention, *in_heads(layer, query, source)[:2], ragged().unsqueeze(1))
    return judge_weights(found, view.visible.expand_as(found), layer.attention.distribution, whole=view.factor is None)


def weights_used(attention: Any, *, query: Tensor, key: Tensor) -> Finding:
    """With one-hot values the context equals the weights, whatever implementation computed it."""
    markers = torch.eye(TIME, dtype=torch.float64).expand(ROWS, TIME, TIME)
    with torch.no_grad():
        used, found = attention(query, key, markers, valid=ragged()), attention.weights(query, key, valid=ragged())
    words = "the weights shown are those that the context was computed with"
    return judged("weights used", difference(used, found), CLOSE, words)


def attention_cache(attention: Any, *, query: Tensor, key: Tensor, causal: bool) -> Finding:
    """Queries in steps of 1, 3 and the rest give the same as all at once; a causal cache grows on the way."""
    value, cache, outputs = some_numbers(ROWS, TIME, VALUE_SIZE, seed=2), None, []
    with torch.no_grad():
        whole = attention(query, key, value)
        for first, last in pairwise(CUTS):
            if causal:
                new = attention.prepare(key[:, first:last], value[:, first:last])
                cache = new if cache is None else cache.append(new)
            elif cache is None:
                cache = attention.prepare(key, value)
            outputs.append(attention.read(query[:, first:last], cache, query_at=torch.arange(first, last)))
    words = "steps of 1 and 3 over a cache give the same as one pass"
    return judged("cache", difference(torch.cat(outputs, dim=1), whole), CLOSE, words)


def heads_alone(layer: Any, *, query: Tensor, source: Tensor) -> Finding:
    """Each head alone, mapped back by its own columns of the output projection; their sum is the whole output."""
    size, count = layer.size // layer.heads, layer.heads
    with torch.no_grad():
        slices = in_heads(layer, query, source)
        total = layer.combine.bias.expand(ROWS, TIME, -1).clone()
        for head in range(count):
            alone = [part[:, head : head + 1].expand(-1, count, -1, -1) for part in slices]
            context = layer.attention(*alone)[:, head]  # (B, Q, d) among copies: a head may have weights of its own
            total += context @ layer.combine.weight[:, head * size : (head + 1) * size].mT
        whole = layer(query, source)
    words = f"the output of {count} heads is the sum of each head alone"
    return judged("heads", difference(whole, total), CLOSE, words)


def in_heads(layer: Any, query: Tensor, source: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of every head (B, H, T, d)."""
    with torch.no_grad():
        maps = ((layer.to_query, query), (layer.to_key, source), (layer.to_value, source))
        asked, key, value = (layer.split(map_(values)) for map_, values in maps)
        return layer.turn(asked, None), layer.turn(key, None), value


def some(query: int, key: int) -> tuple[Tensor, Tensor]:
    """Queries and keys, the same each time."""
    with seeded(4):
        return numbers_of(query)(ROWS, TIME), numbers_of(key)(ROWS, TIME)
