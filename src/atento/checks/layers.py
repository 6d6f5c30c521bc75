"""Contracts of Transformer encoder and decoder layers: those of sequences, and the cache."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from atento.blocks.transformer import TransformerDecoderLayer, TransformerEncoderLayer
from atento.checks.attention import in_heads, why_not_causal
from atento.checks.attention_parts import why_side_matters
from atento.checks.decoders import NOT_AHEAD
from atento.checks.finding import CLOSE, Finding, difference, judged, not_applicable, tried
from atento.checks.sequences import FUTURE, check_sequence
from atento.checks.subject import TIME, Outputs, Subject, exact_copy, numbers_of, seeded

# Axes: B rows, T time, D size.


def check_encoder_layer(module: TransformerEncoderLayer) -> list[Finding]:
    """The contracts of an encoder layer; a causal one also continues from a cache."""
    layer, size = exact_copy(module).self_attention, module.self_attention.size
    values = some_values(size)
    ahead = why_not_causal(layer.attention, *in_heads(layer, values, values)[:2])

    def view(one: nn.Module) -> Subject:
        def read(items: Tensor, valid: Tensor) -> Outputs:
            return Outputs(items=one(items, valid=valid))

        return Subject(one, read, numbers_of(size), again=view, side_matters=why_side_matters(module), not_causal=ahead)

    cache = (
        not_applicable("cache", ahead)
        if ahead
        else tried("cache", partial(encoder_layer_cache, exact_copy(module), values))
    )
    return [*check_sequence(module, view), cache]


def encoder_layer_cache(layer: Any, values: Tensor) -> Finding:
    """One position at a time after the cached ones gives the same as one pass."""
    past, outputs = None, []
    with torch.no_grad():
        for at in range(TIME):
            extended = layer.extend(values[:, at : at + 1], past, at=torch.tensor([at]))
            past = extended.cache
            outputs.append(extended.values)
        gap = difference(torch.cat(outputs, dim=1), layer(values))
    return judged("cache", gap, CLOSE, "steps from a cache give the same as one pass")


def check_decoder_layer(module: TransformerDecoderLayer) -> list[Finding]:
    """The contracts of a decoder layer: its own values are causal, the source may be padded."""
    size, width = module.self_attention.size, module.cross_attention.to_key.in_features
    own, source = some_values(size), some_values(width)

    def over_source(one: nn.Module) -> Subject:
        def read(values: Tensor, valid: Tensor) -> Outputs:
            prepared = one.cross_attention.prepare(values, valid=valid)  # type: ignore[union-attr, operator]
            return Outputs(whole=one(own.expand(len(values), -1, -1), prepared).values)

        return Subject(
            one, read, numbers_of(width), again=over_source, side_matters=why_side_matters(module, ahead=module)
        )

    def over_own(one: nn.Module) -> Subject:
        def read(values: Tensor, valid: Tensor) -> Outputs:
            asked = one.cross_attention.prepare(source.expand(len(values), -1, -1))  # type: ignore[union-attr, operator]
            return Outputs(items=one(values, asked).values)

        return Subject(one, read, numbers_of(size), again=over_own, unmasked="its own values have no padding")

    cache = tried("cache", partial(decoder_layer_cache, exact_copy(module), own, source))
    return [*check_sequence(module, over_source, only=NOT_AHEAD), *check_sequence(module, over_own, only=FUTURE), cache]


def decoder_layer_cache(layer: Any, own: Tensor, source: Tensor) -> Finding:
    """One position at a time after the cached ones gives the same as one pass."""
    past, outputs = None, []
    with torch.no_grad():
        prepared = layer.cross_attention.prepare(source)
        whole = layer(own, prepared).values
        for at in range(TIME):
            passed = layer(own[:, at : at + 1], prepared, past, at=torch.tensor([at]))
            past = passed.cache
            outputs.append(passed.values)
    return judged(
        "cache",
        difference(torch.cat(outputs, dim=1), whole),
        CLOSE,
        "steps from a cache give the same as one pass",
    )


def some_values(size: int) -> Tensor:
    """(1, T, size), the same each time."""
    with seeded(4):
        return torch.randn(1, TIME, size, dtype=torch.float64)
