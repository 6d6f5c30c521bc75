"""Scheduled sampling: some inputs of a known target give way to what the model itself would have written.

Tokens are chosen, not differentiated through: mixing makes inputs, and the loss is then taken as ever."""

from typing import Any

import torch
from torch import Tensor

from atento.decoding.greedy import Choice, Marks, log_probabilities
from atento.models.protocols import Decoder, Encoded

# Axes: B batch, T target time, V vocabulary.


@torch.no_grad()
def mix_inputs(
    decoder: Decoder[Any], encoded: Encoded, previous: Tensor, keep: Tensor, *, choose: Choice, marks: Marks
) -> Tensor:
    """Inputs (B, T): the true ones where `keep` (B, T), the decoder's own tokens elsewhere. The first is always true.

    An own token is one to go on with: never the end mark.
    """
    going = marks._replace(forbidden=(*marks.forbidden, marks.end))
    mix = step_by_step if decoder.recurs else in_two_passes
    return mix(decoder, encoded, previous, keep, choose, going)


def step_by_step(
    decoder: Decoder[Any], encoded: Encoded, previous: Tensor, keep: Tensor, choose: Choice, marks: Marks
) -> Tensor:
    """Each own token follows from the inputs mixed so far (Bengio et al., 2015, sec. 2.4)."""
    state, inputs = decoder.start(encoded), [previous[:, 0]]
    rows = torch.arange(len(previous), device=previous.device)
    for time in range(1, previous.size(1)):
        logits, state = decoder.step(inputs[-1], state)
        own = choose(log_probabilities(logits, marks), rows)
        inputs.append(torch.where(keep[:, time], previous[:, time], own))
    return torch.stack(inputs, dim=1)


def in_two_passes(
    decoder: Decoder[Any], encoded: Encoded, previous: Tensor, keep: Tensor, choose: Choice, marks: Marks
) -> Tensor:
    """All own tokens at once, each after the true ones before it (Mihaylova & Martins, 2019, sec. 3): a decoder whose
    steps need not wait for each other is not made to wait.
    """
    chances = log_probabilities(decoder(previous, encoded)[:, :-1], marks)
    rows = torch.arange(len(previous), device=previous.device).repeat_interleave(chances.size(1))
    own = choose(chances.flatten(0, 1), rows).view_as(previous[:, 1:])
    return torch.cat([previous[:, :1], torch.where(keep[:, 1:], previous[:, 1:], own)], dim=1)


def drawn(chances: Tensor, rows: Tensor) -> Tensor:
    """A choice by torch's own generator, which a checkpoint holds."""
    return torch.multinomial(chances.exp(), 1).squeeze(-1)
