"""Aligned many to many: something is said of every step of a sequence."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.errors import InputError
from atento.layers.crf import LinearChain
from atento.layers.losses import Loss, precise
from atento.layers.padding import clean
from atento.models.classifier import LabelledBatch, require_width
from atento.models.heads import Head
from atento.models.protocols import Encoder

# Axes: B batch, N time, M real steps of all sequences, C labels.


class Decided(NamedTuple):
    """The likeliest labels of each sequence; padding has label 0."""

    labels: Tensor  # (B, N)
    log_probability: Tensor  # (B,) of all of them together


class Tagger(nn.Module):
    """An encoder reads, the head judges each of its states; with a chain, labels are judged together."""

    def __init__(self, encoder: Encoder, head: Head, *, chain: LinearChain | None = None) -> None:
        super().__init__()
        require_width(encoder, head)
        if chain is not None and chain.labels != head.width:
            raise InputError(
                "a chain judges as many labels as the head says.",
                found=f"head of {head.width}, chain of {chain.labels}",
                fix=f"make the chain with labels={head.width}",
            )
        self.encoder, self.head, self.chain = encoder, head, chain

    def forward(self, batch: LabelledBatch) -> Tensor:
        """Outputs (M, C) of the real steps only, row by row; padding costs nothing."""
        states = self.encoder.encode(batch.source, batch.valid).states
        outputs: Tensor = self.head(states[batch.valid])
        return outputs

    def scores(self, source: Tensor, valid: Tensor) -> Tensor:
        """Outputs (B, N, C) of all steps, zeros at padding."""
        return clean(self.head(self.encoder.encode(source, valid).states), valid)

    def loss(self, batch: LabelledBatch) -> Loss:
        """How wrong the head is on each real step; of a chain, minus the log-probability of each sequence."""
        if self.chain is None:
            return self.head.loss(self(batch), batch.truth[batch.valid])
        return self.chain.loss(self.scores(batch.source, batch.valid), batch.truth, valid=batch.valid)

    def decide(self, source: Tensor, valid: Tensor) -> Decided:
        """The likeliest labels, each by itself or, of a chain, all together, and how likely they are."""
        scores = precise(self.scores(source, valid))
        if self.chain is not None:
            best = self.chain.best(scores, valid=valid)
            return Decided(best.labels, best.score - self.chain.log_partition(scores, valid=valid))
        said, labels = scores.log_softmax(dim=-1).max(dim=-1)
        return Decided(labels.masked_fill(~valid, 0), said.masked_fill(~valid, 0.0).sum(dim=-1))

    def chances(self, source: Tensor, valid: Tensor) -> Tensor:
        """How likely each label is at each step (B, N, C), whatever the others are; zeros at padding."""
        scores = precise(self.scores(source, valid))
        if self.chain is not None:
            return self.chain.marginals(scores, valid=valid)
        return clean(scores.softmax(dim=-1), valid)


def as_tagger(module: nn.Module) -> Tagger:
    """The module, typed."""
    if not isinstance(module, Tagger):
        raise TypeError(f"tag works with a Tagger, not {type(module).__name__}")
    return module


def unknown_words(source: Tensor, valid: Tensor, share: float, *, unknown: int) -> Tensor:
    """Sources (B, N) or (B, N, 1 + L) with about this share of the real words made unknown; letters stay."""
    words = source if source.dim() == 2 else source[..., 0]
    dropped = words.masked_fill((torch.rand(words.shape, device=words.device) < share) & valid, unknown)
    return dropped if source.dim() == 2 else torch.cat([dropped.unsqueeze(-1), source[..., 1:]], dim=-1)
