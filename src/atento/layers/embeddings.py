"""Token embeddings: plain, and with positions added."""

import math

import torch
from torch import Tensor, nn

from atento.layers.dropout import Dropout
from atento.layers.positions import Positions
from atento.layers.regularization import LockedDropout, WordDropout

# Axes: B batch, T time, V vocabulary.


class TokenEmbedding(nn.Module):
    """A learned vector for each token: tokens (B, T) -> (B, T, size). Padding, token 0, is a zero vector.

    The same table is the output layer (Press & Wolf, 2017), or a second one if it is not `tied`. `word_dropout` is the
    probability that a word is zero everywhere in a batch.
    """

    def __init__(
        self,
        vocabulary_size: int,
        size: int,
        *,
        dropout: float = 0.0,
        tied: bool = True,
        word_dropout: float = 0.0,
        locked: bool = False,
    ) -> None:
        super().__init__()
        self.size = size
        self.table = nn.Embedding(vocabulary_size, size, padding_idx=0)
        self.output_table = None if tied else nn.Parameter(torch.empty(vocabulary_size, size))
        self.reset_parameters()
        self.word_dropout = WordDropout(word_dropout) if word_dropout else None
        self.dropout = LockedDropout(dropout) if locked else Dropout(dropout)

    def reset_parameters(self) -> None:
        """Draw new vectors with standard deviation size^−½, so that their length is about 1."""
        nn.init.normal_(self.table.weight, std=self.size**-0.5)
        nn.init.zeros_(self.table.weight[0].detach())
        if self.output_table is not None:
            nn.init.normal_(self.output_table, std=self.size**-0.5)

    @property
    def output_weight(self) -> Tensor:
        """The weight (V, size) of the output layer: its product with a feature vector gives the logits."""
        return self.table.weight if self.output_table is None else self.output_table

    def forward(self, tokens: Tensor) -> Tensor:
        """The vector of each token."""
        vectors = self.table(tokens)
        if self.word_dropout is not None:
            vectors = self.word_dropout(vectors, tokens, self.table.num_embeddings)
        return self.dropout(vectors)


class PositionedEmbedding(nn.Module):
    """Token embeddings scaled by √size plus positions of the same size (Vaswani et al., 2017, sec. 3.4)."""

    def __init__(
        self,
        vocabulary_size: int,
        positions: Positions,
        *,
        dropout: float = 0.0,
        tied: bool = True,
        word_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.size = positions.size
        self.tokens = TokenEmbedding(vocabulary_size, self.size, tied=tied, word_dropout=word_dropout)
        self.positions = positions
        self.dropout = Dropout(dropout)

    def forward(self, tokens: Tensor, at: Tensor) -> Tensor:
        """Tokens (B, T) at positions (T,) or (B, T) -> (B, T, size)."""
        return self.add_positions(tokens, self.positions(at))

    def embed_padded(self, tokens: Tensor, valid: Tensor) -> Tensor:
        """Whole sequences (B, T), whose positions count real tokens from 0, on whichever side the padding is."""
        return self.add_positions(tokens, self.positions.along(tokens, valid))

    def add_positions(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Embedded tokens plus position vectors that broadcast to (B, T, size)."""
        vectors = self.tokens(tokens) * math.sqrt(self.size)
        return self.dropout(vectors + positions.to(vectors.dtype))
