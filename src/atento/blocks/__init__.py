"""Blocks built of attention.

- `transformer`: encoder and decoder layers, which exchange weights with torch's, and stacks of them;
  `initialization`: Xavier and T-Fixup.
- `pooling`: a sequence to one vector, by its mean, maximum, last item or by attention.
- `multi_dimensional`: weights for each feature; `area`: attention over areas of neighbouring items;
  `continuous`: attention by a density over positions; `coattention`: two sequences, each weighed by the other;
  `hierarchical`: words, sentences and documents, and several embeddings of an item.
- `presets`: all of these by name.
"""

from atento.blocks.area import AreaAttention, AreaWeights, means, means_and_stds
from atento.blocks.coattention import AlternatingCoAttention, CoAttentionOutput, CoAttentionWeights, ParallelCoAttention
from atento.blocks.continuous import ContinuousAttention, GaussianBasis, GaussianDensity, ParabolaDensity
from atento.blocks.hierarchical import (
    HierarchicalAttention,
    HierarchicalWeights,
    IdentityEncoder,
    MultiRepresentationalAttention,
    SequenceEncoder,
    StackEncoder,
)
from atento.blocks.initialization import t_fixup, xavier
from atento.blocks.multi_dimensional import MultiDimensionalAttention
from atento.blocks.pooling import AttentionPooling, LastPooling, MaxPooling, MeanPooling, Pooling
from atento.blocks.presets import ARRANGEMENTS, POOLINGS
from atento.blocks.transformer import (
    DecoderLayerOutput,
    EncoderLayerOutput,
    Residual,
    TransformerDecoderLayer,
    TransformerEncoderLayer,
)
from atento.blocks.transformer_stack import TransformerOutput, TransformerStack

__all__ = [
    "ARRANGEMENTS",
    "POOLINGS",
    "AlternatingCoAttention",
    "AreaAttention",
    "AreaWeights",
    "AttentionPooling",
    "CoAttentionOutput",
    "CoAttentionWeights",
    "ContinuousAttention",
    "DecoderLayerOutput",
    "EncoderLayerOutput",
    "GaussianBasis",
    "GaussianDensity",
    "HierarchicalAttention",
    "HierarchicalWeights",
    "IdentityEncoder",
    "LastPooling",
    "MaxPooling",
    "MeanPooling",
    "MultiDimensionalAttention",
    "MultiRepresentationalAttention",
    "ParabolaDensity",
    "ParallelCoAttention",
    "Pooling",
    "Residual",
    "SequenceEncoder",
    "StackEncoder",
    "TransformerDecoderLayer",
    "TransformerEncoderLayer",
    "TransformerOutput",
    "TransformerStack",
    "means",
    "means_and_stds",
    "t_fixup",
    "xavier",
]
