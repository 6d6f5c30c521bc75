"""Sequence labelling (tagging): a label for every token, each by itself or jointly by a conditional random field."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.crf import LinearChain, LinearChainCRF
from atento.layers.losses import Loss, at_least_float32
from atento.layers.masking import clean
from atento.models.classifier import LabelledBatch, begin_at_zero, require_width
from atento.models.heads import Head
from atento.models.protocols import Encoder
from atento.models.wide_words import WideWords

# Axes: B batch, N time, M real steps of all sequences, C labels, L characters.


class BestTags(NamedTuple):
    """The most probable labels of each sequence; padding has label 0."""

    labels: Tensor  # (B, N)
    log_probability: Tensor  # (B,) of all labels of a sequence together


class SequenceLabeller(nn.Module, ABC):
    """A model that gives each label of each token a score, with or without a `chain` that judges a sequence of labels
    as a whole.
    """

    chain: LinearChain | None

    @abstractmethod
    def forward(self, batch: LabelledBatch) -> Tensor:
        """Outputs (M, C) of the real steps only, row by row."""

    @abstractmethod
    def scores(self, source: Tensor, valid: Tensor) -> Tensor:
        """Outputs (B, N, C) of all steps, zeros at padding."""

    @abstractmethod
    def loss(self, batch: LabelledBatch) -> Loss:
        """Minus the log-probability of each real step's label; with a chain, of each sequence of labels."""

    def predict(self, source: Tensor, valid: Tensor) -> BestTags:
        """The most probable labels and their probability: each by itself, or with a chain the best sequence."""
        scores = at_least_float32(self.scores(source, valid))
        if self.chain is not None:
            best = self.chain.viterbi(scores, valid=valid)
            return BestTags(best.labels, best.score - self.chain.log_partition(scores, valid=valid))
        largest, labels = scores.log_softmax(dim=-1).max(dim=-1)
        return BestTags(labels.masked_fill(~valid, 0), largest.masked_fill(~valid, 0.0).sum(dim=-1))

    def probabilities(self, source: Tensor, valid: Tensor) -> Tensor:
        """The marginal probability (B, N, C) of each label at each step; zeros at padding."""
        scores = at_least_float32(self.scores(source, valid))
        if self.chain is not None:
            return self.chain.marginals(scores, valid=valid)
        return clean(scores.softmax(dim=-1), valid)


class Tagger(SequenceLabeller):
    """An encoder and a head over each of its states; with a `chain`, the labels of a sequence are predicted jointly.

    With a wide part the network learns alone, and answers are made of both.
    """

    chain: LinearChainCRF | None

    def __init__(
        self, encoder: Encoder, head: Head, *, chain: LinearChainCRF | None = None, wide: WideWords | None = None
    ) -> None:
        super().__init__()
        require_width(encoder, head)
        if chain is not None and chain.labels != head.width:
            raise InputError(
                "Tagger: the chain must have as many labels as the head has outputs.",
                found=f"head of width {head.width}, chain of {chain.labels} labels",
                fix=f"make the chain with labels={head.width}",
            )
        self.encoder, self.head, self.chain, self.wide = encoder, head, chain, wide
        if wide is not None:
            begin_at_zero(head)
        if wide is not None and chain is not None:
            chain.beside = wide.mix_transitions

    def forward(self, batch: LabelledBatch) -> Tensor:
        """Outputs (M, C) of the real steps only, row by row."""
        if self.wide is not None and not self.training:
            return self.scores(batch.source, batch.valid)[batch.valid]
        states = self.encoder.encode(batch.source, batch.valid).states
        return self.head(states[batch.valid])

    def scores(self, source: Tensor, valid: Tensor) -> Tensor:
        """Outputs (B, N, C) of all steps, zeros at padding; while training of the network alone."""
        outputs = self.network_scores(source, valid)
        if self.wide is None or self.training:
            return outputs
        return self.wide.mix(self.wide(source, valid), outputs)

    def network_scores(self, source: Tensor, valid: Tensor) -> Tensor:
        """The same of the network alone."""
        return clean(self.head(self.encoder.encode(source, valid).states), valid)

    def loss(self, batch: LabelledBatch) -> Loss:
        """The head's loss on each real step; with a chain, minus the log-probability of each sequence of labels."""
        if self.chain is None:
            return self.head.loss(self(batch), batch.truth[batch.valid])
        return self.chain.loss(self.scores(batch.source, batch.valid), batch.truth, valid=batch.valid)


def word_dropout(source: Tensor, valid: Tensor, rate: float, *, unknown: int) -> Tensor:
    """Sources (B, N) or (B, N, 1 + L) in which real words become `unknown` with probability `rate`.

    The characters of a word, where there are any, stay.
    """
    words = source if source.dim() == 2 else source[..., 0]
    dropped = words.masked_fill((torch.rand(words.shape, device=words.device) < rate) & valid, unknown)
    return dropped if source.dim() == 2 else torch.cat([dropped.unsqueeze(-1), source[..., 1:]], dim=-1)
