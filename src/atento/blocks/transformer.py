"""Transformer layers (Vaswani et al., 2017, sec. 3.1) and stacks of them, with pre-norm, post-norm or no norm.

`TransformerEncoderLayer` is self-attention and feed-forward; with a causal extent it is the layer of a decoder-only
model. `TransformerDecoderLayer` attends to a source in between. Both exchange weights with torch's layers of the same
names by `from_torch` and `to_torch`, and go on from a cache of keys and values. `TransformerStack` is the body of
encoder-only and decoder-only models.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Self

from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.distributions.distributions import Softmax
from atento.attention.extents.extents import Causal, Everything, PreparedKeys
from atento.attention.heads import MultiHead
from atento.attention.scores.product import ScaledDot
from atento.errors import InputError, unknown_name
from atento.layers.dropout import Dropout
from atento.layers.feed_forward import FeedForward
from atento.layers.masking import clean, require_items
from atento.layers.torch_arguments import refuse_arguments, require_prepared

# Axes: B batch, T time, N source time, D size.

NormOrder = Literal["pre", "post", "none"]
NORM_ORDERS: tuple[NormOrder, ...] = ("pre", "post", "none")

TorchLayer = nn.TransformerEncoderLayer | nn.TransformerDecoderLayer


class Residual(nn.Module):
    """A residual connection around a sublayer f: post-norm, norm(x + f(x)), as first published; pre-norm,
    x + f(norm(x)) (Xiong et al., 2020); or no norm, x + f(x), which needs small initial weights (Huang et al., 2020).
    """

    def __init__(self, size: int, order: NormOrder, *, dropout: float = 0.0) -> None:
        super().__init__()
        if order not in NORM_ORDERS:
            raise unknown_name("norm order", order, NORM_ORDERS, where="Residual")
        self.order = order
        self.norm = nn.Identity() if order == "none" else nn.LayerNorm(size)
        self.dropout = Dropout(dropout)

    def enter(self, values: Tensor) -> Tensor:
        """The input of the sublayer."""
        return self.norm(values) if self.order == "pre" else values

    def leave(self, values: Tensor, change: Tensor) -> Tensor:
        """The values before the sublayer plus its output."""
        summed: Tensor = values + self.dropout(change)
        return self.norm(summed) if self.order == "post" else summed


class EncoderLayerOutput(NamedTuple):
    """The output of a layer of self-attention, with its cache."""

    values: Tensor  # (B, T, D)
    cache: PreparedKeys  # keys and values of all positions so far


class TransformerEncoderLayer(nn.Module):
    """Self-attention, then feed-forward: (B, T, D) -> (B, T, D).

    With a causal extent it is the layer of a decoder-only model, and `extend` continues from a cache.
    """

    def __init__(
        self, self_attention: MultiHead, feed_forward: FeedForward, *, order: NormOrder = "pre", dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.self_attention, self.feed_forward = self_attention, feed_forward
        self.around_attention = Residual(self_attention.size, order, dropout=dropout)
        self.around_feed_forward = Residual(self_attention.size, order, dropout=dropout)

    def forward(self, values: Tensor, *, valid: Tensor | None = None, **unknown: object) -> Tensor:
        """All positions at once, each over the valid positions (B, T) that the attention's extent shows."""
        refuse_arguments("TransformerEncoderLayer", unknown)
        return self.extend(values, valid=valid).values

    def extend(
        self, values: Tensor, past: PreparedKeys | None = None, *, at: Tensor | None = None, valid: Tensor | None = None
    ) -> EncoderLayerOutput:
        """Positions `at` (T,) after the cached `past`; None, None: the whole sequence from its start."""
        require_items("values", values, valid, width=self.self_attention.size)
        values = clean(values, valid)
        entered = self.around_attention.enter(values)
        own = self.self_attention.prepare(entered, valid=valid, at=at)
        own = own if past is None else past.append(own)
        values = self.around_attention.leave(values, self.self_attention.read(entered, own, query_at=at))
        entered = self.around_feed_forward.enter(values)
        return EncoderLayerOutput(clean(self.around_feed_forward.leave(values, self.feed_forward(entered)), valid), own)

    @classmethod
    def from_torch(cls, layer: nn.TransformerEncoderLayer) -> Self:
        """A layer with the weights of torch's."""
        ours = cls(
            MultiHead.from_torch(layer.self_attn),
            empty_feed_forward(layer),
            order="pre" if layer.norm_first else "post",
            dropout=layer.dropout.p,
        ).to(layer.linear1.weight)
        copy_weights(torch_parts(layer), ours.parts())
        return ours.train(layer.training)

    def to_torch(self) -> nn.TransformerEncoderLayer:
        """Torch's layer (batch first) with the weights of this one; if this is causal, call it with a causal mask."""
        require_extent(self.self_attention, Everything, Causal)
        options = torch_options(self.feed_forward, self.self_attention, self.around_attention)
        theirs = nn.TransformerEncoderLayer(**options).to(self.feed_forward.widen.weight)
        theirs.self_attn.load_state_dict(self.self_attention.to_torch().state_dict())
        copy_weights(self.parts(), torch_parts(theirs))
        return theirs.train(self.training)

    def parts(self) -> list[nn.Module]:
        """The parts beside the attention that torch's layer has too, in the order of `torch_parts`."""
        residuals = (self.around_attention, self.around_feed_forward)
        return [self.feed_forward.widen, self.feed_forward.narrow, *(residual.norm for residual in residuals)]


class DecoderLayerOutput(NamedTuple):
    """The output of a decoder layer, with its cache."""

    values: Tensor  # (B, T, D)
    cache: PreparedKeys  # keys and values of all positions so far
    query: Tensor  # (B, T, D) of the cross-attention; its weights are recomputed from it when wanted


class TransformerDecoderLayer(nn.Module):
    """Self-attention over the target, cross-attention over the source, feed-forward."""

    def __init__(
        self,
        self_attention: MultiHead,
        cross_attention: MultiHead,
        feed_forward: FeedForward,
        *,
        order: NormOrder = "pre",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.self_attention, self.cross_attention, self.feed_forward = self_attention, cross_attention, feed_forward
        self.around_self = Residual(self_attention.size, order, dropout=dropout)
        self.around_cross = Residual(self_attention.size, order, dropout=dropout)
        self.around_feed_forward = Residual(self_attention.size, order, dropout=dropout)

    def forward(
        self,
        values: Tensor,
        source: PreparedKeys,
        past: PreparedKeys | None = None,
        *,
        at: Tensor | None = None,
        **unknown: object,
    ) -> DecoderLayerOutput:
        """Positions `at` (T,) after the cached `past`; None, None: the whole sequence from its start."""
        refuse_arguments("TransformerDecoderLayer", unknown)
        require_prepared("TransformerDecoderLayer", source)
        entered = self.around_self.enter(values)
        own = self.self_attention.prepare(entered, at=at)
        own = own if past is None else past.append(own)
        values = self.around_self.leave(values, self.self_attention.read(entered, own, query_at=at))
        query = self.around_cross.enter(values)
        values = self.around_cross.leave(values, self.cross_attention.read(query, source, query_at=at))
        entered = self.around_feed_forward.enter(values)
        return DecoderLayerOutput(self.around_feed_forward.leave(values, self.feed_forward(entered)), own, query)

    @classmethod
    def from_torch(cls, layer: nn.TransformerDecoderLayer) -> Self:
        """A layer with the weights of torch's; its self-attention is causal by itself, without a mask."""
        own = MultiHead.from_torch(layer.self_attn)
        own.attention = Attention(ScaledDot(), Softmax(), Causal())
        ours = cls(
            own,
            MultiHead.from_torch(layer.multihead_attn),
            empty_feed_forward(layer),
            order="pre" if layer.norm_first else "post",
            dropout=layer.dropout.p,
        ).to(layer.linear1.weight)
        copy_weights(torch_parts(layer), ours.parts())
        return ours.train(layer.training)

    def to_torch(self) -> nn.TransformerDecoderLayer:
        """Torch's layer (batch first) with the weights of this one; call it with a causal mask."""
        require_extent(self.self_attention, Causal)
        require_extent(self.cross_attention, Everything)
        options = torch_options(self.feed_forward, self.self_attention, self.around_self)
        theirs = nn.TransformerDecoderLayer(**options).to(self.feed_forward.widen.weight)
        theirs.self_attn.load_state_dict(self.self_attention.to_torch().state_dict())
        theirs.multihead_attn.load_state_dict(self.cross_attention.to_torch().state_dict())
        copy_weights(self.parts(), torch_parts(theirs))
        return theirs.train(self.training)

    def parts(self) -> list[nn.Module]:
        """The parts beside the attentions that torch's layer has too, in the order of `torch_parts`."""
        residuals = (self.around_self, self.around_cross, self.around_feed_forward)
        return [self.feed_forward.widen, self.feed_forward.narrow, *(residual.norm for residual in residuals)]


def torch_parts(layer: TorchLayer) -> list[nn.Module]:
    """The linear maps and the norms of torch's layer."""
    norms = [layer.norm1, layer.norm2, *([layer.norm3] if isinstance(layer, nn.TransformerDecoderLayer) else [])]
    return [layer.linear1, layer.linear2, *norms]


def empty_feed_forward(layer: TorchLayer) -> FeedForward:
    """A feed-forward part of the form of torch's, with weights of its own."""
    widen, dropout = layer.linear1, layer.dropout.p
    return FeedForward(widen.in_features, widen.out_features, dropout=dropout, activation=layer.activation)


def copy_weights(sources: Sequence[nn.Module], targets: Sequence[nn.Module]) -> None:
    """Copy the weights of each source, and of a norm its epsilon, to the target at the same place."""
    for source, target in zip(sources, targets, strict=True):
        target.load_state_dict(source.state_dict())
        if isinstance(source, nn.LayerNorm) and isinstance(target, nn.LayerNorm):
            target.eps = source.eps


def torch_options(feed_forward: FeedForward, attention: MultiHead, residual: Residual) -> dict[str, Any]:
    """The arguments that make torch's layer of the same form."""
    if residual.order == "none":
        raise InputError("torch has no layer without norms.", found="order='none'", fix="use order='pre' or 'post'")
    return {
        "d_model": attention.size,
        "nhead": attention.heads,
        "dim_feedforward": feed_forward.widen.out_features,
        "dropout": residual.dropout.p,
        "activation": feed_forward.activation,
        "batch_first": True,
        "norm_first": residual.order == "pre",
    }


def require_extent(heads: MultiHead, *extents: type[nn.Module]) -> None:
    """Raise unless the extent is one that torch's layer has."""
    if type(heads.attention.extent) not in extents:
        raise InputError(
            "torch's layer has no such extent.",
            found=repr(heads.attention.extent),
            fix=f"use {' or '.join(f'{extent.__name__}()' for extent in extents)}",
        )
