"""How an encoder–decoder learns from a batch: on true inputs, on a mixture with its own, or stretch by stretch."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from atento.attention.hard import recorded_draws
from atento.data.batches import pad
from atento.data.vocabulary import END, PAD, START, UNKNOWN
from atento.decoding import Marks
from atento.decoding.greedy import likeliest
from atento.decoding.mixing import drawn, mix_inputs
from atento.decoding.writing import Choice
from atento.layers.losses import Loss, token_cross_entropy
from atento.models.recurrent import RecurrentDecoder, RecurrentState
from atento.models.translator import TranslationBatch, as_translator
from atento.recurrent.truncate import chunks
from atento.tasks.pair_codec import EncodedPair
from atento.tasks.task import InStretches
from atento.tasks.translate_draws import Draws, judge_draws

MARKS = Marks(start=START, end=END, forbidden=(PAD, UNKNOWN, START))
OWN: dict[str, Choice] = {"likeliest": likeliest, "drawn": drawn}


def pair_length(pair: EncodedPair) -> int:
    """Tokens on both sides."""
    return len(pair.source) + len(pair.target)


def pad_pairs(pairs: Sequence[EncodedPair]) -> TranslationBatch:
    """Token lists -> padded tensors."""
    source, source_valid = pad([pair.source for pair in pairs])
    previous, _ = pad([pair.previous for pair in pairs])
    target, target_valid = pad([pair.target for pair in pairs])
    return TranslationBatch(source, source_valid, previous, target, target_valid)


def forget_tokens(batch: TranslationBatch, share: float) -> TranslationBatch:
    """The batch with this share of its source tokens read as unknown; padding stays padding."""
    lost = torch.rand(batch.source.shape, device=batch.source.device) < share
    return batch._replace(source=batch.source.masked_fill(lost & batch.source_valid, UNKNOWN))


def next_token_loss(module: nn.Module, batch: TranslationBatch, smoothing: float) -> Loss:
    """Cross-entropy of each real target token, given the inputs before it."""
    translator = as_translator(module)
    with recorded_draws() as reading:
        encoded = translator.encode(batch.source, batch.source_valid)
    with recorded_draws() as writing:
        features = translator.decoder.features(batch.previous, encoded)
    logits = translator.decoder.to_logits(features[batch.target_valid])
    loss = token_cross_entropy(logits, batch.target[batch.target_valid], smoothing=smoothing)
    return judge_draws(loss, logits, batch, Draws(reading, writing), translator.decoder)


@torch.no_grad()
def mix_own_tokens(module: nn.Module, batch: TranslationBatch, share: float, own: str) -> TranslationBatch:
    """The batch with a coin thrown for each input: true with this probability, else the module's own token."""
    translator = as_translator(module)
    coins = torch.rand(batch.previous.shape, device=batch.previous.device) < share
    encoded = translator.encode(batch.source, batch.source_valid)
    keep = coins | ~batch.target_valid  # padding stays padding
    mixed = mix_inputs(translator.decoder, encoded, batch.previous, keep, choose=OWN[own], marks=MARKS)
    return batch._replace(previous=mixed)


def count_tokens(batch: TranslationBatch) -> int:
    """Real tokens of the targets."""
    return int(batch.target_valid.sum())


def first_state(module: nn.Module, batch: TranslationBatch) -> Any:
    """Read the sources: what the decoder carries before its first step."""
    translator = as_translator(module)
    return translator.decoder.start(translator.encode(batch.source, batch.source_valid))


def cut_targets(batch: TranslationBatch, steps: int) -> list[TranslationBatch]:
    """Stretches of the targets; the sources were read before."""
    return [
        batch._replace(
            previous=batch.previous[:, here], target=batch.target[:, here], target_valid=batch.target_valid[:, here]
        )
        for here in chunks(batch.target.size(1), steps)
    ]


def stretch_loss(
    module: nn.Module, stretch: TranslationBatch, state: RecurrentState, smoothing: float
) -> tuple[Loss, RecurrentState]:
    """The loss of a stretch of the targets from where the decoder stands, and where it stands then."""
    decoder = as_translator(module).decoder
    if not isinstance(decoder, RecurrentDecoder):
        raise TypeError(f"{type(decoder).__name__} carries no state from stretch to stretch")
    with recorded_draws() as draws:
        walked = decoder.resume(stretch.previous, state)
    logits = decoder.to_logits(walked.features[stretch.target_valid])
    loss = token_cross_entropy(logits, stretch.target[stretch.target_valid], smoothing=smoothing)
    return judge_draws(loss, logits, stretch, Draws((), draws), decoder), walked.state


STRETCHES = InStretches(items=count_tokens, start=first_state, cut=cut_targets, loss=stretch_loss)
