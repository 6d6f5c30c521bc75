"""Ensembles: several trained networks of one recipe as one model, whose prediction is the mean of theirs.

What is averaged: probabilities of labels and of tokens, numbers, quantiles of a forecast; of taggers with a CRF the
scores of sequences, which gives a CRF again. A search, or a forecast that reads itself, goes over the mean.
"""

from abc import ABC
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any, Generic, TypeAlias, TypeVar, cast

import torch
from torch import Tensor, nn

from atento.attention.weights import AttentionCall
from atento.errors import InputError
from atento.layers.crf import PooledChain
from atento.layers.losses import Loss, pinball_loss, squared_error, token_cross_entropy
from atento.layers.masking import clean
from atento.models.classifier import LabelledBatch, OneVsRest
from atento.models.forecaster import Forecaster, ForecastModel, SeriesBatch
from atento.models.heads import Head, MultiLabelHead, mean_log_probabilities
from atento.models.interpolated import InterpolatedLanguageModel
from atento.models.language_model import LanguageModel
from atento.models.protocols import BatchWithTruth, Decoder, DecoderStep, Encoded, Encoder, Judge, Resumes
from atento.models.tagger import SequenceLabeller, Tagger
from atento.models.translator import Translator

# Axes: B batch, N source time, T target time, V vocabulary, D size, C outputs, H horizon, Q quantiles, M members.

Network = TypeVar("Network", bound=Judge[Any])
Part = TypeVar("Part", bound=nn.Module)


class Ensemble(ABC):
    """A module whose prediction is the mean of that of its members."""

    members: nn.ModuleList

    def each(self) -> list[Any]:
        """The members."""
        return list(self.members)


class JudgeEnsemble(Ensemble, Judge[Any], Generic[Network]):
    """Many-to-one models of one kind: outputs (B, C) stand for their mean prediction.

    Where there may be several labels, their `thresholds` (C,) are the ensemble's own.
    """

    def __init__(self, members: Sequence[Judge[Any]]) -> None:
        super().__init__()
        require_members(members)
        self.members = nn.ModuleList(members)
        if isinstance(self.head, MultiLabelHead):
            self.thresholds = nn.Buffer(torch.full((self.width,), 0.5))

    @property
    def head(self) -> Head:
        """A head of a member, which knows what outputs mean; all are of one kind."""
        return next(part for part in self.members.modules() if isinstance(part, Head))

    @property
    def width(self) -> int:
        """As many outputs as each member has."""
        return int(self.each()[0].width)

    def forward(self, batch: BatchWithTruth) -> Tensor:
        """Outputs (B, C)."""
        return self.head.mean([member(batch) for member in self.each()])

    def loss(self, batch: BatchWithTruth, *, smoothing: float = 0.0) -> Loss:
        """The loss of the mean prediction."""
        return self.head.loss(self(batch), batch.truth, smoothing=smoothing)


class TaggerEnsemble(Ensemble, SequenceLabeller):
    """Taggers: without CRFs scores (B, N, C) are the logarithm of the mean probability of each label; with CRFs their
    mean, which with the mean of the transition scores is a CRF, the logarithmic opinion pool (`PooledChain`).
    """

    def __init__(self, members: Sequence[Tagger]) -> None:
        super().__init__()
        require_members(members)
        self.members = nn.ModuleList(members)
        chains = [member.chain for member in members if member.chain is not None]
        self.chain = PooledChain(chains) if chains else None

    def forward(self, batch: LabelledBatch) -> Tensor:
        """Outputs (M, C) of the real steps only, row by row."""
        return self.scores(batch.source, batch.valid)[batch.valid]

    def scores(self, source: Tensor, valid: Tensor) -> Tensor:
        """Outputs (B, N, C) of all steps, zeros at padding."""
        found = [member.scores(source, valid) for member in self.each()]
        return clean(mean_log_probabilities(found), valid) if self.chain is None else torch.stack(found).mean(dim=0)

    def loss(self, batch: LabelledBatch) -> Loss:
        """Minus the log-probability of each real step's label; with a chain, of each sequence of labels."""
        if self.chain is None:
            return token_cross_entropy(self(batch), batch.truth[batch.valid])
        return self.chain.loss(self.scores(batch.source, batch.valid), batch.truth, valid=batch.valid)


class ForecasterEnsemble(Ensemble, ForecastModel):
    """Forecasters: the mean of their forecasts, of quantiles level by level (Lichtendahl et al., 2013).

    A rollout goes on from the mean. Each member's own conformal offsets are added to its quantiles.
    """

    def __init__(self, members: Sequence[Forecaster]) -> None:
        super().__init__()
        require_members(members)
        self.members = nn.ModuleList(members)
        self.sizes, self.quantiles = members[0].sizes, members[0].quantiles

    def forward(self, past: Tensor, known: Tensor) -> Tensor:
        """The mean of the members' passes (B, H, C, Q); means of ordered quantiles are in order."""
        return torch.stack([member(past, known) for member in self.each()]).mean(dim=0)

    def loss(self, batch: SeriesBatch) -> Loss:
        """Squared error, or the pinball loss of the quantiles, of a rollout over the steps of the target."""
        outputs = self.rollout(batch.past, batch.known, batch.target.size(1))
        if self.quantiles:
            return pinball_loss(outputs, batch.target, self.quantiles)
        return squared_error(outputs.squeeze(-1), batch.target)

    def offsets(self) -> Tensor | None:
        """The mean of the members' offsets (H, C, Q), as that of the moved quantiles is; a member may have none."""
        found = [offsets for member in self.each() if (offsets := member.offsets()) is not None]
        return torch.stack(found).sum(dim=0) / len(self.members) if found else None

    def weights(self, past: Tensor, known: Tensor) -> Tensor:
        """Attention weights (B, channels, layers, heads, outputs, sources): the layers of one member after another."""
        return torch.cat([member.weights(past, known) for member in self.each()], dim=2)


class EnsembleEncoder(Ensemble, Encoder):
    """The states and summaries of all members, side by side: its size is the sum of theirs."""

    def __init__(self, members: Sequence[Encoder]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)
        self.size = sum(member.size for member in members)

    def encode(self, tokens: Tensor, valid: Tensor) -> Encoded:
        """Each member reads the source."""
        found = [member.encode(tokens, valid) for member in self.each()]
        states, summaries = ([getattr(one, part) for one in found] for part in ("states", "summary"))
        return Encoded(torch.cat(states, dim=-1), found[0].valid, torch.cat(summaries, dim=-1))


class EnsembleDecoder(Ensemble, Decoder[tuple[Any, ...]]):
    """Each member reads its own part of the source's states; logits are ln (1 / M) Σ softmax(logits of a member).

    Without `source_sizes` there is no source that states are made of, as in a language model.
    """

    def __init__(self, members: Sequence[Decoder[Any]], source_sizes: Sequence[int] = ()) -> None:
        super().__init__()
        self.members, self.source_sizes = nn.ModuleList(members), list(source_sizes)
        self.attends = all(member.attends for member in members)
        self.is_recurrent = all(member.is_recurrent for member in members)

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

    def resume(self, previous: Tensor, state: tuple[Any, ...]) -> tuple[Tensor, tuple[Any, ...]]:
        """Features (B, T, D) of more known tokens (B, T), side by side, and the state of every member after them."""
        found = [resuming(member).resume(previous, own) for member, own in zip(self.each(), state, strict=True)]
        return torch.cat([features for features, _ in found], dim=-1), tuple(after for _, after in found)

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
        if not self.source_sizes:
            return [encoded] * len(self.members)
        states = torch.split(encoded.states, self.source_sizes, dim=-1)
        summaries = torch.split(encoded.summary, self.source_sizes, dim=-1)
        pairs = zip(states, summaries, strict=True)
        return [encoded._replace(states=one, summary=summary) for one, summary in pairs]


def resuming(decoder: Decoder[Any]) -> Resumes[Any]:
    """A decoder that can go on from a state."""
    if not isinstance(decoder, Resumes):
        raise TypeError(f"{type(decoder).__name__} cannot resume from a state")
    return decoder


def require_members(members: Sequence[nn.Module]) -> None:
    """An ensemble of nothing is refused."""
    if not members:
        raise InputError("an ensemble has at least one member.", found="none", fix="give trained models")


def ensemble_of(members: Sequence[Translator]) -> Translator:
    """Encoder–decoder models of one recipe as one model."""
    require_members(members)
    encoder = EnsembleEncoder([member.encoder for member in members])
    sizes = [member.encoder.size for member in members]
    decoder = EnsembleDecoder([member.decoder for member in members], sizes)
    return Translator(encoder, decoder, copied_as=members[0].copied_as)


def language_ensemble(members: Sequence[LanguageModel]) -> LanguageModel:
    """Language models of one recipe as one model; counts of n-grams, which all have alike, stand once beside the mean
    of the networks, and what share they have is begun with the mean of the members' shares.
    """
    require_members(members)
    decoder, first = EnsembleDecoder([member.decoder for member in members]), members[0]
    if not isinstance(first, InterpolatedLanguageModel):
        return LanguageModel(decoder, samples=first.samples)
    counts = first.ngram
    joined = InterpolatedLanguageModel(decoder, counts.vocabulary, order=counts.order, samples=first.samples)
    joined.ngram = counts
    shares = [member.shares for member in members if isinstance(member, InterpolatedLanguageModel)]
    joined.shares.copy_(torch.stack(shares).mean(dim=0))
    return joined


AnyJudge: TypeAlias = Network | OneVsRest[Network] | JudgeEnsemble[Network]  # one, one a label, or a mean of these


def whole_networks(module: AnyJudge[Network]) -> list[Network]:
    """The networks that each give every output: of an ensemble its members; none where each label has its own."""
    if isinstance(module, JudgeEnsemble):
        return [network for member in module.each() for network in whole_networks(member)]
    return [] if isinstance(module, OneVsRest) else [module]


def first_network(module: AnyJudge[Network]) -> Network:
    """The network that is shown for all: that of the first member, of the first label."""
    if isinstance(module, JudgeEnsemble | OneVsRest):
        return first_network(module.each()[0])
    return module


def whole_taggers(module: SequenceLabeller) -> list[Tagger]:
    """The members of an ensemble of taggers; any other tagger alone."""
    members = module.each() if isinstance(module, TaggerEnsemble) else [module]
    return [member for member in members if isinstance(member, Tagger)]


def whole_forecasters(module: ForecastModel) -> list[Forecaster]:
    """The members of an ensemble of forecasters; any other forecaster alone."""
    members = module.each() if isinstance(module, ForecasterEnsemble) else [module]
    return [member for member in members if isinstance(member, Forecaster)]


def first_of(module: Part) -> Part:
    """The first member of an ensemble; any other module itself."""
    return cast(Part, module.members[0]) if isinstance(module, Ensemble) else module


def count_members(module: nn.Module) -> int:
    """How many networks a model is the mean of; 1 where it is no ensemble."""
    return next((len(part.members) for part in module.modules() if isinstance(part, Ensemble)), 1)


def thresholds_of(module: nn.Module) -> list[Tensor]:
    """The buffers of the probabilities above which labels are predicted, in the order of the labels: of an ensemble its
    own one, else that of each head.
    """
    if isinstance(module, JudgeEnsemble):
        return [module.thresholds] if isinstance(module.head, MultiLabelHead) else []
    return [part.thresholds for part in module.modules() if isinstance(part, MultiLabelHead)]
