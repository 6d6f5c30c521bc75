"""Matchers of two sequences: each encoded alone (two towers), co-attention between them, or one joint Transformer."""

from abc import abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.attention.distributions.hard import recorded_draws, score_function_loss
from atento.blocks.pooling import Pooling
from atento.blocks.transformer_stack import TransformerStack
from atento.layers.dropout import Dropout
from atento.layers.embeddings import PositionedEmbedding
from atento.layers.losses import Loss
from atento.layers.masking import clean, valid_first, valid_positions
from atento.layers.products import Linear
from atento.models.backbones.recurrent import RecurrentEncoder
from atento.models.classifier import pooling_weights
from atento.models.heads import Head
from atento.models.protocols import Batch, Encoder, Judge
from atento.models.summaries import mean_and_max, pooled
from atento.recurrent.stack import Stack

# Axes: B batch, T items of the first sequence, N of the second, M = T + N of both, D size, C labels, L layers, H heads.

OVERLAPS = ("padding", "only here", "alike there", "the same there")  # how a token occurs in the other sequence
SIDES = 2


class PairVectors(NamedTuple):
    """The two sides of each pair, each as one vector."""

    first: Tensor  # (B, D)
    second: Tensor  # (B, D)


class PairHead(nn.Module):
    """A head over ReLU(W [u; v; |u − v|; u ∗ v] + b) of the two vectors of a pair (Conneau et al., 2017, fig. 1)."""

    def __init__(self, size: int, head: Head, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.together = Linear(4 * size, head.size)
        self.head = head
        self.dropout = Dropout(dropout)

    def forward(self, vectors: PairVectors) -> Tensor:
        """Outputs (B, C) of the head."""
        first, second = vectors
        pair = torch.cat([first, second, (first - second).abs(), first * second], dim=-1)  # (B, 4 D)
        return self.head(self.dropout(torch.relu(self.together(self.dropout(pair)))))


class MatchBatch(NamedTuple):
    """Pairs of sequences and the truth of each. Overlap features are indices into `OVERLAPS`."""

    first: Tensor  # (B, T) tokens
    first_valid: Tensor  # (B, T)
    first_overlap: Tensor  # (B, T)
    second: Tensor  # (B, N) tokens
    second_valid: Tensor  # (B, N)
    second_overlap: Tensor  # (B, N)
    truth: Tensor  # as the head takes it, with a leading axis (B,)

    def swapped(self) -> "MatchBatch":
        """The same pairs with first and second sequence exchanged."""
        return MatchBatch(*self[3:6], *self[0:3], self.truth)


class Matcher(Judge[MatchBatch]):
    """A model of pairs of sequences. Subclasses define how the two sequences become two vectors."""

    attends: bool  # whether the second sequence attends to the first

    def __init__(self, pair_head: PairHead) -> None:
        super().__init__()
        self.pair_head = pair_head

    @property
    def head(self) -> Head:
        """The head inside `pair_head`."""
        return self.pair_head.head

    @property
    def width(self) -> int:
        """The outputs of the head."""
        return self.head.width

    @abstractmethod
    def pair_vectors(self, batch: MatchBatch) -> PairVectors:
        """Both sequences of each pair, each as one vector."""

    def forward(self, batch: MatchBatch) -> Tensor:
        """Outputs (B, C) of the head, one row for each pair."""
        return self.pair_head(self.pair_vectors(batch))

    @abstractmethod
    def weights(self, batch: MatchBatch) -> Tensor:
        """Attention weights (B, L, H, N, T) from each token of the second sequence to each of the first."""

    def loss(self, batch: MatchBatch, *, smoothing: float = 0.0) -> Loss:
        """The head's loss on each pair."""
        return loss_with_draws(self, self.head, batch, smoothing=smoothing)


def loss_with_draws(module: Judge[Batch], head: Head, batch: Batch, *, smoothing: float) -> Loss:
    """The head's loss of a model of pairs. Where keys were drawn, its gradient also moves their probabilities: a draw
    is worth how much less its pair costs than the others of the batch.
    """
    with recorded_draws() as draws:
        outputs = module(batch)
    loss = head.loss(outputs, batch.truth, smoothing=smoothing)
    if not draws:
        return loss
    rows = zip(torch.split(outputs.detach(), 1), torch.split(batch.truth, 1), strict=True)
    costs = torch.stack([head.loss(output, true).total for output, true in rows])  # (B,)
    expected = (costs.sum() - costs) / max(1, len(costs) - 1)
    worth = expected - costs
    estimates = [score_function_loss(draw, worth.view(-1, *[1] * (draw.dim() - 1))) for draw in draws]
    surplus = torch.stack(estimates).sum()
    return loss._replace(total=loss.total + surplus - surplus.detach())  # a gradient, not a cost


class TwoTowers(Matcher):
    """One encoder for both sequences, each encoded alone; its summary, or a pooling of its states, is the vector."""

    attends = False

    def __init__(self, encoder: Encoder, pair_head: PairHead, *, pooling: Pooling | None = None) -> None:
        super().__init__(pair_head)
        self.encoder, self.pooling = encoder, pooling

    def pair_vectors(self, batch: MatchBatch) -> PairVectors:
        """Both sequences by the same weights."""
        return PairVectors(
            pooled(self.encoder.encode(batch.first, batch.first_valid), self.pooling),
            pooled(self.encoder.encode(batch.second, batch.second_valid), self.pooling),
        )

    def weights(self, batch: MatchBatch) -> Tensor:
        """No layers: neither tower attends to the other."""
        return batch.first_valid.new_zeros(len(batch.first), 0, 0, batch.second.size(1), batch.first.size(1)).float()

    def pooling_weights(self, tokens: Tensor, valid: Tensor) -> Tensor:
        """The weight (B, T) of each token of one sequence in the attention pooling."""
        return pooling_weights(self.pooling, self.encoder.encode(tokens, valid))


class CoAttentionMatcher(Matcher):
    """Co-attention: each token attends to the other sequence and is compared with its context there.

    States s of an encoder whose embeddings include the overlap feature; contexts c = A(s, S', S') over the other
    sequence; compared as m = ReLU(W [s; c; s − c; s ∗ c] + b) (Chen et al., 2017, eq. 11–15, with any attention),
    passed through the stack `after`, and pooled as [mean; max] (eq. 18).
    """

    attends = True

    def __init__(
        self,
        encoder: RecurrentEncoder,
        attention: Attention,
        after: Stack,
        pair_head: PairHead,
        *,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(pair_head)
        self.encoder, self.attention, self.after = encoder, attention, after
        self.overlap = overlap_embedding(encoder.embedding.size)
        self.compare = Linear(4 * encoder.size, encoder.size)
        self.dropout = Dropout(dropout)

    def pair_vectors(self, batch: MatchBatch) -> PairVectors:
        """Each sequence attends to the other's states."""
        first = self.read(batch.first, batch.first_valid, batch.first_overlap)
        second = self.read(batch.second, batch.second_valid, batch.second_overlap)
        return PairVectors(
            self.compare_with(first, second, batch.first_valid, batch.second_valid),
            self.compare_with(second, first, batch.second_valid, batch.first_valid),
        )

    def read(self, tokens: Tensor, valid: Tensor, overlap: Tensor) -> Tensor:
        """States (B, T, D) of one sequence."""
        vectors = self.encoder.embedding(tokens) + self.overlap(overlap)
        return self.encoder.dropout(self.encoder.stack(vectors, valid=valid).outputs)

    def compare_with(self, own: Tensor, other: Tensor, valid: Tensor, other_valid: Tensor) -> Tensor:
        """One sequence compared with the other, pooled: (B, 2 D)."""
        context = self.attention(own, other, other, valid=other_valid)  # (B, T, D)
        compared = clean(compare(self.compare, own, context), valid)
        return mean_and_max(self.after(self.dropout(compared), valid=valid).outputs, valid)

    def weights(self, batch: MatchBatch) -> Tensor:
        """One layer of one head."""
        first = self.read(batch.first, batch.first_valid, batch.first_overlap)
        second = self.read(batch.second, batch.second_valid, batch.second_overlap)
        weights = self.attention.weights(second, first, valid=batch.first_valid)
        return clean(weights, batch.second_valid)[:, None, None]


def compare(linear: nn.Module, own: Tensor, context: Tensor) -> Tensor:
    """ReLU(W [s; c; s − c; s ∗ c] + b) of states (B, T, D) and their contexts (B, T, D)."""
    return torch.relu(linear(torch.cat([own, context, own - context, own * context], dim=-1)))


def overlap_embedding(size: int) -> nn.Embedding:
    """A learned vector for each overlap feature, with the norm of a token's; padding has zeros."""
    table = nn.Embedding(len(OVERLAPS), size, padding_idx=0)
    nn.init.normal_(table.weight, std=size**-0.5)
    nn.init.zeros_(table.weight[0].detach())
    return table


class JoinedPair(NamedTuple):
    """Both sequences concatenated, real tokens first."""

    values: Tensor  # (B, M, D) sum of the embeddings of token, position, side and overlap
    valid: Tensor  # (B, M)
    side: Tensor  # (B, M) 0: of the first sequence, 1: of the second
    moved_to: Tensor  # (B, M) index in `values` of each token of [first; second]


class JointMatcher(Matcher):
    """A Transformer over both sequences as one (a cross-encoder), with embeddings of side (Devlin et al., 2019,
    fig. 2) and overlap; then each side is pooled as [mean; max]. Positions count from 0 on each side.
    """

    attends = True

    def __init__(self, embedding: PositionedEmbedding, stack: TransformerStack, pair_head: PairHead) -> None:
        super().__init__(pair_head)
        self.embedding, self.stack = embedding, stack
        self.side = nn.Embedding(SIDES, embedding.size)
        self.overlap = nn.Embedding(len(OVERLAPS), embedding.size)

    def pair_vectors(self, batch: MatchBatch) -> PairVectors:
        """One pass for both sequences."""
        joined = self.join(batch)
        states = self.stack(joined.values, valid=joined.valid)
        return PairVectors(*(mean_and_max(states, joined.valid & (joined.side == side)) for side in range(SIDES)))

    def join(self, batch: MatchBatch) -> JoinedPair:
        """[first; second] with all padding moved to the right, so that no padding stands between the two."""
        tokens = torch.cat([batch.first, batch.second], dim=1)
        valid = torch.cat([batch.first_valid, batch.second_valid], dim=1)
        overlap = torch.cat([batch.first_overlap, batch.second_overlap], dim=1)
        side = torch.ones_like(tokens)
        side[:, : batch.first.size(1)] = 0
        place = torch.cat([valid_positions(batch.first_valid), valid_positions(batch.second_valid)], dim=1)
        order = valid_first(valid)
        tokens, valid, overlap, side, place = (part.gather(1, order) for part in (tokens, valid, overlap, side, place))
        places = self.embedding.positions(torch.arange(tokens.size(1), device=tokens.device))[place]  # (B, M, D)
        values = self.embedding.add_positions(tokens, places + self.side(side) + self.overlap(overlap))
        return JoinedPair(values, valid, side, order.argsort(dim=1))

    def weights(self, batch: MatchBatch) -> Tensor:
        """Of every layer and head; weights within the second sequence are left out, so rows sum to less than 1."""
        joined = self.join(batch)
        every = self.stack.weights(joined.values, valid=joined.valid)  # (B, L, H, M, M)
        first, second = torch.split(joined.moved_to, [batch.first.size(1), batch.second.size(1)], dim=1)
        rows = every.take_along_dim(second[:, None, None, :, None], dim=3)
        across = rows.take_along_dim(first[:, None, None, None, :], dim=4)  # (B, L, H, N, T)
        return across.masked_fill(~batch.second_valid[:, None, None, :, None], 0.0)
