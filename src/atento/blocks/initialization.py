"""Initial weights of a Transformer: Xavier, and T-Fixup, which needs neither normalization nor warm-up."""

from collections.abc import Sequence

import torch
from torch import nn

from atento.attention.heads import MultiHead
from atento.blocks.transformer import TransformerDecoderLayer, TransformerEncoderLayer
from atento.layers.embeddings import TokenEmbedding
from atento.layers.feed_forward import FeedForward

Layers = Sequence[TransformerEncoderLayer] | Sequence[TransformerDecoderLayer]


def encoder_factor(layers: int) -> float:
    """0.67 N^−¼, T-Fixup's factor of N encoder layers, also of a decoder-only model."""
    return 0.67 * layers**-0.25


def decoder_factor(layers: int) -> float:
    """(9N)^−¼, T-Fixup's factor of N decoder layers, also of the embeddings."""
    return (9 * layers) ** -0.25


def xavier(embedding: TokenEmbedding, layers: Layers) -> None:
    """Draw all linear maps by Glorot & Bengio (2010), with biases of 0, and the embeddings as `TokenEmbedding` does."""
    embedding.reset_parameters()
    for layer in layers:
        for part in layer.modules():
            if isinstance(part, nn.Linear):
                nn.init.xavier_uniform_(part.weight)
                if part.bias is not None:
                    nn.init.zeros_(part.bias)


@torch.no_grad()
def t_fixup(embedding: TokenEmbedding, layers: Layers) -> None:
    """Xavier, then scaled so that each sublayer adds little to the residual path (Huang et al., 2020, sec. 3.2).

    Embeddings are drawn with standard deviation d^−½ and scaled by (9N)^−¼; so are a decoder's W^V, W^O (of both
    attentions) and feed-forward weights; an encoder's are scaled by 0.67 N^−¼. N is the number of layers.
    """
    xavier(embedding, layers)
    embedding.table.weight.mul_(decoder_factor(len(layers)))
    for layer in layers:
        factor = (
            decoder_factor(len(layers)) if isinstance(layer, TransformerDecoderLayer) else encoder_factor(len(layers))
        )
        for part in layer.modules():
            if isinstance(part, MultiHead):
                part.to_value.weight.mul_(factor)
                part.combine.weight.mul_(factor)
            elif isinstance(part, FeedForward):
                part.widen.weight.mul_(factor)
                part.narrow.weight.mul_(factor)
