"""A Transformer that reads two sequences as one: every token may look at every other, whichever side it stands on."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.blocks.stack import TransformerStack
from atento.layers.embeddings import PlacedEmbedding
from atento.layers.padding import masked_mean
from atento.models.matcher import ECHOES, Both, MatchBatch, Matcher, Verdict
from atento.models.summaries import largest_values

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
