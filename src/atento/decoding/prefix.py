"""A decoder that has already written something: searches go on from there."""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from atento.models.protocols import Decoder, Encoded, Step

# Axes: B batch, V vocabulary.


class PrimedState(NamedTuple):
    """What comes next, and the state to go on from."""

    logits: Tensor  # (B, V) after all that is written
    fresh: Tensor  # (B,) whether nothing was added to it yet
    inner: Any


class Primed:
    """The same decoder after a prefix: `logits` (B, V) and `state` are what reading it left. The first token a search
    gives it, its start mark, is not read.
    """

    def __init__(self, decoder: Decoder[Any], logits: Tensor, state: Any) -> None:
        self.decoder, self.logits, self.state = decoder, logits, state

    def start(self, encoded: Encoded) -> PrimedState:
        """After the prefix."""
        return PrimedState(self.logits, torch.ones_like(self.logits[:, 0], dtype=torch.bool), self.state)

    def step(self, token: Tensor, state: PrimedState) -> Step[PrimedState]:
        """The first step says what follows the prefix."""
        if state.fresh.all():
            return Step(state.logits, state._replace(fresh=~state.fresh))
        logits, inner = self.decoder.step(token, state.inner)
        return Step(logits, PrimedState(logits, state.fresh, inner))
