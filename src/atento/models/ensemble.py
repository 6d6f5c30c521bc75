"""An ensemble of encoder–decoder models as one model: P(y_t) is the mean of what the members say, so that a search goes
over the mean.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

import torch
from torch import Tensor, nn

from atento.attention.weights import AttentionCall
from atento.errors import InputError
from atento.layers.losses import at_least_float32
from atento.models.protocols import Decoder, DecoderStep, Encoded, Encoder
from atento.models.translator import Translator

# Axes: B batch, N source time, T target time, V vocabulary, D size, M members.


class EnsembleEncoder(Encoder):
    """The states and summaries of all members, side by side: its size is the sum of theirs."""

    def __init__(self, members: Sequence[Encoder]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)
        self.size = sum(member.size for member in members)

    def encode(self, tokens: Tensor, valid: Tensor) -> Encoded:
        """Each member reads the source."""
        found = [member.encode(tokens, valid) for member in self.members]  # type: ignore[operator]
        states, summaries = ([getattr(one, part) for one in found] for part in ("states", "summary"))
        return Encoded(torch.cat(states, dim=-1), found[0].valid, torch.cat(summaries, dim=-1))


class EnsembleDecoder(Decoder[tuple[Any, ...]]):
    """Each member reads its own part of the source's states; logits are ln (1 / M) Σ softmax(logits of a member)."""

    is_recurrent = True

    def __init__(self, members: Sequence[Decoder[Any]], source_sizes: Sequence[int]) -> None:
        super().__init__()
        self.members, self.source_sizes = nn.ModuleList(members), list(source_sizes)
        self.attends = all(member.attends for member in members)

    def each(self) -> list[Decoder[Any]]:
        """The members."""
        return list(self.members)  # type: ignore[arg-type]

    def start(self, encoded: Encoded) -> tuple[Any, ...]:
        """The first state of every member."""
        return tuple(member.start(one) for member, one in zip(self.each(), self.parts(encoded), strict=True))

    def step(self, token: Tensor, state: tuple[Any, ...]) -> DecoderStep[tuple[Any, ...]]:
        """One step of every member after the same token (B,)."""
        steps = [member.step(token, one) for member, one in zip(self.each(), state, strict=True)]
        return DecoderStep(mean_log_probabilities([one.logits for one in steps]), tuple(one.state for one in steps))

    def features(self, previous: Tensor, encoded: Encoded) -> Tensor:
        """The features of all members, side by side."""
        parts = zip(self.each(), self.parts(encoded), strict=True)
        return torch.cat([member.features(previous, one) for member, one in parts], dim=-1)

    def to_logits(self, features: Tensor) -> Tensor:
        """Members of one recipe have features of one width."""
        parts = features.chunk(len(self.members), dim=-1)
        logits = [member.to_logits(one) for member, one in zip(self.each(), parts, strict=True)]
        return mean_log_probabilities(logits)

    def attention_calls(
        self, previous: Tensor, encoded: Encoded, *, layers: slice = slice(None)
    ) -> Iterator[AttentionCall]:
        """The layers of one member after the other."""
        pairs = zip(self.each(), self.parts(encoded), strict=True)
        calls = chain.from_iterable(member.attention_calls(previous, one) for member, one in pairs)
        return islice(calls, layers.start, layers.stop, layers.step)

    def parts(self, encoded: Encoded) -> list[Encoded]:
        """What each member has read."""
        states = torch.split(encoded.states, self.source_sizes, dim=-1)
        summaries = torch.split(encoded.summary, self.source_sizes, dim=-1)
        pairs = zip(states, summaries, strict=True)
        return [encoded._replace(states=one, summary=summary) for one, summary in pairs]


def mean_log_probabilities(logits: Sequence[Tensor]) -> Tensor:
    """The logarithm of the mean probability (..., V)."""
    logs = torch.stack([at_least_float32(one).log_softmax(dim=-1) for one in logits])
    mean: Tensor = logs.logsumexp(dim=0) - torch.tensor(float(len(logits)), device=logs.device).log()
    return mean


def ensemble_of(models: Sequence[Translator]) -> Translator:
    """Encoder–decoder models of one recipe as one model."""
    if not models:
        raise InputError("an ensemble has at least one member.", found="none", fix="give trained models")
    encoder = EnsembleEncoder([model.encoder for model in models])
    sizes = [model.encoder.size for model in models]
    decoder = EnsembleDecoder([model.decoder for model in models], sizes)
    return Translator(encoder, decoder, copied_as=models[0].copied_as)
