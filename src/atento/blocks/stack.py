"""Layers of self-attention one after another: the body of encoder-only and decoder-only models."""

from collections.abc import Iterator
from typing import NamedTuple

from torch import Tensor, nn

from atento.attention.looks import Look, weights_of
from atento.attention.prepared import Prepared
from atento.blocks.transformer import EncoderLayer, NormOrder
from atento.errors import InputError
from atento.layers.padding import clean

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
