"""Tokens become vectors."""

import math

import torch
from torch import Tensor, nn

from atento.layers.positions import Positions


class TokenEmbedding(nn.Module):
    """A learned vector for each token: tokens (B, T) -> (B, T, size). Padding, token 0, is a zero vector.

    The same vectors predict (Press & Wolf, 2017); not `tied`, there are others for that.
    """

    def __init__(self, vocabulary_size: int, size: int, *, dropout: float = 0.0, tied: bool = True) -> None:
        super().__init__()
        self.size = size
        self.table = nn.Embedding(vocabulary_size, size, padding_idx=0)
        self.others = None if tied else nn.Parameter(torch.empty(vocabulary_size, size))
        self.draw()
        self.dropout = nn.Dropout(dropout)

    def draw(self) -> None:
        """Vectors anew, each with standard deviation size^−½: about as long as 1."""
        nn.init.normal_(self.table.weight, std=self.size**-0.5)
        nn.init.zeros_(self.table.weight[0].detach())
        if self.others is not None:
            nn.init.normal_(self.others, std=self.size**-0.5)

    @property
    def outputs(self) -> Tensor:
        """The vectors (V, size) that tell how likely each token is, by their product with what is to be said."""
        return self.table.weight if self.others is None else self.others

    def forward(self, tokens: Tensor) -> Tensor:
        """Look each token up."""
        vectors: Tensor = self.dropout(self.table(tokens))
        return vectors


class PlacedEmbedding(nn.Module):
    """Token vectors scaled by √size plus their positions (Vaswani et al., 2017, sec. 3.4), made by a part of
    `atento.layers.positions`, which also says the size.
    """

    def __init__(self, vocabulary_size: int, positions: Positions, *, dropout: float = 0.0, tied: bool = True) -> None:
        super().__init__()
        self.size = positions.size
        self.tokens = TokenEmbedding(vocabulary_size, self.size, tied=tied)
        self.positions = positions
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor, at: Tensor) -> Tensor:
        """Tokens (B, T) at positions (T,) or (B, T) -> (B, T, size)."""
        return self.place(tokens, self.positions(at))

    def whole(self, tokens: Tensor, valid: Tensor) -> Tensor:
        """Whole sequences (B, T): the real tokens count from 0, whatever the side of the padding."""
        places = self.positions(torch.arange(tokens.size(1), device=tokens.device))  # (T, size): waves made once
        return self.place(tokens, places[(valid.cumsum(dim=-1) - 1).clamp(min=0)])

    def place(self, tokens: Tensor, places: Tensor) -> Tensor:
        """Add places that broadcast to (B, T, size)."""
        vectors = self.tokens(tokens) * math.sqrt(self.size)
        placed: Tensor = self.dropout(vectors + places.to(vectors.dtype))
        return placed
