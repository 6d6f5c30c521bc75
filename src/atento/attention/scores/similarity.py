"""Similarity scores: cosine or minus a distance, times a sharpness that may be learned; minus the squared distance."""

import math
from collections.abc import Callable
from typing import ClassVar

import torch
from torch import Tensor, nn

from atento.attention.scores.product import Kind, Score, require_same_width
from atento.errors import InputError

# Axes: B batch (any number of leading axes), Q queries, K keys, D size.

Measure = Callable[[Tensor, Tensor], Tensor]  # query (B, Q, D), key (B, K, D) -> (B, Q, K), larger for more similar


def cosine(query: Tensor, key: Tensor) -> Tensor:
    """q . k / (|q| |k|); 0 for a vector of zeros  (Graves et al., 2014, eq. 6)."""
    return unit(query) @ unit(key).mT


def minus_euclidean(query: Tensor, key: Tensor) -> Tensor:
    """−|q − k|, minus the Euclidean distance, whose gradient is 0 where they are equal."""
    return -distance(query, key, power=2.0)


def minus_manhattan(query: Tensor, key: Tensor) -> Tensor:
    """−Σ |q_i − k_i|, minus the L1 distance."""
    return -distance(query, key, power=1.0)


def distance(query: Tensor, key: Tensor, *, power: float) -> Tensor:
    """(Σ |q_i − k_i|^p)^(1/p), at least in float32, and without matrix products, which are inexact for near vectors."""
    precise = torch.promote_types(query.dtype, torch.float32)
    far = torch.cdist(query.to(precise), key.to(precise), p=power, compute_mode="donot_use_mm_for_euclid_dist")
    return far.to(query.dtype)


def unit(items: Tensor) -> Tensor:
    """Vectors of length 1; zeros stay zeros."""
    length = torch.linalg.vector_norm(items, dim=-1, keepdim=True)
    return items / length.masked_fill(length == 0, 1.0)


class Similarity(Score):
    """Content-based: β · similarity(q, k)  (Graves et al., 2014, eq. 5), with a positive sharpness β, fixed or learned.

    `measure` is any function of whole matrices, such as cosine, minus_euclidean or minus_manhattan.
    """

    def __init__(self, measure: Measure = cosine, *, sharpness: float = 1.0, learned: bool = False) -> None:
        super().__init__()
        if not 0.0 < sharpness < math.inf:
            raise InputError(
                "Similarity: sharpness must be positive.", found=f"sharpness={sharpness}", fix="give 1.0 or more"
            )
        self.measure = measure
        logarithm = torch.tensor(math.log(sharpness))
        self.log_sharpness = nn.Parameter(logarithm) if learned else None
        self.fixed = sharpness

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """β · similarity(q, k)."""
        if query.size(-1) != key.size(-1):
            raise InputError(
                "query and key must have the same width to be compared.",
                found=f"query {query.size(-1)}, key {key.size(-1)}",
                fix="use General(query_size, key_size), which learns a linear map between them",
            )
        return self.sharpness() * self.measure(query, key)

    def sharpness(self) -> Tensor | float:
        """β."""
        return self.fixed if self.log_sharpness is None else self.log_sharpness.exp()

    def extra_repr(self) -> str:
        """The measure and the sharpness."""
        sharpness = (
            f"{self.fixed:.4g}" if self.log_sharpness is None else f"learned, {self.log_sharpness.exp().item():.4g}"
        )
        return f"{getattr(self.measure, '__name__', self.measure)}, sharpness={sharpness}"


class SquaredDistance(Score):
    """Gaussian: −|q − k|² / (2 √d)  (Lu et al., 2021, sec. 3.1), the logarithm of a Gaussian kernel of variance √d.

    It is q . k / √d less |q|² / (2 √d) and |k|² / (2 √d): softmax weights equal those of `ScaledDot` where all keys are
    equally long, and a long key has no advantage.
    """

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """−|q − k|² / (2 √d)."""
        require_same_width(query, key)
        return -distance(query, key, power=2.0).square() / (2 * math.sqrt(query.size(-1)))


class Opposed(Score):
    """Two scores of the same keys for de-attention, (2, B, Q, K): a similarity, then minus a distance.

    The pair is a new first axis, so that masks and biases, which broadcast from the right, apply to both.
    """

    gives: ClassVar[Kind] = "opposed"

    def __init__(self, similar: Score, distant: Similarity) -> None:
        super().__init__()
        if similar.gives != "scores":
            raise InputError(
                "Opposed: `similar` must give one matrix of scores of either sign.",
                found=f"{type(similar).__name__}, which gives {similar.gives}",
                fix="give a score such as ScaledDot() or General(query_size, key_size)",
            )
        self.similar, self.distant = similar, distant
        self.by_position = similar.by_position

    def prepare(self, key: Tensor) -> Tensor:
        """The prepared keys of both, concatenated."""
        return torch.cat([self.similar.prepare(key), self.distant.prepare(key)], dim=-1)

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """Both scores; the keys of the distance are as wide as the query, and stand last."""
        width = query.size(-1)
        similar = self.similar.compare(query, key[..., : key.size(-1) - width])
        return torch.stack([similar, self.distant.compare(query, key[..., -width:])])
