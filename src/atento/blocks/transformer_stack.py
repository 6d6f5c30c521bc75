"""Stacks of Transformer layers: the body of encoder-only and decoder-only models.

Whole sequences take the packed way, without their padding, where nothing is hooked or recorded; from a cache the layers
go one after another."""

from collections.abc import Iterator
from typing import NamedTuple

from torch import Tensor, nn

from atento.attention.extents.extents import PreparedKeys
from atento.attention.weights import AttentionCall, weights_of
from atento.blocks.packed_transformer import is_packable, pass_encoder_layers
from atento.blocks.transformer import NormOrder, TransformerEncoderLayer
from atento.errors import InputError
from atento.layers.masking import clean, require_items
from atento.layers.packing import Packing
from atento.layers.torch_arguments import refuse_arguments

# Axes: B batch, T time, M real positions, D size.


class TransformerOutput(NamedTuple):
    """The output of a stack, with its caches."""

    values: Tensor  # (B, T, D)
    caches: tuple[PreparedKeys, ...]  # one for each layer


class TransformerStack(nn.Module):
    """Encoder layers one after another: (B, T, D) -> (B, T, D). After pre-norm layers a final norm follows.

    With full extents it is an encoder; with causal extents it is a decoder-only model, which is trained on all
    positions at once and generates with `extend`, from a cache.
    """

    def __init__(self, layers: list[TransformerEncoderLayer]) -> None:
        super().__init__()
        if not layers:
            raise InputError("TransformerStack needs layers.", found="layers=[]", fix="give one or more")
        self.size = layers[0].self_attention.size
        self.layers = nn.ModuleList(layers)
        self.norm = final_norm(self.size, layers[0].around_attention.order)

    def forward(self, values: Tensor, *, valid: Tensor | None = None, **unknown: object) -> Tensor:
        """All positions at once; valid (B, T)."""
        refuse_arguments("TransformerStack", unknown)
        require_items("values", values, valid, width=self.size)
        if not is_packable(self.each(), values):
            return self.extend(values, valid=valid).values
        packing = Packing.of(values, valid)
        return packing.unpack(self.pass_packed(values, packing))

    def pass_packed(self, values: Tensor, packing: Packing) -> Tensor:
        """The real positions (M, D) of values (B, T, D) alone."""
        return pass_encoder_layers(self.each(), self.norm, values, packing)

    def extend(
        self,
        values: Tensor,
        past: tuple[PreparedKeys, ...] = (),
        *,
        at: Tensor | None = None,
        valid: Tensor | None = None,
    ) -> TransformerOutput:
        """Positions `at` (T,) after the cached `past`; (), None: the whole sequence from its start."""
        caches = []
        for index, layer in enumerate(self.each()):
            values, cache = layer.extend(values, past[index] if past else None, at=at, valid=valid)
            caches.append(cache)
        return TransformerOutput(self.norm(values), tuple(caches))

    def each(self) -> list[TransformerEncoderLayer]:
        """The layers, typed."""
        return [layer for layer in self.layers if isinstance(layer, TransformerEncoderLayer)]

    def weights(
        self,
        values: Tensor,
        *,
        valid: Tensor | None = None,
        layers: slice = slice(None),
        heads: slice = slice(None),
        rows: slice = slice(None),
    ) -> Tensor:
        """The attention weights (B, layers, heads, rows, T) of some layers, heads and queries, by the formula."""
        return weights_of(self.attention_calls(values, valid=valid, layers=layers), heads=heads, rows=rows)

    def attention_calls(
        self, values: Tensor, *, valid: Tensor | None = None, layers: slice = slice(None)
    ) -> Iterator[AttentionCall]:
        """The inputs of the self-attention of some layers; the layers above them are not computed."""
        wanted = range(len(self.layers))[layers]
        for index, layer in enumerate(self.each()[: max(wanted, default=-1) + 1]):
            output = layer.extend(values, valid=valid)
            if index in wanted:
                yield AttentionCall(
                    layer.self_attention, layer.around_attention.enter(clean(values, valid)), output.cache
                )
            values = output.values


def final_norm(size: int, order: NormOrder) -> nn.Module:
    """The norm after the last layer; none is needed unless the layers are pre-norm."""
    return nn.LayerNorm(size) if order == "pre" else nn.Identity()
