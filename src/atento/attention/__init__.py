"""Attention as an algebra: any score × any distribution × any extent."""

from atento.attention.attention import Attention
from atento.attention.distributions import Distribution, Softmax, Sparsemax
from atento.attention.extents import Causal, Everything, Extent, View, Window
from atento.attention.heads import MultiHead
from atento.attention.prepared import Prepared
from atento.attention.scores import Additive, Dot, General, ScaledDot, Score

__all__ = [
    "Additive",
    "Attention",
    "Causal",
    "Distribution",
    "Dot",
    "Everything",
    "Extent",
    "General",
    "MultiHead",
    "Prepared",
    "ScaledDot",
    "Score",
    "Softmax",
    "Sparsemax",
    "View",
    "Window",
]
