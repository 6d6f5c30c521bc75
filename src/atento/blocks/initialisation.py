"""How a Transformer's weights start: Xavier, and T-Fixup, which needs neither norm nor warm-up."""

from collections.abc import Sequence

import torch
from torch import nn

from atento.attention.heads import MultiHead
from atento.blocks.transformer import DecoderLayer, EncoderLayer
from atento.layers.embeddings import TokenEmbedding
from atento.layers.feed_forward import FeedForward

Layers = Sequence[EncoderLayer] | Sequence[DecoderLayer]


def encoder_factor(layers: int) -> float:
    """0.67 N^−¼; a decoder-only model has the parts of an encoder, and its factor."""
    return 0.67 * layers**-0.25


def decoder_factor(layers: int) -> float:
    """(9N)^−¼; also that of both embeddings."""
    return (9 * layers) ** -0.25


def xavier(embedding: TokenEmbedding, layers: Layers) -> None:
    """Glorot & Bengio (2010): every linear map anew, with no bias at first; embeddings anew too, but as ever."""
    embedding.draw()
    for layer in layers:
        for part in layer.modules():
            if isinstance(part, nn.Linear):
                nn.init.xavier_uniform_(part.weight)
                if part.bias is not None:
                    nn.init.zeros_(part.bias)


@torch.no_grad()
def t_fixup(embedding: TokenEmbedding, layers: Layers) -> None:
    """Xavier, then what each part adds to the residual path is made small (Huang et al., 2020, sec. 3.2).

    Embeddings are drawn with standard deviation d^−½ and scaled by (9N)^−¼; so are a decoder's W^V, W^O (of both
    attentions) and feed-forward weights; an encoder's are scaled by 0.67 N^−¼. N is the number of layers.
    """
    xavier(embedding, layers)
    embedding.table.weight.mul_(decoder_factor(len(layers)))
    for layer in layers:
        factor = decoder_factor(len(layers)) if isinstance(layer, DecoderLayer) else encoder_factor(len(layers))
        for part in layer.modules():
            if isinstance(part, MultiHead):
                part.to_value.weight.mul_(factor)
                part.combine.weight.mul_(factor)
            elif isinstance(part, FeedForward):
                part.widen.weight.mul_(factor)
                part.narrow.weight.mul_(factor)
