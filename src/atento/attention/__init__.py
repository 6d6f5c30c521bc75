"""Attention as an algebra: any score × any distribution × any extent."""

from atento.attention.adaptive_span import AdaptiveSpan
from atento.attention.attention import Attention
from atento.attention.distributions import (
    DeAttention,
    Distribution,
    Entmax,
    Proportional,
    Sigmoid,
    Softmax,
    Sparsemax,
)
from atento.attention.extents import Causal, Everything, Extent, Masked, View
from atento.attention.hard import Drawn, Hard, recorded_draws, score_function_loss
from atento.attention.heads import MultiHead
from atento.attention.kernel_scores import EluPlusOne, Exponential, FeatureMap, Kernel, RandomFeatures, Rectified
from atento.attention.learned_scores import Additive, Deep, FeatureBased, Location
from atento.attention.linformer import Linformer
from atento.attention.local import PredictiveLocal, Window
from atento.attention.looks import Look, summary_of, weights_of
from atento.attention.position_bias import Alibi, RelativeBias
from atento.attention.prepared import Prepared
from atento.attention.scores import ActivatedGeneral, BiasedGeneral, Dot, General, ScaledDot, Score
from atento.attention.similarity import Opposed, Similarity, cosine, minus_euclidean, minus_manhattan
from atento.attention.sparse_extents import BlockLocal, BlockLocal2d, Fixed, Strided
from atento.attention.summary import Summary, summarise

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
