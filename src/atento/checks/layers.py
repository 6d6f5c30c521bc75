"""Contracts of Transformer encoder and decoder layers: those of sequences, and the cache."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from atento.blocks.transformer import TransformerDecoderLayer, TransformerEncoderLayer
from atento.checks.attention import in_heads, why_not_causal
from atento.checks.attention_parts import why_side_matters
from atento.checks.finding import CLOSE, Finding, difference, judged, not_applicable, tried
from atento.checks.sequences import FUTURE, NOT_FUTURE, check_sequence
from atento.checks.subject import TIME, Outputs, Subject, exact_copy, numbers_of, some_numbers

# Axes: B rows, T time, D size.


def check_encoder_layer(module: TransformerEncoderLayer) -> list[Finding]:
    """The contracts of an encoder layer; a causal one also continues from a cache."""
    layer, size = exact_copy(module), module.self_attention.size
    values = some_numbers(1, TIME, size, seed=4)
    ahead = why_not_causal(layer.self_attention.attention, *in_heads(layer.self_attention, values, values)[:2])

    def read(one: nn.Module, items: Tensor, valid: Tensor) -> Outputs:
        return Outputs(items=one(items, valid=valid))

    def cache() -> Finding:
        return same_from_cache(lambda value, past, at: layer.extend(value, past, at=at), values, layer(values))

    subject = Subject(module, read, numbers_of(size), side_matters=why_side_matters(module), not_causal=ahead)
    return [*check_sequence(subject), not_applicable("cache", ahead) if ahead else tried("cache", cache)]


def check_decoder_layer(module: TransformerDecoderLayer) -> list[Finding]:
    """The contracts of a decoder layer: its own values are causal, the source may be padded."""
    size, width = module.self_attention.size, module.cross_attention.to_key.in_features
    own, source = some_numbers(1, TIME, size, seed=4), some_numbers(1, TIME, width, seed=4)
    sided = why_side_matters(module, ahead=module)

    def over_source(one: TransformerDecoderLayer, values: Tensor, valid: Tensor) -> Outputs:
        prepared = one.cross_attention.prepare(values, valid=valid)
        return Outputs(whole=one(own.expand(len(values), -1, -1), prepared).values)

    def over_own(one: TransformerDecoderLayer, values: Tensor, valid: Tensor) -> Outputs:
        asked = one.cross_attention.prepare(source.expand(len(values), -1, -1))
        return Outputs(items=one(values, asked).values)

    def cache() -> Finding:
        layer = exact_copy(module)
        asked = layer.cross_attention.prepare(source)
        return same_from_cache(lambda value, past, at: layer(value, asked, past, at=at), own, layer(own, asked).values)

    unmasked = "its own values have no padding"
    return [
        *check_sequence(Subject(module, over_source, numbers_of(width), side_matters=sided), only=NOT_FUTURE),
        *check_sequence(Subject(module, over_own, numbers_of(size), unmasked=unmasked), only=FUTURE),
        tried("cache", cache),
    ]


def same_from_cache(step: Callable[[Tensor, Any, Tensor], Any], values: Tensor, whole: Tensor) -> Finding:
    """One position at a time gives the same as one pass; `step` takes a value, the cache so far and the position."""
    past, outputs = None, []
    with torch.no_grad():
        for at in range(TIME):
            passed = step(values[:, at : at + 1], past, torch.tensor([at]))
            past = passed.cache
            outputs.append(passed.values)
    gap = difference(torch.cat(outputs, dim=1), whole)
    return judged("cache", gap, CLOSE, "steps from a cache give the same as one pass")
