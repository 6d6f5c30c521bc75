"""Language models: P(x) = ∏ P(x_t | x_<t) by a decoder without a source, and masked language models by an encoder."""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.embeddings import PositionedEmbedding, TokenEmbedding
from atento.layers.losses import Loss, at_least_float32, sampled_cross_entropy, token_cross_entropy
from atento.layers.masking import left_aligned
from atento.layers.products import linear
from atento.models.backbones.recurrent import RecurrentDecoder
from atento.models.backbones.transformer import CausalTransformer
from atento.models.protocols import Decoder, Encoded, Encoder, Resumes

# Axes: B batch, T time, V vocabulary, D size, M real (or masked) tokens of all sequences.


class TextBatch(NamedTuple):
    """Sequences as inputs and, shifted by one, as targets."""

    previous: Tensor  # (B, T) the start token, then the tokens: inputs
    target: Tensor  # (B, T) the tokens, then the end token: targets
    valid: Tensor  # (B, T) of both


class LanguageModel(nn.Module):
    """A decoder without a source; searches and sampling work on `decoder` and `empty_source`.

    While training, a target is compared with all tokens, or with so many `samples` where the vocabulary is what costs;
    probabilities are exact in either case.
    """

    def __init__(self, decoder: Decoder[Any], *, samples: int = 0) -> None:
        super().__init__()
        self.decoder, self.samples = decoder, samples

    def empty_source(self, rows: int) -> Encoded:
        """Sources without tokens for `rows` sequences, which a decoder starts from."""
        like = next(self.parameters())
        nothing = like.new_zeros(rows, 0)
        return Encoded(nothing.unsqueeze(-1), torch.zeros(rows, 0, dtype=torch.bool, device=like.device), nothing)

    def forward(self, batch: TextBatch) -> Tensor:
        """Logits (M, V) of the real tokens only, row by row; padding may stand anywhere."""
        return self.decoder.to_logits(self.features(batch))

    def features(self, batch: TextBatch) -> Tensor:
        """The features (M, D) of the real tokens only."""
        previous, valid = left_aligned(batch.previous, batch.valid)
        return self.decoder.real_features(previous, valid, self.empty_source(previous.size(0)))

    def loss(self, batch: TextBatch, *, smoothing: float = 0.0) -> Loss:
        """Minus the log-probability of each real token, given those before it."""
        return self.token_loss(self.features(batch), batch.target[batch.valid], smoothing=smoothing)

    def token_loss(self, features: Tensor, targets: Tensor, *, smoothing: float = 0.0) -> Loss:
        """The cross-entropy of targets (M,) by features (M, D); while training over samples, where there are any."""
        if not self.training or not self.samples:
            return token_cross_entropy(self.decoder.to_logits(features), targets, smoothing=smoothing)
        if smoothing:
            raise InputError(
                "label smoothing spreads over the whole vocabulary, and only samples of it are compared.",
                found=f"smoothing={smoothing}, samples={self.samples}",
                fix="leave one of them out",
            )
        if not isinstance(self.decoder, RecurrentDecoder | CausalTransformer):
            raise TypeError(f"{type(self.decoder).__name__} has no output layer to draw samples of")
        weight, bias = self.decoder.output_layer()
        return sampled_cross_entropy(features, targets, weight, bias, samples=self.samples)

    def resume(self, previous: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Features (B, T, D) of more tokens (B, T) from a given state, and the state after them."""
        if not isinstance(self.decoder, Resumes):
            raise TypeError(f"{type(self.decoder).__name__} cannot resume from a state")
        return self.decoder.resume(previous, state)

    def log_probabilities(self, batch: TextBatch) -> Tensor:
        """log P(x) (B,) of whole sequences, end token included."""
        logs = at_least_float32(self(batch)).log_softmax(dim=-1)  # (M, V)
        of_targets = logs.gather(1, batch.target[batch.valid].unsqueeze(1)).squeeze(1)
        rows = batch.valid.nonzero()[:, 0]  # (M,) the sequence of each token
        return of_targets.new_zeros(len(batch.valid)).index_add(0, rows, of_targets)


class MaskedBatch(NamedTuple):
    """Sequences of which some tokens are masked."""

    source: Tensor  # (B, N) inputs, with the mask token where a token is masked
    valid: Tensor  # (B, N)
    target: Tensor  # (B, N) the original tokens
    selected: Tensor  # (B, N) which tokens are to be predicted


class MaskedLanguageModel(nn.Module):
    """An encoder that predicts masked tokens (Devlin et al., 2019, sec. 3.1, task 1) by its own embedding (tied)."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.bias = nn.Parameter(torch.zeros(self.table.num_embeddings))

    @property
    def table(self) -> nn.Embedding:
        """The tokens' vectors."""
        embedding = self.encoder.embedding
        if isinstance(embedding, PositionedEmbedding):
            embedding = embedding.tokens
        if not isinstance(embedding, TokenEmbedding):
            raise TypeError(f"a masked language model embeds tokens; this encoder has a {type(embedding).__name__}")
        return embedding.table

    def forward(self, batch: MaskedBatch) -> Tensor:
        """Logits (M, V) of the selected tokens only, row by row."""
        states = self.encoder.encode(batch.source, batch.valid).states
        return self.to_logits(states[batch.selected & batch.valid])

    def to_logits(self, states: Tensor) -> Tensor:
        """Dot products with every token's vector, plus a bias: (..., D) -> (..., V)."""
        return linear(states, self.table.weight, self.bias)

    def loss(self, batch: MaskedBatch) -> Loss:
        """Minus the log-probability of each selected token, given all that is not masked."""
        return token_cross_entropy(self(batch), batch.target[batch.selected & batch.valid])


def mask_tokens(
    tokens: Tensor, maskable: Tensor, *, rate: float, mask: int, first: int, size: int
) -> tuple[Tensor, Tensor]:
    """Tokens (B, N) -> masked inputs and the selection (B, N) of tokens to predict.

    Maskable tokens are selected with probability `rate`, at least one of the batch. Of the selected, 8 in 10 are
    replaced by `mask`, 1 by a random token from `first` to `size` − 1, 1 stays (Devlin et al., 2019, sec. 3.1).
    """
    draws, actions, others = torch.rand(3, *tokens.shape)
    draws = draws.masked_fill(~maskable, 2.0)  # never the smallest
    selected = maskable & ((draws < rate) | (draws == draws.min()))
    random_tokens = (first + others * (size - first)).long().clamp(max=size - 1)
    masked = torch.where(actions < 0.8, torch.full_like(tokens, mask), tokens)
    masked = torch.where(actions >= 0.9, random_tokens, masked)
    return torch.where(selected, masked, tokens), selected
