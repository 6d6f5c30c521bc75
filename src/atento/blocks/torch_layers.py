"""Exchange of Transformer layers with torch, weight for weight."""

import torch
from torch import nn

from atento.attention.attention import Attention
from atento.attention.distributions.distributions import Softmax
from atento.attention.extents.extents import Causal, Everything
from atento.attention.heads import MultiHead
from atento.attention.scores.product import ScaledDot
from atento.blocks.transformer import DecoderLayer, EncoderLayer, NormOrder, Residual
from atento.errors import InputError
from atento.layers.feed_forward import FeedForward

TorchLayer = nn.TransformerEncoderLayer | nn.TransformerDecoderLayer


def encoder_layer_from_torch(layer: nn.TransformerEncoderLayer) -> EncoderLayer:
    """Our layer with the weights of torch's."""
    ours = EncoderLayer(
        MultiHead.from_torch(layer.self_attn),
        feed_forward_from_torch(layer),
        order=order_of(layer),
        dropout=layer.dropout.p,
    ).to(layer.linear1.weight)
    with torch.no_grad():
        for residual, norm in zip((ours.around_attention, ours.around_feed_forward), norms(layer), strict=True):
            copy_norm(norm, residual.norm)
    return ours.train(layer.training)


def decoder_layer_from_torch(layer: nn.TransformerDecoderLayer) -> DecoderLayer:
    """Our layer with the weights of torch's; its self-attention is causal by itself, with no mask to pass."""
    own = MultiHead.from_torch(layer.self_attn)
    own.attention = Attention(ScaledDot(), Softmax(), Causal())
    ours = DecoderLayer(
        own,
        MultiHead.from_torch(layer.multihead_attn),
        feed_forward_from_torch(layer),
        order=order_of(layer),
        dropout=layer.dropout.p,
    ).to(layer.linear1.weight)
    with torch.no_grad():
        residuals = (ours.around_self, ours.around_cross, ours.around_feed_forward)
        for residual, norm in zip(residuals, norms(layer), strict=True):
            copy_norm(norm, residual.norm)
    return ours.train(layer.training)


def encoder_layer_to_torch(layer: EncoderLayer) -> nn.TransformerEncoderLayer:
    """Torch's layer (batch first) with the weights of ours; where ours is causal, call it with a causal mask."""
    require_extent(layer.self_attention, Everything, Causal)
    require_norm(layer.around_attention)
    theirs = nn.TransformerEncoderLayer(
        layer.self_attention.size,
        layer.self_attention.heads,
        layer.feed_forward.widen.out_features,
        dropout=layer.around_attention.dropout.p,
        activation=layer.feed_forward.activation,
        batch_first=True,
        norm_first=layer.around_attention.order == "pre",
    ).to(layer.feed_forward.widen.weight)
    theirs.self_attn.load_state_dict(layer.self_attention.to_torch().state_dict())
    feed_forward_to_torch(layer.feed_forward, theirs)
    for residual, norm in zip((layer.around_attention, layer.around_feed_forward), norms(theirs), strict=True):
        copy_norm(residual.norm, norm)
    return theirs.train(layer.training)


def decoder_layer_to_torch(layer: DecoderLayer) -> nn.TransformerDecoderLayer:
    """Torch's layer (batch first) with the weights of ours; call it with a causal mask."""
    require_extent(layer.self_attention, Causal)
    require_extent(layer.cross_attention, Everything)
    require_norm(layer.around_self)
    theirs = nn.TransformerDecoderLayer(
        layer.self_attention.size,
        layer.self_attention.heads,
        layer.feed_forward.widen.out_features,
        dropout=layer.around_self.dropout.p,
        activation=layer.feed_forward.activation,
        batch_first=True,
        norm_first=layer.around_self.order == "pre",
    ).to(layer.feed_forward.widen.weight)
    theirs.self_attn.load_state_dict(layer.self_attention.to_torch().state_dict())
    theirs.multihead_attn.load_state_dict(layer.cross_attention.to_torch().state_dict())
    feed_forward_to_torch(layer.feed_forward, theirs)
    residuals = (layer.around_self, layer.around_cross, layer.around_feed_forward)
    for residual, norm in zip(residuals, norms(theirs), strict=True):
        copy_norm(residual.norm, norm)
    return theirs.train(layer.training)


def order_of(layer: TorchLayer) -> NormOrder:
    """Where torch's layer normalises."""
    return "pre" if layer.norm_first else "post"


def norms(layer: TorchLayer) -> list[nn.LayerNorm]:
    """Torch's norms in the order of its parts."""
    if isinstance(layer, nn.TransformerDecoderLayer):
        return [layer.norm1, layer.norm2, layer.norm3]
    return [layer.norm1, layer.norm2]


def copy_norm(source: nn.Module, target: nn.Module) -> None:
    """Weights, and what keeps the division from zero."""
    target.load_state_dict(source.state_dict())
    target.eps = source.eps


def feed_forward_from_torch(layer: TorchLayer) -> FeedForward:
    """Our feed-forward part with the weights of torch's."""
    ours = FeedForward(
        layer.linear1.in_features, layer.linear1.out_features, dropout=layer.dropout.p, activation=layer.activation
    ).to(layer.linear1.weight)
    ours.widen.load_state_dict(layer.linear1.state_dict())
    ours.narrow.load_state_dict(layer.linear2.state_dict())
    return ours


def feed_forward_to_torch(ours: FeedForward, layer: TorchLayer) -> None:
    """Write our feed-forward weights into torch's layer."""
    layer.linear1.load_state_dict(ours.widen.state_dict())
    layer.linear2.load_state_dict(ours.narrow.state_dict())


def require_extent(heads: MultiHead, *extents: type[nn.Module]) -> None:
    """Torch's layers know few extents."""
    if type(heads.attention.extent) not in extents:
        raise InputError(
            "torch's layer has no such extent.",
            found=repr(heads.attention.extent),
            fix=f"use {' or '.join(f'{extent.__name__}()' for extent in extents)}",
        )


def require_norm(residual: Residual) -> None:
    """Torch's layers always normalise."""
    if residual.order == "none":
        raise InputError("torch has no layer without norms.", found="order='none'", fix="use order='pre' or 'post'")
