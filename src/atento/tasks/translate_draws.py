"""What drawn keys are worth: the score-function gradient of an encoder–decoder that looks at one key at a time."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from atento.attention.hard import score_function_loss
from atento.layers.losses import Loss, precise
from atento.models.protocols import Decoder
from atento.models.recurrent import RecurrentDecoder
from atento.models.translator import TranslationBatch

# Axes: B batch, T target time, M real target tokens, V vocabulary, Q queries.


class Draws(NamedTuple):
    """The log-probabilities (B, ..., Q) of the keys that were drawn."""

    reading: Sequence[Tensor]  # by the encoder
    writing: Sequence[Tensor]  # by the decoder, all steps at once or step by step


def judge_draws(loss: Loss, logits: Tensor, batch: TranslationBatch, draws: Draws, decoder: Decoder[Any]) -> Loss:
    """The same loss; its gradient now also moves the probabilities of what was drawn on the way to logits (M, V).

    A draw is judged by the costs that it can have moved: of the encoder's all of its example, of the decoder's those
    from its step on, or of its step alone where what a step sees goes no further.
    """
    if not draws.reading and not draws.writing:
        return loss
    spared = spared_costs(logits.detach(), batch)
    later = spared.flip(1).cumsum(dim=1).flip(1)  # (B, T) from each step on
    estimates = [score_function_loss(draw, beside(draw, later[:, :1])) for draw in draws.reading]
    worth = later if decoder.looks_carry else spared
    estimates += [score_function_loss(draw, beside(draw, worth)) for draw in by_steps(draws.writing, decoder)]
    surplus = torch.stack(estimates).sum()
    return loss._replace(total=loss.total + surplus - surplus.detach())  # a gradient, not a cost


def spared_costs(logits: Tensor, batch: TranslationBatch) -> Tensor:
    """How much less than expected each token cost (B, T), 0 at padding.

    Expected is the mean cost of the other examples at that step, or of all their tokens where none is as long: a
    baseline that does not depend on the example's own draws (Xu et al., 2015, sec. 4.1, take a moving average).
    """
    valid = batch.target_valid
    each = functional.cross_entropy(precise(logits), batch.target[valid], reduction="none")
    costs = each.new_zeros(valid.shape).masked_scatter(valid, each)
    total, tokens = costs.sum(dim=1, keepdim=True), valid.sum(dim=1, keepdim=True)
    overall = (total.sum() - total) / (tokens.sum() - tokens).clamp(min=1)  # (B, 1)
    others = valid.sum(dim=0) - valid.long()  # (B, T) how many of them have this step
    expected = torch.where(others > 0, (costs.sum(dim=0) - costs) / others.clamp(min=1), overall)
    return (expected - costs).masked_fill(~valid, 0.0)


def by_steps(draws: Sequence[Tensor], decoder: Decoder[Any]) -> Sequence[Tensor]:
    """Draws of all steps (B, ..., T); a recurrent decoder that looks step by step leaves them so."""
    return [torch.cat(list(draws), dim=-1)] if draws and isinstance(decoder, RecurrentDecoder) else draws


def beside(draw: Tensor, worth: Tensor) -> Tensor:
    """What each draw (B, ..., Q) was worth (B, Q or 1), with as many axes."""
    return worth.view(len(worth), *[1] * (draw.dim() - 2), -1)
