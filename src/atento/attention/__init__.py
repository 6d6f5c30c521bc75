"""Attention as a composition: any score × any distribution × any extent.

attention      `Attention(score, distribution, extent)`
heads          multi-head attention
linformer      keys and values projected to a fixed number
scores         how well a key answers a query: products, learned networks, similarities, kernels
distributions  how scores become weights: softmax, sigmoid, sparsemax, entmax, de-attention, hard attention
extents        which keys a query sees: everything, the past, windows, sparse patterns, masks, biases by distance
presets        all of these by name, and compositions of names
weights        weights and their summaries, recomputed after the fact
fast           paths that compute the context without the matrix of weights
"""

from atento.attention.attention import Attention
from atento.attention.distributions.distributions import (
    DeAttention,
    Distribution,
    Entmax,
    Proportional,
    Sigmoid,
    Softmax,
    Sparsemax,
)
from atento.attention.distributions.hard import Hard, HardSample, recorded_draws, score_function_loss
from atento.attention.extents.extents import Causal, Everything, Extent, Masked, PreparedKeys, View, view_of
from atento.attention.extents.local import AdaptiveSpan, Alibi, PredictiveLocal, RelativeBias, Window
from atento.attention.extents.sparse import BlockLocal, BlockLocal2d, Fixed, Strided
from atento.attention.heads import MultiHead
from atento.attention.linformer import Linformer
from atento.attention.presets import DISTRIBUTIONS, EXTENTS, SCORES, Composition, Part, Sizes, compose
from atento.attention.scores.kernel import EluPlusOne, Exponential, FeatureMap, Kernel, RandomFeatures, Rectified
from atento.attention.scores.learned import Additive, Deep, FeatureBased, Location
from atento.attention.scores.product import ActivatedGeneral, BiasedGeneral, Dot, General, ScaledDot, Score
from atento.attention.scores.similarity import (
    Opposed,
    Similarity,
    SquaredDistance,
    cosine,
    minus_euclidean,
    minus_manhattan,
)
from atento.attention.weights import AttentionCall, WeightSummary, summarize_weights, summary_of, weights_of

__all__ = [
    "DISTRIBUTIONS",
    "EXTENTS",
    "SCORES",
    "ActivatedGeneral",
    "AdaptiveSpan",
    "Additive",
    "Alibi",
    "Attention",
    "AttentionCall",
    "BiasedGeneral",
    "BlockLocal",
    "BlockLocal2d",
    "Causal",
    "Composition",
    "DeAttention",
    "Deep",
    "Distribution",
    "Dot",
    "EluPlusOne",
    "Entmax",
    "Everything",
    "Exponential",
    "Extent",
    "FeatureBased",
    "FeatureMap",
    "Fixed",
    "General",
    "Hard",
    "HardSample",
    "Kernel",
    "Linformer",
    "Location",
    "Masked",
    "MultiHead",
    "Opposed",
    "Part",
    "PredictiveLocal",
    "PreparedKeys",
    "Proportional",
    "RandomFeatures",
    "Rectified",
    "RelativeBias",
    "ScaledDot",
    "Score",
    "Sigmoid",
    "Similarity",
    "Sizes",
    "Softmax",
    "Sparsemax",
    "SquaredDistance",
    "Strided",
    "View",
    "WeightSummary",
    "Window",
    "compose",
    "cosine",
    "minus_euclidean",
    "minus_manhattan",
    "recorded_draws",
    "score_function_loss",
    "summarize_weights",
    "summary_of",
    "view_of",
    "weights_of",
]
