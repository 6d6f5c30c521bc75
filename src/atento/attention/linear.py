"""Linear attention: kernel scores shared in proportion, without the matrix of queries and keys.

Σ_i φ(q)·φ(k_i) v_i / Σ_i φ(q)·φ(k_i) = φ(q) (Σ_i φ(k_i) v_iᵀ) / φ(q)·(Σ_i φ(k_i))  (Katharopoulos et al., 2020, eq. 5).
"""

import torch
from torch import Tensor
from torch.nn import functional

from atento.attention.distributions import in_proportion
from atento.attention.groups import Blocks
from atento.attention.kernel_scores import Kernel
from atento.attention.prepared import Prepared
from atento.layers.padding import clean

# Axes: L leading axes, Q queries, K keys, F features, V value_size; causal: C chunks of c positions.

CHUNK = 128  # positions whose matrix is written out; more cost products, fewer cost sums


def saves(query: Tensor, prepared: Prepared) -> bool:
    """Whether two products by way of the features are less work than two by way of the matrix."""
    queries, (keys, width), features = query.size(-2), prepared.value.shape[-2:], prepared.key.size(-1)
    return (queries + keys) * features * width < queries * keys * (features + width)


def linear_context(score: Kernel, query: Tensor, prepared: Prepared, *, causal: bool) -> Tensor:
    """The context (L, Q, V); a query to which no key answers gets zeros. Causal: query t reads keys 0 ... t."""
    asked, key = score.ask(query), clean(prepared.key, prepared.valid)  # (L, Q, F), (L, K, F)
    value = functional.pad(prepared.value, (0, 1), value=1.0)  # a one beside each value counts the shares
    summed = past(asked, key, value) if causal else asked @ (key.mT @ value)
    return in_proportion(summed[..., :-1], summed[..., -1:])


def past(asked: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Σ_{i ≤ t} φ(q_t)·φ(k_i) v_i: the matrix within a chunk, a running sum of φ(k) vᵀ over the chunks before it."""
    blocks = Blocks.over(key.size(-2), CHUNK)
    asked, key, value = blocks.cut(asked), blocks.cut(key), blocks.cut(value)  # (L, C, c, *)
    own = (asked @ key.mT).tril() @ value
    before = (key.mT @ value)[..., :-1, :, :].cumsum(dim=-3)  # (L, C − 1, F, V)
    earlier = asked[..., 1:, :, :] @ before
    return blocks.mend(torch.cat([own[..., :1, :, :], own[..., 1:, :, :] + earlier], dim=-3))[..., : blocks.length, :]
