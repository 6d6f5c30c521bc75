"""A network that says the next word from the words before it, side by side (Bengio et al., 2003, eq. 1)."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from atento.layers.embeddings import TokenEmbedding
from atento.layers.losses import Loss, token_cross_entropy
from atento.models.skip_gram import MARKS, WordsBatch, words_before, words_first

# Axes: B batch, T time, V vocabulary, D size, M words to be foreseen.


class NextWord(nn.Module):
    """y = b + U tanh(d + H x), where x are the vectors of the `window` words before, side by side.

    All words of a text are foreseen at once. The rows of U, which read the layer before the last, are vectors of words
    too: where `tied`, they are those that x is made of (Press & Wolf, 2017).
    """

    def __init__(
        self, vocabulary_size: int, size: int, *, window: int, tied: bool = True, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.window = window
        self.embedding = TokenEmbedding(vocabulary_size, size)
        self.mix = nn.Linear(window * size, size)
        self.outputs = None if tied else TokenEmbedding(vocabulary_size, size)
        self.bias = nn.Parameter(torch.zeros(vocabulary_size))
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: WordsBatch) -> Tensor:
        """Scores (M, V) of every word in the place of each real one, row by row; padding may stand anywhere."""
        rows = words_first(batch)
        return self.foresee(rows.tokens)[rows.valid]

    def features(self, tokens: Tensor) -> Tensor:
        """The layer before the last (B, T, D), one vector for each word to be foreseen."""
        before = self.embedding(words_before(tokens, self.window)).flatten(-2)  # (B, T, window D)
        return torch.tanh(self.mix(self.dropout(before)))

    def foresee(self, tokens: Tensor) -> Tensor:
        """Logits (B, T, V) of every word as the next one."""
        return self.to_logits(self.features(tokens))

    def to_logits(self, features: Tensor) -> Tensor:
        """(..., D) -> (..., V)."""
        table = self.embedding if self.outputs is None else self.outputs
        return functional.linear(self.dropout(features), table.table.weight, self.bias)

    def loss(self, batch: WordsBatch) -> Loss:
        """Cross-entropy of every known word."""
        rows = words_first(batch)
        known = rows.valid & (rows.tokens >= MARKS)
        return token_cross_entropy(self.to_logits(self.features(rows.tokens)[known]), rows.tokens[known])
