"""What holds encoders, decoders and searches together. Any encoder goes with any decoder."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from torch import Tensor, nn

from atento.attention.weights import Look, weights_of

# Axes: B batch, N source time, T target time, V vocabulary, D size, L layers, H heads.

State = TypeVar("State", bound=tuple[Any, ...])


class Encoded(NamedTuple):
    """A source, read."""

    states: Tensor  # (B, N, D) one for each token
    valid: Tensor  # (B, N) True: a real token
    summary: Tensor  # (B, D) the whole source in one vector


class Step(NamedTuple, Generic[State]):
    """One step of a decoder."""

    logits: Tensor  # (B, V) of the next token
    state: State


class Encoder(nn.Module, ABC):
    """tokens (B, N) -> Encoded, of width `size`."""

    size: int

    @abstractmethod
    def encode(self, tokens: Tensor, valid: Tensor) -> Encoded:
        """Read a batch of sources; valid (B, N)."""


class Writer(Protocol[State]):
    """What a search sees: a state before the first token, and what comes after each."""

    def start(self, encoded: Encoded) -> State:
        """The state before the first token."""

    def step(self, token: Tensor, state: State) -> Step[State]:
        """After this token (B,), what comes next?"""


class Decoder(nn.Module, ABC, Generic[State]):
    """Writes a target, one token at a time (`start`, `step`) or all at once when it is known (`features`).

    A state is nested tuples of tensors whose first axis is the batch; a cache is a state.
    """

    attends: bool  # whether there are weights to look at
    looks_carry: ClassVar[bool] = True  # whether what a step looks at may move the steps after it
    recurs: ClassVar[bool]  # whether a step waits for the one before, also where the target is known

    @abstractmethod
    def start(self, encoded: Encoded) -> State:
        """The state before the first token."""

    @abstractmethod
    def step(self, token: Tensor, state: State) -> Step[State]:
        """After this token (B,), what comes next?"""

    @abstractmethod
    def features(self, previous: Tensor, encoded: Encoded) -> Tensor:
        """All steps of a known target (B, T) at once: (B, T, D), what `to_logits` reads."""

    @abstractmethod
    def to_logits(self, features: Tensor) -> Tensor:
        """(..., D) -> (..., V)."""

    @abstractmethod
    def looks(self, previous: Tensor, encoded: Encoded, *, layers: slice = slice(None)) -> Iterator[Look]:
        """What the asked layers asked of the source in a pass over a known target; none where nothing attends."""

    def weights(
        self,
        previous: Tensor,
        encoded: Encoded,
        *,
        layers: slice = slice(None),
        heads: slice = slice(None),
        rows: slice = slice(None),
    ) -> Tensor:
        """Where the steps of a known target looked: (B, L, H, T, N), only what is asked, beside the fast path."""
        if not self.attends:
            steps = len(range(previous.size(1))[rows])
            return encoded.states.new_zeros(len(previous), 0, 0, steps, encoded.valid.size(1))
        return weights_of(self.looks(previous, encoded, layers=layers), heads=heads, rows=rows)

    def forward(self, previous: Tensor, encoded: Encoded) -> Tensor:
        """Logits (B, T, V) of all steps of a known target."""
        return self.to_logits(self.features(previous, encoded))


def reorder(state: Any, rows: Tensor) -> Any:
    """The same nested state with its batch rows picked (R,): a beam moves, finished rows leave."""
    if isinstance(state, Tensor):
        return state.index_select(0, rows)
    if isinstance(state, tuple):
        parts = [reorder(part, rows) for part in state]
        return type(state)(*parts) if hasattr(state, "_fields") else tuple(parts)
    return state
