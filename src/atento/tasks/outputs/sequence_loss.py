"""How an encoder–decoder learns from a batch: on true inputs, on a mixture with its own tokens, or chunk by chunk.

Where attention draws one key at a time, the loss carries the score-function gradient of the draws.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from atento.attention.distributions.hard import recorded_draws, score_function_loss
from atento.data.text.vocabulary import END, PAD, START, UNKNOWN
from atento.decoding import SpecialTokens
from atento.decoding.greedy import TokenChoice, argmax
from atento.decoding.scheduled_sampling import draw_tokens, mix_inputs
from atento.layers.losses import Loss, at_least_float32, token_cross_entropy
from atento.layers.packing import real_items
from atento.models.backbones.copy_decoder import CopyDecoder
from atento.models.backbones.marginal_decoder import MarginalDecoder
from atento.models.backbones.recurrent import RecurrentDecoder
from atento.models.protocols import Decoder, State
from atento.models.translator import TranslationBatch, Translator
from atento.recurrent.unroll import chunks
from atento.tasks.task import TruncatedBPTT

# Axes: B batch, T target time, M real target tokens, V vocabulary, Q queries.

SPECIAL_TOKENS = SpecialTokens(start=START, end=END, forbidden=(PAD, UNKNOWN, START))
OWN_TOKENS: dict[str, TokenChoice] = {"argmax": argmax, "sampled": draw_tokens}


def next_token_loss(module: Translator, batch: TranslationBatch, smoothing: float) -> Loss:
    """Cross-entropy of each real target token, given the inputs before it."""
    with recorded_draws() as reading:
        encoded = module.encode(batch.source, batch.source_valid)
    with recorded_draws() as writing:
        features = module.decoder.real_features(batch.previous, batch.target_valid, encoded)
    logits = module.decoder.to_logits(features)
    real = real_items(batch.target, batch.target_valid) if logits.is_cuda else batch.target[batch.target_valid]
    loss = token_cross_entropy(logits, real, smoothing=smoothing)
    return judge_draws(loss, logits, batch, Draws(reading, writing), module.decoder)


@torch.no_grad()
def mix_own_tokens(module: Translator, batch: TranslationBatch, share: float, own: str) -> TranslationBatch:
    """Scheduled sampling: each input is the true token with this probability, else one of the module's own."""
    coins = torch.rand(batch.previous.shape, device=batch.previous.device) < share
    encoded = module.encode(batch.source, batch.source_valid)
    keep = coins | ~batch.target_valid  # padding stays padding
    choose = OWN_TOKENS[own]
    mixed = mix_inputs(module.decoder, encoded, batch.previous, keep, choose=choose, special_tokens=SPECIAL_TOKENS)
    return batch._replace(previous=mixed)


def count_tokens(batch: TranslationBatch) -> int:
    """Real tokens of the targets."""
    return int(batch.target_valid.sum())


def first_state(module: Translator, batch: TranslationBatch) -> Any:
    """What the decoder carries before its first step."""
    return recurrent_decoder(module).start(module.encode(batch.source, batch.source_valid))


def cut_targets(batch: TranslationBatch, steps: int) -> list[TranslationBatch]:
    """Chunks of the targets; the sources were read before."""
    return [
        batch._replace(
            previous=batch.previous[:, here], target=batch.target[:, here], target_valid=batch.target_valid[:, here]
        )
        for here in chunks(batch.target.size(1), steps)
    ]


def chunk_loss(module: Translator, chunk: TranslationBatch, state: Any, smoothing: float) -> tuple[Loss, Any]:
    """The loss of a chunk of the targets from a state of the decoder, and the state after it."""
    decoder: Any = recurrent_decoder(module)
    with recorded_draws() as draws:
        features, state = decoder.resume(chunk.previous, state)
    logits = decoder.to_logits(features[chunk.target_valid])
    loss = token_cross_entropy(logits, chunk.target[chunk.target_valid], smoothing=smoothing)
    return judge_draws(loss, logits, chunk, Draws((), draws), decoder), state


def recurrent_decoder(module: Translator) -> RecurrentDecoder | MarginalDecoder | CopyDecoder:
    """The decoder, which must carry a state from chunk to chunk."""
    if not isinstance(module.decoder, RecurrentDecoder | MarginalDecoder | CopyDecoder):
        raise TypeError(f"{type(module.decoder).__name__} carries no state from chunk to chunk")
    return module.decoder


TRUNCATED_BPTT = TruncatedBPTT(items=count_tokens, start=first_state, cut=cut_targets, loss=chunk_loss)


class Draws(NamedTuple):
    """The log-probabilities (B, ..., Q) of the keys that were drawn."""

    reading: Sequence[Tensor]  # by the encoder
    writing: Sequence[Tensor]  # by the decoder, all steps at once or step by step


def judge_draws(loss: Loss, logits: Tensor, batch: TranslationBatch, draws: Draws, decoder: Decoder[State]) -> Loss:
    """The same loss; its gradient now also moves the probabilities of what was drawn on the way to logits (M, V).

    A draw is judged by the costs that it can have moved: of the encoder's all of its example, of the decoder's those
    from its step on, or of its step alone where what a step attends to goes no further.
    """
    if not draws.reading and not draws.writing:
        return loss
    spared = spared_costs(logits.detach(), batch)
    later = spared.flip(1).cumsum(dim=1).flip(1)  # (B, T) from each step on
    estimates = [score_function_loss(draw, like_draw(later[:, :1], draw)) for draw in draws.reading]
    worth = later if decoder.feeds_context else spared
    estimates += [score_function_loss(draw, like_draw(worth, draw)) for draw in all_steps(draws.writing, decoder)]
    surplus = torch.stack(estimates).sum()
    return loss._replace(total=loss.total + surplus - surplus.detach())  # a gradient, not a cost


def spared_costs(logits: Tensor, batch: TranslationBatch) -> Tensor:
    """How much less than expected each token cost (B, T), 0 at padding.

    Expected is the mean cost of the other examples at that step, or of all their tokens where none is as long: a
    baseline that does not depend on the example's own draws (Xu et al., 2015, sec. 4.1, take a moving average).
    """
    valid = batch.target_valid
    each = functional.cross_entropy(at_least_float32(logits), batch.target[valid], reduction="none")
    costs = each.new_zeros(valid.shape).masked_scatter(valid, each)
    total, tokens = costs.sum(dim=1, keepdim=True), valid.sum(dim=1, keepdim=True)
    overall = (total.sum() - total) / (tokens.sum() - tokens).clamp(min=1)  # (B, 1)
    others = valid.sum(dim=0) - valid.long()  # (B, T) how many of them have this step
    expected = torch.where(others > 0, (costs.sum(dim=0) - costs) / others.clamp(min=1), overall)
    return (expected - costs).masked_fill(~valid, 0.0)


def all_steps(draws: Sequence[Tensor], decoder: Decoder[State]) -> Sequence[Tensor]:
    """Draws of all steps (B, ..., T), also where a recurrent decoder recorded them step by step."""
    return [torch.cat(list(draws), dim=-1)] if draws and isinstance(decoder, RecurrentDecoder) else draws


def like_draw(worth: Tensor, draw: Tensor) -> Tensor:
    """What each draw (B, ..., Q) was worth (B, Q or 1), with as many axes."""
    return worth.view(len(worth), *[1] * (draw.dim() - 2), -1)
