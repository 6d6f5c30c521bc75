"""Tokens become vectors."""

import math

from torch import Tensor, nn

from atento.layers.positions import Sinusoidal


class TokenEmbedding(nn.Module):
    """A learned vector for each token: tokens (B, T) -> (B, T, size). Padding, token 0, is a zero vector."""

    def __init__(self, vocabulary_size: int, size: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.size = size
        self.table = nn.Embedding(vocabulary_size, size, padding_idx=0)
        nn.init.normal_(self.table.weight, std=size**-0.5)
        nn.init.zeros_(self.table.weight[0].detach())
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor) -> Tensor:
        """Look each token up."""
        vectors: Tensor = self.dropout(self.table(tokens))
        return vectors


class PlacedEmbedding(nn.Module):
    """Token vectors scaled by √size plus the waves of their positions (Vaswani et al., 2017, sec. 3.4)."""

    def __init__(self, vocabulary_size: int, size: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.size = size
        self.tokens = TokenEmbedding(vocabulary_size, size)
        self.positions = Sinusoidal(size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor, at: Tensor) -> Tensor:
        """Tokens (B, T) at positions (T,) or (B, T) -> (B, T, size)."""
        vectors = self.tokens(tokens) * math.sqrt(self.size)
        placed: Tensor = self.dropout(vectors + self.positions(at).to(vectors.dtype))
        return placed
