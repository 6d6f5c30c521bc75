"""Interfaces of encoders, decoders and many-to-one models. Any encoder can be combined with any decoder."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

import torch
from torch import Tensor, nn

from atento.attention.weights import AttentionCall, weights_of
from atento.layers.losses import Loss
from atento.recurrent.unroll import map_state

# Axes: B batch, N source time, T target time, V vocabulary, D size, L layers, H heads.

State = TypeVar("State", bound=tuple[Any, ...])

NOT_COPIED = -1  # in the place of a target token


class Encoded(NamedTuple):
    """The output of an encoder."""

    states: Tensor  # (B, N, D) one state for each token
    valid: Tensor  # (B, N) True at real tokens, False at padding
    summary: Tensor  # (B, D) the whole source as one vector
    copied: Tensor | None = None  # (B, N) the target token that each token may be copied as, or NOT_COPIED; None: none


class DecoderStep(NamedTuple, Generic[State]):
    """The output of one decoding step."""

    logits: Tensor  # (B, V) of the next token
    state: State


class Encoder(nn.Module, ABC):
    """Maps a batch of sources to `Encoded`, whose states have `size` features."""

    size: int

    @abstractmethod
    def encode(self, tokens: Tensor, valid: Tensor) -> Encoded:
        """Encode sources: tokens (B, N), valid (B, N)."""


class IncrementalDecoder(Protocol[State]):
    """The part of a decoder that a search needs: a first state, and one step at a time."""

    def start(self, encoded: Encoded) -> State:
        """The state before the first token."""

    def step(self, token: Tensor, state: State) -> DecoderStep[State]:
        """Read one token (B,) and return the logits of the next one."""


@runtime_checkable
class Resumes(Protocol[State]):
    """A decoder that can go on from a state over several known tokens in one pass."""

    def resume(self, previous: Tensor, state: State) -> tuple[Tensor, State]:
        """Features (B, T, D) of more known tokens (B, T) from a given state, and the state after them."""


class SearchSteps(ABC):
    """A decoder under way in a search: one token after another, for rows that may be dropped or reordered."""

    @abstractmethod
    def step(self, token: Tensor) -> Tensor:
        """Read the last token of each row (R,); the logits (R, V) of the next one."""

    @abstractmethod
    def keep(self, rows: Tensor) -> None:
        """Go on with these rows (R',): those of a source together, sources in their order, each once."""


class StateSteps(SearchSteps):
    """The steps of any decoder, by its own state; each source has as many rows as there are copies.

    What no step has changed, such as the keys of attention, is alike in all rows of a source: on a CPU it stays where
    it is until a source leaves.
    """

    def __init__(self, decoder: IncrementalDecoder[Any], encoded: Encoded, *, copies: int) -> None:
        device = encoded.valid.device
        self.decoder, self.state = decoder, decoder.start(encoded)
        self.sources = torch.arange(len(encoded.valid), device=device).repeat_interleave(copies)  # (R,)
        if copies > 1:
            self.state = reorder(self.state, self.sources)
        self.unchanged = versions(self.state)

    def step(self, token: Tensor) -> Tensor:
        """A step of the decoder."""
        logits, self.state = self.decoder.step(token, self.state)
        return logits

    def keep(self, rows: Tensor) -> None:
        """A state of these rows."""
        sources = self.sources[rows]
        stay = sources.is_cpu and torch.equal(sources, self.sources)
        changed: list[Tensor] = []

        def select(part: Tensor) -> Tensor:
            known, version = self.unchanged.get(id(part), (None, 0))
            if known is part and version == part._version:
                return part if stay else part.index_select(0, rows)
            changed.append(part.index_select(0, rows))
            return changed[-1]

        self.state, self.sources = map_state(select, self.state), sources
        self.unchanged = versions(self.state)
        for part in changed:
            del self.unchanged[id(part)]


def versions(state: Any) -> dict[int, tuple[Tensor, int]]:
    """Every tensor of a nested state with the number of its changes in place, by its identity."""
    found: dict[int, tuple[Tensor, int]] = {}
    map_state(lambda part: found.update({id(part): (part, part._version)}), state)
    return found


class Decoder(nn.Module, ABC, Generic[State]):
    """Predicts a target token by token (`start`, `step`), or all steps of a known target in parallel (`features`).

    A state is nested tuples of tensors whose first axis is the batch; a key–value cache is a state.
    """

    attends: bool  # whether there are attention weights
    feeds_context: ClassVar[bool] = True  # whether the context of a step enters the steps after it
    is_recurrent: bool  # whether steps are sequential even where the target is known

    @abstractmethod
    def start(self, encoded: Encoded) -> State:
        """The state before the first token."""

    @abstractmethod
    def step(self, token: Tensor, state: State) -> DecoderStep[State]:
        """Read one token (B,) and return the logits of the next one."""

    def steps(self, encoded: Encoded, *, room: int, copies: int = 1) -> SearchSteps:
        """Its steps in a search of at most `room` tokens, with so many rows for each source."""
        return StateSteps(self, encoded, copies=copies)

    @abstractmethod
    def features(self, previous: Tensor, encoded: Encoded) -> Tensor:
        """Features (B, T, D) of all steps of a known target (B, T), given shifted right; `to_logits` reads them."""

    def real_features(self, previous: Tensor, valid: Tensor, encoded: Encoded) -> Tensor:
        """Features (M, D) of the real steps of a known target alone, row by row: previous and valid (B, T)."""
        return self.features(previous, encoded)[valid]

    @abstractmethod
    def to_logits(self, features: Tensor) -> Tensor:
        """Features (..., D) -> logits (..., V)."""

    @abstractmethod
    def attention_calls(
        self, previous: Tensor, encoded: Encoded, *, layers: slice = slice(None)
    ) -> Iterator[AttentionCall]:
        """The attention over the source of the selected layers, on a known target; empty without attention."""

    def weights(
        self,
        previous: Tensor,
        encoded: Encoded,
        *,
        layers: slice = slice(None),
        heads: slice = slice(None),
        rows: slice = slice(None),
    ) -> Tensor:
        """Attention weights (B, L, H, T, N) of a known target over the source, for the selected layers, heads and rows.

        They are recomputed apart from the fast path of `features`.
        """
        if not self.attends:
            steps = len(range(previous.size(1))[rows])
            return encoded.states.new_zeros(len(previous), 0, 0, steps, encoded.valid.size(1))
        return weights_of(self.attention_calls(previous, encoded, layers=layers), heads=heads, rows=rows)

    def forward(self, previous: Tensor, encoded: Encoded) -> Tensor:
        """Logits (B, T, V) of all steps of a known target."""
        return self.to_logits(self.features(previous, encoded))


class BatchWithTruth(Protocol):
    """A batch of a many-to-one model: its sources, and what is true of each."""

    @property
    def truth(self) -> Tensor:
        """As the head wants it, with a leading axis (B,)."""

    def _replace(self, *, truth: Tensor = ...) -> Self: ...


Batch = TypeVar("Batch", bound=BatchWithTruth)


class Judge(nn.Module, ABC, Generic[Batch]):
    """A many-to-one model: a batch of sources -> outputs (B, width), one row per source."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many outputs a source has."""

    @abstractmethod
    def forward(self, batch: Batch) -> Tensor:
        """Outputs (B, width)."""

    @abstractmethod
    def loss(self, batch: Batch, *, smoothing: float = 0.0) -> Loss:
        """The loss of the outputs against the batch's truth."""


def reorder(state: Any, rows: Tensor) -> Any:
    """The same nested state with the selected batch rows (R,), as beam search and finished rows require."""
    return map_state(lambda part: part.index_select(0, rows), state)
