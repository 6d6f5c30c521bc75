"""Many to one: a whole sequence is read, then judged."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from atento.blocks.pooling import AttentionPooling, Pooling
from atento.errors import InputError
from atento.layers.losses import Loss
from atento.models.backbones.hierarchical import RunsOfWords
from atento.models.heads import Head
from atento.models.protocols import Encoded, Encoder

# Axes: B batch, N time, D size, C labels.


class LabelledBatch(NamedTuple):
    """Sequences and what is true of each, or of each of their steps."""

    source: Tensor  # (B, N) tokens, or (B, N, channels) numbers
    valid: Tensor  # (B, N)
    truth: Tensor  # as the head wants it, with leading axes (B,), of a tagger (B, N)


class Classifier(nn.Module):
    """An encoder reads, its summary or a pooling of its states is what the head judges; what the runs of words beside
    it say is added to the head's outputs.
    """

    def __init__(
        self, encoder: Encoder, head: Head, *, pooling: Pooling | None = None, runs: RunsOfWords | None = None
    ) -> None:
        super().__init__()
        require_width(encoder, head)
        self.encoder, self.head, self.pooling, self.runs = encoder, head, pooling, runs

    def forward(self, batch: LabelledBatch) -> Tensor:
        """Outputs (B, C) of the head, one row a sequence."""
        encoded = self.encoder.encode(batch.source, batch.valid)
        outputs: Tensor = self.head(self.sum_up(encoded))
        return outputs if self.runs is None else outputs + self.runs(batch.source, batch.valid)

    def sum_up(self, encoded: Encoded) -> Tensor:
        """The sequence in one vector (B, D); without a pooling the encoder's own summary."""
        if self.pooling is None:
            return encoded.summary
        summed: Tensor = self.pooling(encoded.states, valid=encoded.valid)
        return summed

    def loss(self, batch: LabelledBatch, *, smoothing: float = 0.0) -> Loss:
        """How wrong the head is on each sequence."""
        return self.head.loss(self(batch), batch.truth, smoothing=smoothing)

    def weights(self, batch: LabelledBatch) -> Tensor:
        """How much of each token was taken (B, N); only where attention pools."""
        if not isinstance(self.pooling, AttentionPooling):
            raise InputError(
                "this classifier has no attention weights: it does not pool by attention.",
                found=f"pooling={type(self.pooling).__name__}",
                fix="name a score, e.g. lstm+additive",
            )
        encoded = self.encoder.encode(batch.source, batch.valid)
        return self.pooling.weights(encoded.states, valid=encoded.valid)


class OneEach(nn.Module):
    """A network of its own for each label, side by side, where one network for all would share what it learns.

    Each gives (B, 1), together they give (B, C).
    """

    def __init__(self, networks: list[Classifier]) -> None:
        super().__init__()
        if not networks or any(network.head.width != 1 for network in networks):
            raise InputError(
                "one network a label: each says one number.",
                found=f"head widths {[network.head.width for network in networks]}",
                fix="give classifiers whose heads have width 1",
            )
        self.networks = nn.ModuleList(networks)

    def forward(self, batch: LabelledBatch) -> Tensor:
        """Outputs (B, C), a column a network."""
        return torch.cat([network(batch) for network in self.networks], dim=-1)

    def loss(self, batch: LabelledBatch, *, smoothing: float = 0.0) -> Loss:
        """The sum of the networks' own losses; none sees another's."""
        truths = zip(self.each(), torch.split(batch.truth, 1, dim=-1), strict=True)
        losses = [network.loss(batch._replace(truth=truth), smoothing=smoothing) for network, truth in truths]
        return Loss(torch.stack([loss.total for loss in losses]).sum(), sum(loss.items for loss in losses))

    def each(self) -> list[Classifier]:
        """The networks, typed."""
        return [network for network in self.networks if isinstance(network, Classifier)]


def as_classifier(module: nn.Module) -> Classifier:
    """The module, typed."""
    if not isinstance(module, Classifier):
        raise TypeError(f"a whole sequence is judged by a Classifier, not by a {type(module).__name__}")
    return module


def require_width(encoder: Encoder, head: Head) -> None:
    """A head reads vectors as wide as the encoder's states."""
    if encoder.size != head.size:
        raise InputError(
            "the head must read vectors as wide as the encoder's states.",
            found=f"encoder of {encoder.size}, head of {head.size}",
            fix=f"make the head with size={encoder.size}",
        )
