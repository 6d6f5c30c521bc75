"""What labels and numbers of numeric sequences have in common: sequences through a classifier, where it looked."""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor, nn

from atento.blocks.pooling import AttentionPooling
from atento.data.batches import like_lengths
from atento.models.classifier import LabelledBatch, as_classifier
from atento.models.estimator import TransformerNumbers
from atento.models.patched_numbers import PatchedNumbers, steps_together
from atento.tasks.channels import pad_for
from atento.tasks.task import Alignment, Answer

# Axes: B batch, T time, C channels, M patches, F outputs, L layers, H heads.

STEPS_AT_ONCE = 65_536


class ReadsNumbers(Protocol):
    """What turns a text of numbers into scaled ones."""

    def read(self, source: str) -> Tensor:
        """(T, C)."""


def asked(module: nn.Module, rows: Sequence[Tensor]) -> LabelledBatch:
    """Sequences whose truth nobody knows, as the module takes them."""
    values, valid = pad_for(module, rows)
    return LabelledBatch(values, valid, valid)


@torch.no_grad()
def outputs_of(module: nn.Module, codec: ReadsNumbers, sources: Sequence[str]) -> Tensor:
    """The head's outputs (sources, F), on the processor; sequences of like length are read together."""
    classifier, rows = as_classifier(module), [codec.read(source) for source in sources]
    found = torch.zeros(len(rows), classifier.head.width, dtype=classifier.head.map.weight.dtype)
    for indices in like_lengths([len(row) for row in rows], batch_tokens=STEPS_AT_ONCE):
        found[indices] = classifier(asked(module, [rows[index] for index in indices])).to(found)
    return found


@torch.no_grad()
def align(module: nn.Module, codec: ReadsNumbers, source: str, said: Answer) -> Alignment:
    """Which steps a pooling took, or where the steps of a Transformer looked; nothing for other models."""
    classifier, rows = as_classifier(module), asked(module, [codec.read(source)])
    steps, output = steps_together(classifier.encoder, source.split()), [said.text]
    weights = torch.zeros(0, 0, 1, len(steps))
    if isinstance(classifier.pooling, AttentionPooling):
        weights = classifier.weights(rows)[None, None]  # (1, 1, 1, M)
    else:
        encoder, values, valid = classifier.encoder, rows.source, rows.valid
        if isinstance(encoder, PatchedNumbers):
            values, valid = encoder.cut(values, valid)
            encoder = encoder.encoder
        if isinstance(encoder, TransformerNumbers):
            output, weights = steps, encoder.stack.weights(encoder.place(values, valid), valid=valid)[0]  # (L, H, M, M)
    return Alignment(steps, output, weights.float().cpu(), said.text, said.score)
