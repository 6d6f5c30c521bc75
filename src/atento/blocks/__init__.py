"""Layers made of attention: the Transformer's, stacks of them, and the arrangements: what is attended, and by whom."""

from atento.blocks.area import AreaAttention, AreaWeights, means, means_and_spreads
from atento.blocks.coattention import AlternatingCoAttention, CoAttended, CoWeights, ParallelCoAttention
from atento.blocks.continuous import ContinuousAttention, GaussianBasis, GaussianDensity, ParabolaDensity
from atento.blocks.hierarchical import (
    ByItself,
    Hierarchical,
    HierarchicalWeights,
    MultiRepresentational,
    RecurrentReader,
)
from atento.blocks.multi_dimensional import MultiDimensional
from atento.blocks.pooling import AttentionPooling, LastPooling, MaxPooling, MeanPooling, Pooling
from atento.blocks.transformer import (
    Continued,
    DecoderLayer,
    EncoderLayer,
    Extended,
    Passed,
    Residual,
    TransformerStack,
)

__all__ = [
    "AlternatingCoAttention",
    "AreaAttention",
    "AreaWeights",
    "AttentionPooling",
    "ByItself",
    "CoAttended",
    "CoWeights",
    "Continued",
    "ContinuousAttention",
    "DecoderLayer",
    "EncoderLayer",
    "Extended",
    "GaussianBasis",
    "GaussianDensity",
    "Hierarchical",
    "HierarchicalWeights",
    "LastPooling",
    "MaxPooling",
    "MeanPooling",
    "MultiDimensional",
    "MultiRepresentational",
    "ParabolaDensity",
    "ParallelCoAttention",
    "Passed",
    "Pooling",
    "RecurrentReader",
    "Residual",
    "TransformerStack",
    "means",
    "means_and_spreads",
]
