"""Masked language models: an encoder reads both sides of what is hidden and says what stands there."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.layers.embeddings import PlacedEmbedding, TokenEmbedding
from atento.layers.losses import Loss, token_cross_entropy
from atento.models.protocols import Encoder

# Axes: B batch, N time, V vocabulary, D size, M judged tokens of all sequences.


class MaskedBatch(NamedTuple):
    """Sequences of which some tokens are hidden."""

    source: Tensor  # (B, N) what is read, a mask where a token is hidden
    valid: Tensor  # (B, N)
    target: Tensor  # (B, N) what stands there
    judged: Tensor  # (B, N) where the model is asked


class MaskedModel(nn.Module):
    """An encoder alone (Devlin et al., 2019, sec. 3.1, task 1); its embedding also predicts (tied weights)."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.bias = nn.Parameter(torch.zeros(self.table.num_embeddings))

    @property
    def table(self) -> nn.Embedding:
        """The tokens' vectors."""
        embedding = self.encoder.embedding
        if isinstance(embedding, PlacedEmbedding):
            embedding = embedding.tokens
        if not isinstance(embedding, TokenEmbedding):
            raise TypeError(f"a masked model reads tokens, not {type(embedding).__name__}")
        return embedding.table

    def forward(self, batch: MaskedBatch) -> Tensor:
        """Logits (M, V) of the judged tokens only, row by row."""
        states = self.encoder.encode(batch.source, batch.valid).states
        return self.to_logits(states[batch.judged & batch.valid])

    def to_logits(self, states: Tensor) -> Tensor:
        """Compare with every token's own vector: (..., D) -> (..., V)."""
        return nn.functional.linear(states, self.table.weight, self.bias)

    def loss(self, batch: MaskedBatch) -> Loss:
        """Minus the log-probability of each judged token, given all that is not hidden."""
        return token_cross_entropy(self(batch), batch.target[batch.judged & batch.valid])


def hide(tokens: Tensor, may: Tensor, *, share: float, mask: int, first: int, size: int) -> tuple[Tensor, Tensor]:
    """Tokens (B, N) -> what is read and what is judged: of the judged share 8 in 10 give way to the mask, 1 to any
    token from `first` to `size`, 1 stays as it is (Devlin et al., 2019, sec. 3.1). Where `may` (B, N) allows any, one
    at least is judged.
    """
    coins, ways, others = torch.rand(3, *tokens.shape)
    coins = coins.masked_fill(~may, 2.0)  # never the least
    judged = may & ((coins < share) | (coins == coins.min()))
    anything = (first + others * (size - first)).long().clamp(max=size - 1)
    read = torch.where(ways < 0.8, torch.full_like(tokens, mask), tokens)
    read = torch.where(ways >= 0.9, anything, read)
    return torch.where(judged, read, tokens), judged
