"""Attention as an algebra: any score × any distribution × any extent."""

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
from atento.attention.distributions.hard import Drawn, Hard, recorded_draws, score_function_loss
from atento.attention.extents.extents import Causal, Everything, Extent, Masked, Prepared, View
from atento.attention.extents.local import AdaptiveSpan, Alibi, PredictiveLocal, RelativeBias, Window
from atento.attention.extents.sparse import BlockLocal, BlockLocal2d, Fixed, Strided
from atento.attention.heads import MultiHead
from atento.attention.linformer import Linformer
from atento.attention.scores.kernel import EluPlusOne, Exponential, FeatureMap, Kernel, RandomFeatures, Rectified
from atento.attention.scores.learned import Additive, Deep, FeatureBased, Location
from atento.attention.scores.product import ActivatedGeneral, BiasedGeneral, Dot, General, ScaledDot, Score
from atento.attention.scores.similarity import Opposed, Similarity, cosine, minus_euclidean, minus_manhattan
from atento.attention.weights import Look, Summary, summarise, summary_of, weights_of

__all__ = [
    "ActivatedGeneral",
    "AdaptiveSpan",
    "Additive",
    "Alibi",
    "Attention",
    "BiasedGeneral",
    "BlockLocal",
    "BlockLocal2d",
    "Causal",
    "DeAttention",
    "Deep",
    "Distribution",
    "Dot",
    "Drawn",
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
    "Kernel",
    "Linformer",
    "Location",
    "Look",
    "Masked",
    "MultiHead",
    "Opposed",
    "PredictiveLocal",
    "Prepared",
    "Proportional",
    "RandomFeatures",
    "Rectified",
    "RelativeBias",
    "ScaledDot",
    "Score",
    "Sigmoid",
    "Similarity",
    "Softmax",
    "Sparsemax",
    "Strided",
    "Summary",
    "View",
    "Window",
    "cosine",
    "minus_euclidean",
    "minus_manhattan",
    "recorded_draws",
    "score_function_loss",
    "summarise",
    "summary_of",
    "weights_of",
]
