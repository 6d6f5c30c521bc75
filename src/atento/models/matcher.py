"""Two sequences, judged together: each read by itself (two towers), or each with an eye on the other."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.attention.attention import Attention
from atento.blocks.pooling import AttentionPooling, Pooling
from atento.errors import InputError
from atento.layers.losses import Loss
from atento.layers.padding import clean, masked_mean
from atento.models.heads import Head
from atento.models.protocols import Encoded, Encoder
from atento.models.recurrent import RecurrentEncoder
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
