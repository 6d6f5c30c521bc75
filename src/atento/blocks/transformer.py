"""The Transformer's layers (Vaswani et al., 2017, sec. 3.1), normalised before each part, after it, or nowhere."""

from typing import Literal, NamedTuple

from torch import Tensor, nn

from atento.attention.heads import MultiHead
from atento.attention.prepared import Prepared
from atento.errors import unknown_name
from atento.layers.feed_forward import FeedForward
from atento.layers.padding import clean

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
