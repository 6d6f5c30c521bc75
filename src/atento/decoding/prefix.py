"""Decoding from a prefix: a decoder that has already read some tokens, as any search sees it."""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from atento.models.protocols import DecoderStep, Encoded, IncrementalDecoder

# Axes: B batch, V vocabulary.


class PrefixedState(NamedTuple):
    """The logits of the next token, and the decoder's own state."""

    logits: Tensor  # (B, V)
    fresh: Tensor  # (B,) True until the first step
    inner: Any


class PrefixedDecoder:
    """The same decoder after a prefix, given the logits (B, V) and the state that reading it left.

    The start token that a search passes first is not read.
    """

    def __init__(self, decoder: IncrementalDecoder[Any], logits: Tensor, state: Any) -> None:
        self.decoder, self.logits, self.state = decoder, logits, state

    def start(self, encoded: Encoded) -> PrefixedState:
        """The state after the prefix."""
        return PrefixedState(self.logits, torch.ones_like(self.logits[:, 0], dtype=torch.bool), self.state)

    def step(self, token: Tensor, state: PrefixedState) -> DecoderStep[PrefixedState]:
        """The logits after the prefix at the first step; afterwards a step of the decoder."""
        if state.fresh.all():
            return DecoderStep(state.logits, state._replace(fresh=~state.fresh))
        logits, inner = self.decoder.step(token, state.inner)
        return DecoderStep(logits, PrefixedState(logits, state.fresh, inner))
