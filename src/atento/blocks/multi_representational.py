"""Multi-representational attention: several embeddings of the same item, weighed against each other."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from atento.attention.requirements import require_positive
from atento.blocks.pooling import AttentionPooling
from atento.errors import InputError
from atento.layers.padding import clean
from atento.layers.shapes import require_items

# Axes: B batch, T time, E embeddings, D size.


class MultiRepresentational(nn.Module):
    """Each embedding is mapped to one width, and attention sums them up item by item: Σ_i α_i (P_i x_i + b_i)
    (dynamic meta-embeddings: Kiela et al., 2018, sec. 3; α_i = softmax(a · (P_i x_i + b_i)) there).

    E tensors (B, T, sizes[i]) -> (B, T, size).
    """

    def __init__(self, sizes: Sequence[int], size: int, pooling: AttentionPooling) -> None:
        super().__init__()
        if not sizes:
            raise InputError("MultiRepresentational: sizes names no embedding.", found="[]", fix="give one width each")
        require_positive(
            "MultiRepresentational", size=size, **{f"sizes[{at}]": width for at, width in enumerate(sizes)}
        )
        self.sizes, self.pooling = tuple(sizes), pooling
        self.maps = nn.ModuleList(nn.Linear(width, size) for width in sizes)

    def forward(self, embeddings: Sequence[Tensor], *, valid: Tensor | None = None) -> Tensor:
        """One vector for each item; valid (B, T): True for real items."""
        mixed: Tensor = self.pooling(self.side_by_side(embeddings, valid), valid=self.spread(valid))
        return mixed

    def weights(self, embeddings: Sequence[Tensor], *, valid: Tensor | None = None) -> Tensor:
        """How much of each embedding: (B, T, E)."""
        return self.pooling.weights(self.side_by_side(embeddings, valid), valid=self.spread(valid))

    def side_by_side(self, embeddings: Sequence[Tensor], valid: Tensor | None) -> Tensor:
        """All embeddings in one width: (B, T, E, D)."""
        if len(embeddings) != len(self.maps):
            raise InputError(
                f"embeddings must be {len(self.maps)} tensors, one for each of the sizes.",
                found=f"{len(embeddings)} tensors",
                fix="give them in the order of the sizes",
            )
        mapped = []
        for at, (width, map_) in enumerate(zip(self.sizes, self.maps, strict=True)):
            require_items(f"embeddings[{at}]", embeddings[at], valid, width=width)
            mapped.append(map_(clean(embeddings[at], valid)))
        return torch.stack(mapped, dim=-2)

    def spread(self, valid: Tensor | None) -> Tensor | None:
        """An item is real in all its embeddings or in none: (B, T) -> (B, T, E)."""
        return None if valid is None else valid.unsqueeze(-1).expand(*valid.shape, len(self.maps))
