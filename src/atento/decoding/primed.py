"""A decoder that has already written something: searches go on from there."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from atento.attention.looks import Look
from atento.models.protocols import Decoder, Encoded, Step

# Axes: B batch, V vocabulary.


class PrimedState(NamedTuple):
    """What comes next, and the state to go on from."""

    logits: Tensor  # (B, V) after all that is written
    fresh: Tensor  # (B,) whether nothing was added to it yet
    inner: Any


class Primed(Decoder[PrimedState]):
    """The same decoder after a prefix: `logits` (B, V) and `state` are what reading it left. The first token a search
    gives it, its start mark, is not read.
    """

    def __init__(self, decoder: Decoder[Any], logits: Tensor, state: Any) -> None:
        super().__init__()
        self.decoder, self.logits, self.state = decoder, logits, state
        self.attends = False
        self.recurs = True  # type: ignore[misc]

    def start(self, encoded: Encoded) -> PrimedState:
        """After the prefix."""
        return PrimedState(self.logits, torch.ones_like(self.logits[:, 0], dtype=torch.bool), self.state)

    def step(self, token: Tensor, state: PrimedState) -> Step[PrimedState]:
        """The first step says what follows the prefix."""
        if state.fresh.all():
            return Step(state.logits, state._replace(fresh=~state.fresh))
        logits, inner = self.decoder.step(token, state.inner)
        return Step(logits, PrimedState(logits, state.fresh, inner))

    def features(self, previous: Tensor, encoded: Encoded) -> Tensor:
        """A primed decoder goes step by step."""
        raise NotImplementedError

    def to_logits(self, features: Tensor) -> Tensor:
        """As the decoder itself."""
        return self.decoder.to_logits(features)

    def looks(self, previous: Tensor, encoded: Encoded, *, layers: slice = slice(None)) -> Iterator[Look]:
        """There is nothing to look at."""
        return iter(())
