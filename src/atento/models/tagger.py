"""Aligned many to many: something is said of every step of a sequence."""

from torch import Tensor, nn

from atento.layers.losses import Loss
from atento.models.classifier import LabelledBatch, require_width
from atento.models.heads import Head
from atento.models.protocols import Encoder

# Axes: B batch, N time, M real steps of all sequences, C labels.


class Tagger(nn.Module):
    """An encoder reads, the head judges each of its states."""

    def __init__(self, encoder: Encoder, head: Head) -> None:
        super().__init__()
        require_width(encoder, head)
        self.encoder, self.head = encoder, head

    def forward(self, batch: LabelledBatch) -> Tensor:
        """Outputs (M, C) of the real steps only, row by row; padding costs nothing."""
        states = self.encoder.encode(batch.source, batch.valid).states
        outputs: Tensor = self.head(states[batch.valid])
        return outputs

    def loss(self, batch: LabelledBatch) -> Loss:
        """How wrong the head is on each real step."""
        return self.head.loss(self(batch), batch.truth[batch.valid])
