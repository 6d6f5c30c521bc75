"""Scheduled sampling: some true inputs of the decoder are replaced by the model's own predictions during training.

Tokens are chosen without a gradient; the loss is then computed on the mixed inputs as usual."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from atento.decoding.greedy import SpecialTokens, TokenChoice, log_probabilities
from atento.models.protocols import Decoder, Encoded

# Axes: B batch, T target time, R rows, V vocabulary.

Predict = Callable[[Tensor, Tensor], Tensor]  # logits (R, V), their batch rows (R,) -> tokens (R,)


@torch.no_grad()
def mix_inputs(
    decoder: Decoder[Any],
    encoded: Encoded,
    previous: Tensor,
    keep: Tensor,
    *,
    choose: TokenChoice,
    special_tokens: SpecialTokens,
) -> Tensor:
    """Inputs (B, T): `previous`, the true ones, where `keep` (B, T), predictions elsewhere; the first is always true.

    The end token is never predicted, as the target goes on.
    """
    without_end = special_tokens._replace(forbidden=(*special_tokens.forbidden, special_tokens.end))

    def predict(logits: Tensor, rows: Tensor) -> Tensor:
        return choose(log_probabilities(logits, without_end), rows)

    mix = step_by_step if decoder.is_recurrent else in_two_passes
    return mix(decoder, encoded, previous, keep, predict)


def step_by_step(decoder: Decoder[Any], encoded: Encoded, previous: Tensor, keep: Tensor, predict: Predict) -> Tensor:
    """Each prediction follows from the inputs mixed so far (Bengio et al., 2015, sec. 2.4)."""
    state, inputs = decoder.start(encoded), [previous[:, 0]]
    rows = torch.arange(len(previous), device=previous.device)
    for time in range(1, previous.size(1)):
        logits, state = decoder.step(inputs[-1], state)
        inputs.append(torch.where(keep[:, time], previous[:, time], predict(logits, rows)))
    return torch.stack(inputs, dim=1)


def in_two_passes(decoder: Decoder[Any], encoded: Encoded, previous: Tensor, keep: Tensor, predict: Predict) -> Tensor:
    """All predictions at once, each after true inputs, for decoders that are parallel in time.

    (Mihaylova & Martins, 2019, sec. 3.)
    """
    logits = decoder(previous, encoded)[:, :-1]
    rows = torch.arange(len(previous), device=previous.device).repeat_interleave(logits.size(1))
    predicted = predict(logits.flatten(0, 1), rows).view_as(previous[:, 1:])
    return torch.cat([previous[:, :1], torch.where(keep[:, 1:], previous[:, 1:], predicted)], dim=1)


def draw_tokens(log_probs: Tensor, rows: Tensor) -> Tensor:
    """A `TokenChoice` that samples by torch's global generator, whose state a checkpoint holds."""
    return torch.multinomial(log_probs.exp(), 1).squeeze(-1)
