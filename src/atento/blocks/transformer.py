"""The Transformer's layers (Vaswani et al., 2017, sec. 3.1), normalised before each part, after it, or nowhere.

Layers of self-attention one after another: the body of encoder-only and decoder-only models.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from torch import Tensor, nn

from atento.attention.extents.extents import Prepared
from atento.attention.heads import MultiHead
from atento.attention.weights import Look, weights_of
from atento.errors import InputError, unknown_name
from atento.layers.feed_forward import FeedForward
from atento.layers.masking import clean

# Axes: B batch, T target time, N source time, D size.

NormOrder = Literal["pre", "post", "none"]
ORDERS: tuple[NormOrder, ...] = ("pre", "post", "none")


class Residual(nn.Module):
    """A path around a part f: post-norm(x + f(x)) as first published, pre-norm x + f(norm(x)) (Xiong et al., 2020),
    or none, x + f(x), which needs weights that start small (Huang et al., 2020).
    """

    def __init__(self, size: int, order: NormOrder, *, dropout: float = 0.0) -> None:
        super().__init__()
        if order not in ORDERS:
            raise unknown_name("norm order", order, ORDERS, where="model.norm")
        self.order = order
        self.norm = nn.Identity() if order == "none" else nn.LayerNorm(size)
        self.dropout = nn.Dropout(dropout)

    def enter(self, values: Tensor) -> Tensor:
        """What the part sees."""
        entered: Tensor = self.norm(values) if self.order == "pre" else values
        return entered

    def leave(self, values: Tensor, change: Tensor) -> Tensor:
        """The values that came in plus the part's change."""
        summed: Tensor = values + self.dropout(change)
        return self.norm(summed) if self.order == "post" else summed


class Extended(NamedTuple):
    """What a layer of self-attention gives on."""

    values: Tensor  # (B, T, D)
    own: Prepared  # keys and values of all positions so far: the cache


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward: (B, N, D) -> (B, N, D).

    With a causal extent it is the layer of a decoder-only model, which `extend` runs from a cache.
    """

    def __init__(
        self, self_attention: MultiHead, feed_forward: FeedForward, *, order: NormOrder = "pre", dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.self_attention, self.feed_forward = self_attention, feed_forward
        self.around_attention = Residual(self_attention.size, order, dropout=dropout)
        self.around_feed_forward = Residual(self_attention.size, order, dropout=dropout)

    def forward(self, values: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """All positions see all real positions the attention's extent allows."""
        return self.extend(values, valid=valid).values

    def extend(
        self, values: Tensor, past: Prepared | None = None, *, at: Tensor | None = None, valid: Tensor | None = None
    ) -> Extended:
        """Positions `at` (N,) after the cached `past`; None, None: the whole sequence from its start."""
        values = clean(values, valid)
        entered = self.around_attention.enter(values)
        own = self.self_attention.prepare(entered, valid=valid, at=at)
        own = own if past is None else past.append(own)
        values = self.around_attention.leave(values, self.self_attention.read(entered, own, query_at=at))
        entered = self.around_feed_forward.enter(values)
        return Extended(clean(self.around_feed_forward.leave(values, self.feed_forward(entered)), valid), own)


class Passed(NamedTuple):
    """What a decoder layer gives on."""

    values: Tensor  # (B, T, D)
    own: Prepared  # keys and values of all positions so far: the cache
    asked: Tensor  # (B, T, D) what the source was asked with; weights are recomputed from it when wanted


class DecoderLayer(nn.Module):
    """Self-attention over what is written, attention over the source, feed-forward.

    The state is the query and the encoder's output the key and value; each residual adds what entered that part.
    """

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
        self, values: Tensor, source: Prepared, past: Prepared | None = None, *, at: Tensor | None = None
    ) -> Passed:
        """Positions `at` (T,) after the cached `past`; None, None: the whole sequence from its start."""
        entered = self.around_self.enter(values)
        own = self.self_attention.prepare(entered, at=at)
        own = own if past is None else past.append(own)
        values = self.around_self.leave(values, self.self_attention.read(entered, own, query_at=at))
        asked = self.around_cross.enter(values)
        values = self.around_cross.leave(values, self.cross_attention.read(asked, source, query_at=at))
        entered = self.around_feed_forward.enter(values)
        return Passed(self.around_feed_forward.leave(values, self.feed_forward(entered)), own, asked)


# Axes: B batch, T time, D size.


class Continued(NamedTuple):
    """What a stack gives on."""

    values: Tensor  # (B, T, D)
    own: tuple[Prepared, ...]  # the cache of each layer


class TransformerStack(nn.Module):
    """(B, T, D) -> (B, T, D) through every layer; pre-norm layers end un-normalised, so one more norm closes them.

    Where its layers see everything, an encoder (encoder-only models read it as it is). Where their extents are causal,
    a decoder-only model: trained on all positions at once, it writes with `extend`, which goes on from a cache.
    """

    def __init__(self, layers: list[EncoderLayer]) -> None:
        super().__init__()
        if not layers:
            raise InputError("a stack needs layers.", found="layers=[]", fix="give one or more")
        self.size = layers[0].self_attention.size
        self.layers = nn.ModuleList(layers)
        self.norm = closing_norm(self.size, layers[0].around_attention.order)

    def forward(self, values: Tensor, *, valid: Tensor | None = None) -> Tensor:
        """All positions at once; valid (B, T)."""
        return self.extend(values, valid=valid).values

    def extend(
        self,
        values: Tensor,
        past: tuple[Prepared, ...] = (),
        *,
        at: Tensor | None = None,
        valid: Tensor | None = None,
    ) -> Continued:
        """Positions `at` (T,) after the cached `past`; (), None: the whole sequence from its start."""
        own = []
        for index, layer in enumerate(self.each()):
            values, cache = layer.extend(values, past[index] if past else None, at=at, valid=valid)
            own.append(cache)
        return Continued(self.norm(values), tuple(own))

    def each(self) -> list[EncoderLayer]:
        """The layers, typed."""
        return [layer for layer in self.layers if isinstance(layer, EncoderLayer)]

    def weights(
        self,
        values: Tensor,
        *,
        valid: Tensor | None = None,
        layers: slice = slice(None),
        heads: slice = slice(None),
        rows: slice = slice(None),
    ) -> Tensor:
        """Where the asked positions of the asked layers looked: (B, layers, heads, rows, T), beside the fast path."""
        return weights_of(self.looks(values, valid=valid, layers=layers), heads=heads, rows=rows)

    def looks(self, values: Tensor, *, valid: Tensor | None = None, layers: slice = slice(None)) -> Iterator[Look]:
        """The self-attention of the asked layers; those above them are not passed."""
        asked = range(len(self.layers))[layers]
        every = [layer for layer in self.layers if isinstance(layer, EncoderLayer)]
        for index, layer in enumerate(every[: max(asked, default=-1) + 1]):
            passed = layer.extend(values, valid=valid)
            if index in asked:
                yield Look(layer.self_attention, layer.around_attention.enter(clean(values, valid)), passed.own)
            values = passed.values


def closing_norm(size: int, order: NormOrder) -> nn.Module:
    """What follows the last layer."""
    return nn.LayerNorm(size) if order == "pre" else nn.Identity()
