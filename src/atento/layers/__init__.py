"""Layers that all models share.

activations     activation functions by name: sigmoid, tanh, ReLU, leaky ReLU, ELU, maxout
embeddings      token embeddings, plain or with positions added
positions       sinusoidal, learned, index and binary positions; rotary position embedding
feed_forward    the feed-forward network of a Transformer layer
crf             linear-chain conditional random field
losses          cross-entropies, KL divergence, squared error, pinball loss, L2 penalty
initialization  initializers of recurrent matrices by name: uniform, orthogonal, identity, Xavier
masking         padding: clean values, masked means, checks of shapes
torch_arguments arguments known from torch, answered with what to write here
"""

from atento.layers.activations import (
    ACTIVATIONS,
    ELU,
    IDENTITY,
    LEAKY_RELU,
    MAXOUT,
    RELU,
    SIGMOID,
    TANH,
    Activation,
    ActivationFn,
    maxout,
)
from atento.layers.crf import BestPath, LinearChainCRF, Transitions
from atento.layers.embeddings import PositionedEmbedding, TokenEmbedding
from atento.layers.feed_forward import FeedForward, collapse_linear
from atento.layers.initialization import INITIALIZERS, Initializer, initialize_blocks
from atento.layers.losses import (
    Loss,
    binary_cross_entropy,
    kl_divergence,
    l2_penalty,
    median_weights,
    pinball_loss,
    sequence_cross_entropy,
    sort_quantiles,
    squared_error,
    token_cross_entropy,
)
from atento.layers.masking import clean, masked_mean, valid_from_lengths
from atento.layers.positions import (
    BinaryPositions,
    IndexPositions,
    LearnedPositions,
    NoPositions,
    Positions,
    Rotary,
    SinusoidalPositions,
)

__all__ = [
    "ACTIVATIONS",
    "ELU",
    "IDENTITY",
    "INITIALIZERS",
    "LEAKY_RELU",
    "MAXOUT",
    "RELU",
    "SIGMOID",
    "TANH",
    "Activation",
    "ActivationFn",
    "BestPath",
    "BinaryPositions",
    "FeedForward",
    "IndexPositions",
    "Initializer",
    "LearnedPositions",
    "LinearChainCRF",
    "Loss",
    "NoPositions",
    "PositionedEmbedding",
    "Positions",
    "Rotary",
    "SinusoidalPositions",
    "TokenEmbedding",
    "Transitions",
    "binary_cross_entropy",
    "clean",
    "collapse_linear",
    "initialize_blocks",
    "kl_divergence",
    "l2_penalty",
    "masked_mean",
    "maxout",
    "median_weights",
    "pinball_loss",
    "sequence_cross_entropy",
    "sort_quantiles",
    "squared_error",
    "token_cross_entropy",
    "valid_from_lengths",
]
