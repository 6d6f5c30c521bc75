"""Two sequences, judged together: each read by itself (two towers), or each with an eye on the other.

A Transformer that reads two sequences as one: every token may look at every other, whichever side it stands on.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.blocks.pooling import AttentionPooling, Pooling
from atento.blocks.transformer import TransformerStack
from atento.errors import InputError
from atento.layers.embeddings import PlacedEmbedding
from atento.layers.losses import Loss
from atento.layers.masking import clean, masked_mean
from atento.models.backbones.recurrent import RecurrentEncoder
from atento.models.heads import Head
from atento.models.protocols import Encoded, Encoder
from atento.models.summaries import largest_values
from atento.recurrent.stack import Stack

# Axes: B batch, T items of the first sequence, N of the second, D size, C labels, L layers, H heads.

ECHOES = ("padding", "only here", "alike there", "the same there")  # what the other sequence has of a token


class MatchBatch(NamedTuple):
    """Pairs of sequences and what is true of each. An echo says what the other sequence has of a token: ECHOES."""

    first: Tensor  # (B, T) tokens
    first_valid: Tensor  # (B, T)
    first_echo: Tensor  # (B, T)
    second: Tensor  # (B, N) tokens
    second_valid: Tensor  # (B, N)
    second_echo: Tensor  # (B, N)
    truth: Tensor  # as the head wants it, with a leading axis (B,)

    def swapped(self) -> "MatchBatch":
        """The second sequence first."""
        return MatchBatch(*self[3:6], *self[0:3], self.truth)


class Both(NamedTuple):
    """The two sequences, each in one vector."""

    first: Tensor  # (B, D)
    second: Tensor  # (B, D)


class Verdict(nn.Module):
    """What two vectors say together: the head judges ReLU(W [u; v; |u − v|; u ∗ v] + b)
    (Conneau et al., 2017, fig. 1).
    """

    def __init__(self, size: int, head: Head, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.together = nn.Linear(4 * size, head.size)
        self.head = head
        self.dropout = nn.Dropout(dropout)

    def forward(self, both: Both) -> Tensor:
        """Outputs (B, C) of the head."""
        first, second = both
        pair = torch.cat([first, second, (first - second).abs(), first * second], dim=-1)  # (B, 4 D)
        outputs: Tensor = self.head(self.dropout(torch.relu(self.together(self.dropout(pair)))))
        return outputs


class Matcher(nn.Module, ABC):
    """Leaves say how two sequences become two vectors, and what looked at what."""

    attends: bool  # whether the second sequence looks at the first

    def __init__(self, verdict: Verdict) -> None:
        super().__init__()
        self.verdict = verdict

    @property
    def head(self) -> Head:
        """What judges in the end."""
        return self.verdict.head

    @abstractmethod
    def sum_up(self, batch: MatchBatch) -> Both:
        """Each sequence in one vector."""

    @abstractmethod
    def weights(self, batch: MatchBatch) -> Tensor:
        """How much each token of the second sequence looked at each of the first: (B, L, H, N, T)."""

    def forward(self, batch: MatchBatch) -> Tensor:
        """Outputs (B, C) of the head, one row a pair."""
        outputs: Tensor = self.verdict(self.sum_up(batch))
        return outputs

    def loss(self, batch: MatchBatch, *, smoothing: float = 0.0) -> Loss:
        """How wrong the head is on each pair."""
        return self.head.loss(self(batch), batch.truth, smoothing=smoothing)


class TwoTowers(Matcher):
    """One encoder reads each sequence by itself; its summary, or a pooling of its states, stands for it."""

    attends = False

    def __init__(self, encoder: Encoder, verdict: Verdict, *, pooling: Pooling | None = None) -> None:
        super().__init__(verdict)
        self.encoder, self.pooling = encoder, pooling

    def sum_up(self, batch: MatchBatch) -> Both:
        """The same weights read both."""
        return Both(
            self.tower(self.encoder.encode(batch.first, batch.first_valid)),
            self.tower(self.encoder.encode(batch.second, batch.second_valid)),
        )

    def tower(self, encoded: Encoded) -> Tensor:
        """A sequence in one vector (B, D)."""
        if self.pooling is None:
            return encoded.summary
        summed: Tensor = self.pooling(encoded.states, valid=encoded.valid)
        return summed

    def weights(self, batch: MatchBatch) -> Tensor:
        """None: neither tower sees the other."""
        return batch.first_valid.new_zeros(len(batch.first), 0, 0, batch.second.size(1), batch.first.size(1)).float()

    def taken(self, tokens: Tensor, valid: Tensor) -> Tensor:
        """How much of each token (B, T) a tower that pools by attention took."""
        if not isinstance(self.pooling, AttentionPooling):
            raise InputError(
                "these towers have no attention weights: they do not pool by attention.",
                found=f"pooling={type(self.pooling).__name__}",
                fix="name a score, e.g. lstm+additive, or let the texts look at each other: lstm+dot+co",
            )
        encoded = self.encoder.encode(tokens, valid)
        return self.pooling.weights(encoded.states, valid=encoded.valid)


class CoMatcher(Matcher):
    """Each token looks at the other sequence and is compared with what it finds there.

    States s of a walk over vectors that also tell each token's echo; c = A(s, S', S') of the other sequence; compared
    as m = ReLU(W [s; c; s − c; s ∗ c] + b) (Chen et al., 2017, eq. 11–15, with any attention), walked once more, and
    pooled as [mean; max] (eq. 18).
    """

    attends = True

    def __init__(
        self, encoder: RecurrentEncoder, attention: Attention, after: Stack, verdict: Verdict, *, dropout: float = 0.0
    ) -> None:
        super().__init__(verdict)
        self.encoder, self.attention, self.after = encoder, attention, after
        self.echo = echo_table(encoder.embedding.size)
        self.compare = nn.Linear(4 * encoder.size, encoder.size)
        self.dropout = nn.Dropout(dropout)

    def sum_up(self, batch: MatchBatch) -> Both:
        """Both look at the other as it was read, before it looked itself."""
        first = self.read(batch.first, batch.first_valid, batch.first_echo)
        second = self.read(batch.second, batch.second_valid, batch.second_echo)
        return Both(
            self.look_over(first, second, batch.first_valid, batch.second_valid),
            self.look_over(second, first, batch.second_valid, batch.first_valid),
        )

    def read(self, tokens: Tensor, valid: Tensor, echo: Tensor) -> Tensor:
        """States (B, T, D) of one sequence."""
        vectors = self.encoder.embedding(tokens) + self.echo(echo)
        states: Tensor = self.encoder.dropout(self.encoder.stack(vectors, valid=valid).outputs)
        return states

    def look_over(self, own: Tensor, other: Tensor, valid: Tensor, other_valid: Tensor) -> Tensor:
        """One sequence compared with the other, summed up: (B, 2 D)."""
        found = self.attention(own, other, other, valid=other_valid)  # (B, T, D)
        compared = torch.relu(self.compare(torch.cat([own, found, own - found, own * found], dim=-1)))
        walked = self.after(self.dropout(clean(compared, valid)), valid=valid).outputs
        return torch.cat([masked_mean(walked, valid), largest_values(walked, valid)], dim=-1)

    def weights(self, batch: MatchBatch) -> Tensor:
        """One layer of one head."""
        first = self.read(batch.first, batch.first_valid, batch.first_echo)
        second = self.read(batch.second, batch.second_valid, batch.second_echo)
        looked = self.attention.weights(second, first, valid=batch.first_valid)
        return clean(looked, batch.second_valid)[:, None, None]


def echo_table(size: int) -> nn.Embedding:
    """A learned vector for each echo, as long as a token's; padding has none."""
    table = nn.Embedding(len(ECHOES), size, padding_idx=0)
    nn.init.normal_(table.weight, std=size**-0.5)
    nn.init.zeros_(table.weight[0].detach())
    return table


def as_matcher(module: nn.Module) -> Matcher:
    """The module, typed."""
    if not isinstance(module, Matcher):
        raise TypeError(f"match works with a Matcher, not {type(module).__name__}")
    return module


# Axes: B batch, T items of the first sequence, N of the second, M = T + N of both, D size, L layers, H heads.

SIDES = 2


class Joined(NamedTuple):
    """Both sequences in one, the real tokens first."""

    values: Tensor  # (B, M, D) tokens, places, sides and echoes
    valid: Tensor  # (B, M)
    side: Tensor  # (B, M) 0: of the first sequence, 1: of the second
    home: Tensor  # (B, M) where the tokens of the two padded sequences, side by side, stand now


class JointMatcher(Matcher):
    """Tokens of both sequences with vectors of their side (Devlin et al., 2019, fig. 2) and of their echo, passed
    through the layers together; then each side is pooled as [mean; max]. Places count from 0 on each side.
    """

    attends = True

    def __init__(self, embedding: PlacedEmbedding, stack: TransformerStack, verdict: Verdict) -> None:
        super().__init__(verdict)
        self.embedding, self.stack = embedding, stack
        self.side = nn.Embedding(SIDES, embedding.size)
        self.echo = nn.Embedding(len(ECHOES), embedding.size)

    def sum_up(self, batch: MatchBatch) -> Both:
        """One pass for both."""
        joined = self.join(batch)
        states = self.stack(joined.values, valid=joined.valid)
        sides = [joined.valid & (joined.side == side) for side in range(SIDES)]
        return Both(*(torch.cat([masked_mean(states, one), largest_values(states, one)], dim=-1) for one in sides))

    def join(self, batch: MatchBatch) -> Joined:
        """Side by side, then the padding of both moved to the right: its amount may not part the two."""
        tokens = torch.cat([batch.first, batch.second], dim=1)
        valid = torch.cat([batch.first_valid, batch.second_valid], dim=1)
        echo = torch.cat([batch.first_echo, batch.second_echo], dim=1)
        side = torch.ones_like(tokens)
        side[:, : batch.first.size(1)] = 0
        place = torch.cat([counted(batch.first_valid), counted(batch.second_valid)], dim=1)
        order = (~valid).to(torch.uint8).argsort(dim=1, stable=True)
        tokens, valid, echo, side, place = (part.gather(1, order) for part in (tokens, valid, echo, side, place))
        places = self.embedding.positions(torch.arange(tokens.size(1), device=tokens.device))[place]  # (B, M, D)
        values = self.embedding.place(tokens, places + self.side(side) + self.echo(echo))
        return Joined(values, valid, side, order.argsort(dim=1))

    def weights(self, batch: MatchBatch) -> Tensor:
        """Of every layer and head; what a token takes from its own side is not in it, so rows sum to less than 1."""
        joined = self.join(batch)
        every = self.stack.weights(joined.values, valid=joined.valid)  # (B, L, H, M, M)
        first, second = torch.split(joined.home, [batch.first.size(1), batch.second.size(1)], dim=1)
        rows = every.take_along_dim(second[:, None, None, :, None], dim=3)
        looked = rows.take_along_dim(first[:, None, None, None, :], dim=4)  # (B, L, H, N, T)
        return looked.masked_fill(~batch.second_valid[:, None, None, :, None], 0.0)


def counted(valid: Tensor) -> Tensor:
    """The places (B, T) of real tokens from 0, whatever the side of the padding."""
    return (valid.cumsum(dim=-1) - 1).clamp(min=0)
