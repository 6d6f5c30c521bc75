"""The poolings and attention blocks by name, each built with the settings of its paper.

`POOLINGS` and `ARRANGEMENTS` are the only tables that turn these names into objects.
"""

from torch import nn

from atento.attention.attention import Attention
from atento.attention.distributions.distributions import Softmax
from atento.attention.extents.extents import Everything
from atento.attention.presets import Part, Sizes
from atento.attention.scores.learned import Additive, FeatureBased
from atento.attention.scores.product import ActivatedGeneral, Dot, General
from atento.blocks.area import AreaAttention, mean_of, means_and_stds, std_of
from atento.blocks.coattention import AlternatingCoAttention, ParallelCoAttention
from atento.blocks.continuous import ContinuousAttention, Density, GaussianBasis, GaussianDensity, ParabolaDensity
from atento.blocks.hierarchical import HierarchicalAttention, MultiRepresentationalAttention, StackEncoder
from atento.blocks.multi_dimensional import MultiDimensionalAttention
from atento.blocks.pooling import AttentionPooling, LastPooling, MaxPooling, MeanPooling, Pooling
from atento.recurrent.cells import GRUCell
from atento.recurrent.stack import Stack

LARGEST = 3  # items in an area
CENTRES, WIDTHS = 32, (0.1, 0.5)  # the paper's 64 basis functions


def additive(query_size: int, key_size: int) -> Attention:
    """Additive attention with softmax, which most of these papers use."""
    return Attention(Additive(query_size, key_size, hidden_size=key_size), Softmax(), Everything())


def feature_wise(query_size: int, key_size: int) -> MultiDimensionalAttention:
    """Multi-dimensional attention with softmax."""
    return MultiDimensionalAttention(
        query_size, key_size, key_size, hidden_size=key_size, distribution=Softmax(), extent=Everything()
    )


def areas(sizes: Sizes) -> AreaAttention:
    """Area attention by the mean and the standard deviation of each area's keys."""
    score = FeatureBased(2 * sizes.key, sizes.key, first=mean_of, second=std_of)
    return AreaAttention(Attention(score, Softmax(), Everything()), largest=LARGEST, features=means_and_stds)


def continuous(sizes: Sizes, density: Density) -> ContinuousAttention:
    """Continuous attention whose moments come from attention with the general score."""
    attention = Attention(General(sizes.query, sizes.key), Softmax(), Everything())
    return ContinuousAttention(attention, density, GaussianBasis(CENTRES, WIDTHS))


def hierarchical(sizes: Sizes) -> HierarchicalAttention:
    """A bidirectional GRU, then additive attention, at both levels."""
    words = StackEncoder(Stack(GRUCell, sizes.key, sizes.key, bidirectional=True))
    sentences = StackEncoder(Stack(GRUCell, 2 * sizes.key, sizes.key, bidirectional=True))
    poolings = [AttentionPooling(sizes.query, additive(sizes.query, 2 * sizes.key)) for _ in range(2)]
    return HierarchicalAttention(words, poolings[0], sentences, poolings[1])


def parallel(sizes: Sizes) -> ParallelCoAttention:
    """Co-attention of sequences of the query's and of the key's width."""
    return ParallelCoAttention(
        sizes.query,
        sizes.key,
        hidden_size=sizes.key,
        affinity=ActivatedGeneral(sizes.query, sizes.key),
        distribution=Softmax(),
    )


def alternating(sizes: Sizes) -> AlternatingCoAttention:
    """Co-attention of sequences of the query's and of the key's width."""
    return AlternatingCoAttention(
        sizes.query,
        sizes.key,
        opening=additive(sizes.key, sizes.query),
        across=additive(sizes.query, sizes.key),
        closing=additive(sizes.key, sizes.query),
    )


def several_embeddings(sizes: Sizes) -> MultiRepresentationalAttention:
    """Embeddings of the query's and of the key's width, mixed to the key's."""
    pooling = AttentionPooling(sizes.key, Attention(Dot(), Softmax(), Everything()))
    return MultiRepresentationalAttention((sizes.query, sizes.key), sizes.key, pooling)


POOLINGS: dict[str, Part[Pooling]] = {
    "mean": Part(lambda sizes: MeanPooling(), "Σ x_t / n", "Iyyer et al. 2015, sec. 2", "n d"),
    "max": Part(lambda sizes: MaxPooling(), "max_t x_t, by feature", "Collobert et al. 2011, sec. 3.2.2", "n d"),
    "last": Part(lambda sizes: LastPooling(), "x_n", "Sutskever et al. 2014, sec. 2", "d"),
    "attention": Part(
        lambda sizes: AttentionPooling(sizes.query, additive(sizes.query, sizes.key)),
        "Σ p(a(x_t, u)) x_t, u learned",
        "Yang et al. 2016, eq. 5–7",
        "n h, with a tanh each",
    ),
    "multi-dimensional": Part(
        lambda sizes: AttentionPooling(sizes.query, feature_wise(sizes.query, sizes.key)),
        "Σ p_d(a_d(x_t, u)) x_td, u learned",
        "Shen et al. 2018, sec. 3.2",
        "n h d",
    ),
}

ARRANGEMENTS: dict[str, Part[nn.Module]] = {
    "area": Part(
        areas,
        "areas of keys by mean and standard deviation, sums of values",
        "Li et al. 2019, sec. 3",
        "r n d, areas of r",
    ),
    "co-attention-alternating": Part(
        alternating, "x̂ = A(X; 0), ŷ = A(Y; x̂), x̂ = A(X; ŷ)", "Lu et al. 2016, eq. 6", "n h, three times"
    ),
    "co-attention-parallel": Part(parallel, "both sides through C = tanh(X W Y)", "Lu et al. 2016, eq. 3–5", "n m h"),
    "continuous-softmax": Part(
        lambda sizes: continuous(sizes, GaussianDensity()),
        "∫ p(t) V(t) dt, p Gaussian",
        "Martins et al. 2020, sec. 3",
        "n d + N³ once, N basis functions",
    ),
    "continuous-sparsemax": Part(
        lambda sizes: continuous(sizes, ParabolaDensity()),
        "∫ p(t) V(t) dt, p a truncated parabola",
        "Martins et al. 2020, sec. 3",
        "n d + N³ once, N basis functions",
    ),
    "hierarchical": Part(
        hierarchical, "words make sentences, sentences a document", "Yang et al. 2016, eq. 5–10", "n h"
    ),
    "multi-dimensional": Part(
        lambda sizes: feature_wise(sizes.query, sizes.key),
        "p_d(W act(W₁ k + W₂ q + b₁) + b) v_d",
        "Shen et al. 2018, sec. 3.1",
        "n h d",
    ),
    "multi-representational": Part(
        several_embeddings,
        "Σ_i p(a · x'_i) x'_i, x'_i = P_i x_i + b_i",
        "Kiela et al. 2018, sec. 3",
        "e d, e embeddings",
    ),
}
