"""Packed Transformer layers: the real tokens of a batch alone, each sublayer one node of the graph.

They compute what the layers of `transformer.py` compute one after another, with the same weights, but without the
padding, with queries, keys and values as one product, and on a GPU with one attention kernel for sequences of any
lengths. The layers themselves remain the way for caches, for hooks, and for what is recorded or exported."""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec

import torch
from torch import Tensor, nn
from torch.nn import functional

from atento.attention.distributions.hard import Hard
from atento.attention.heads import MultiHead
from atento.blocks.graphed import Compute, Facts, graphed
from atento.blocks.packed_attention import SHORT, cross_context, has_lengths, self_context
from atento.blocks.residual_stream import ResidualStream, compute_dtype
from atento.blocks.sublayers import Node, NodeFunction
from atento.blocks.transformer import Residual, TransformerDecoderLayer, TransformerEncoderLayer
from atento.layers.feed_forward import FeedForward
from atento.layers.packing import Packing
from atento.layers.products import Linear

# Axes: B batch, T time, N source time, M real items, D size.

RELU = (torch.relu, functional.relu)
WIDEST = 8192  # a row of the residual stream must fit into one program
HAS_TRITON = find_spec("triton") is not None


def pass_encoder_layer(layer: TransformerEncoderLayer, stream: ResidualStream) -> None:
    """Take a stream through a layer."""
    heads = layer.self_attention
    products = stream.project(layer.around_attention, heads.to_query, heads.to_key, heads.to_value)
    stream.leave(self_context(heads, products, stream.packing), layer.around_attention, heads.combine)
    stream.feed(layer.around_feed_forward, layer.feed_forward)


def pass_decoder_layer(layer: TransformerDecoderLayer, stream: ResidualStream, keys: Tensor, source: Packing) -> None:
    """Take a stream through a layer, over keys and values (M of the source, 2 D)."""
    heads, cross = layer.self_attention, layer.cross_attention
    products = stream.project(layer.around_self, heads.to_query, heads.to_key, heads.to_value)
    stream.leave(self_context(heads, products, stream.packing), layer.around_self, heads.combine)
    query = stream.project(layer.around_cross, cross.to_query)
    stream.leave(cross_context(cross, query, keys, stream.packing, source), layer.around_cross, cross.combine)
    stream.feed(layer.around_feed_forward, layer.feed_forward)


def source_keys(crosses: Sequence[MultiHead], states: Tensor, seed: Tensor | None) -> Sequence[Tensor]:
    """Keys and values (M, 2 D) of packed states (M, D) for each of these attentions, as one product."""
    layers = [projection for cross in crosses for projection in (cross.to_key, cross.to_value)]
    node = Node(post=False, feeds=False, eps=0.0, drop=0.0, inner_drop=0.0, seed=seed, draw=0)
    weights = (weight for layer in layers for weight in (layer.weight, layer.bias))
    _, products = NodeFunction.apply(  # type: ignore[no-untyped-call]
        node, compute_dtype(states), states, None, None, None, None, None, None, *weights
    )
    found: Sequence[Tensor] = products.split([2 * cross.size for cross in crosses], dim=1)
    return found


def pass_encoder_layers(
    layers: Sequence[TransformerEncoderLayer], norm: nn.Module, values: Tensor, packing: Packing
) -> Tensor:
    """What the last norm gives (M, D) of values (B, T, D), of which the packing says what is real."""
    weights = [weight for part in (*layers, norm) for weight in part.parameters()]

    def compute(packings: Sequence[Packing], packed: Sequence[Tensor], seed: Tensor | None) -> Tensor:
        stream = ResidualStream(packed[0], packings[0], seed)
        for layer in layers:
            pass_encoder_layer(layer, stream)
        return stream.end(norm)

    heads = [layer.self_attention for layer in layers]
    return computed(norm, compute, [values], [packing], weights, facts=facts_of(layers, heads))


def pass_decoder_layers(
    layers: Sequence[TransformerDecoderLayer],
    norm: nn.Module,
    values: Tensor,
    packing: Packing,
    states: Tensor,
    source: Packing,
) -> Tensor:
    """What the last norm gives (M, D) of values (B, T, D), each layer over the states (B, N, D) of a source."""
    weights = [weight for part in (*layers, norm) for weight in part.parameters()]

    def compute(packings: Sequence[Packing], packed: Sequence[Tensor], seed: Tensor | None) -> Tensor:
        keys = source_keys([layer.cross_attention for layer in layers], packed[1], seed)
        stream = ResidualStream(packed[0], packings[0], seed)
        for layer, own in zip(layers, keys, strict=True):
            pass_decoder_layer(layer, stream, own, packings[1])
        return stream.end(norm)

    heads = [part for layer in layers for part in (layer.self_attention, layer.cross_attention)]
    return computed(norm, compute, [values, states], [packing, source], weights, facts=facts_of(layers, heads))


def facts_of(
    layers: Sequence[TransformerEncoderLayer | TransformerDecoderLayer], heads: Sequence[MultiHead]
) -> Facts | None:
    """All that layers depend on beside their weights; None: they cannot be captured."""
    if not has_lengths(heads):
        return None
    drops = tuple((part.p, part.training) for layer in layers for part in dropouts_of(layer))
    return drops, tuple(one.attention.direct for one in heads)


def dropouts_of(layer: TransformerEncoderLayer | TransformerDecoderLayer) -> Iterator[nn.Dropout]:
    """The dropouts of a layer."""
    return (part.dropout for part in layer.children() if isinstance(part, Residual | FeedForward))


def computed(
    owner: nn.Module,
    compute: Compute,
    values: Sequence[Tensor],
    packings: Sequence[Packing],
    weights: Sequence[Tensor],
    *,
    facts: Facts | None,
) -> Tensor:
    """The packed output of layers; in training on a GPU by a CUDA graph, once a shape is met for the third time."""
    first = values[0]
    seed = torch.randint(2**30, (1,), device=first.device) if first.is_cuda else None
    if facts is not None and seed is not None and compute_dtype(first) in SHORT and torch.is_grad_enabled():
        found = graphed(owner, compute, values, packings, weights, seed, facts=facts)
        if found is not None:
            return found
    packed = [packing.pack(one) for one, packing in zip(values, packings, strict=True)]
    return compute(packings, packed, seed)


def is_packable(layers: Sequence[nn.Module], *values: Tensor) -> bool:
    """Whether these layers, and inputs, can take the packed way: nothing is recorded, replaced or sharded."""
    for one in values:
        fits = type(one) is Tensor and one.dim() == 3 and one.is_floating_point() and one.numel() > 0
        if not fits or (one.is_cuda and not (HAS_TRITON and one.size(-1) <= WIDEST)):
            return False
    transformed = (
        torch.compiler.is_compiling()
        or torch._C._get_tracing_state() is not None
        or torch._C._are_functorch_transforms_active()
    )
    if transformed or (torch.is_autocast_enabled("cpu") and values[0].is_cpu):
        return False
    return all(is_plain(part) for layer in layers for part in layer.modules())


def is_plain(part: nn.Module) -> bool:
    """Whether a part of a layer is as it was made, without hooks."""
    if part._forward_hooks or part._forward_pre_hooks or part._backward_hooks or part._backward_pre_hooks:
        return False
    own = vars(part)
    if "forward" in own or "read" in own or "extend" in own:
        return False
    if isinstance(part, FeedForward):
        return type(part) is FeedForward and part.activation in RELU and are_plain(part.widen, part.narrow)
    if isinstance(part, Hard):
        return False  # its draws are recorded, and no gradient reaches its queries and keys
    if isinstance(part, MultiHead):
        projections = part.to_query, part.to_key, part.to_value, part.combine
        return type(part) is MultiHead and are_plain(*projections)
    if isinstance(part, nn.LayerNorm):
        return type(part) is nn.LayerNorm and part.weight is not None and part.bias is not None
    return True


def are_plain(*layers: nn.Linear) -> bool:
    """Whether these are linear layers of torch's own, with a bias, and their weights are whole."""
    return all(
        type(one) in (nn.Linear, Linear) and type(one.weight) is nn.Parameter and one.bias is not None for one in layers
    )
