"""How an encoder–decoder learns from a batch: on true inputs, on a mixture with its own, or stretch by stretch.

What drawn keys are worth: the score-function gradient of an encoder–decoder that looks at one key at a time.
What an encoder–decoder loses when it goes on from its own tokens: the same questions, answered both ways.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from atento.attention.distributions.hard import recorded_draws, score_function_loss
from atento.data.examples.batches import like_lengths, pad
from atento.data.text.vocabulary import END, PAD, START, UNKNOWN
from atento.decoding import Marks
from atento.decoding.greedy import Choice, likeliest, log_probabilities
from atento.decoding.scheduled_sampling import drawn, mix_inputs
from atento.layers.losses import Loss, precise, token_cross_entropy
from atento.metrics.language_model import Agreement, agree, summarise
from atento.models.backbones.recurrent import RecurrentDecoder, RecurrentState
from atento.models.protocols import Decoder
from atento.models.translator import TranslationBatch, as_translator
from atento.recurrent.truncated import chunks
from atento.tasks.seq2seq.codec import EncodedPair, PairCodec, prepare_text
from atento.tasks.task import Answer, InStretches, Question

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


BATCH_TOKENS = 16_384  # read together


def measure_exposure(
    module: nn.Module, codec: PairCodec, questions: Sequence[Question], answers: Sequence[Answer]
) -> dict[str, Any]:
    """Token accuracy and exact match, each step `forced` after the true tokens, and `free` after the model's own; of
    several references the one that agrees best.
    """
    asked = [(place, reference) for place, question in enumerate(questions) for reference in question.references]
    pairs = [as_pair(codec, questions[place].source, reference) for place, reference in asked]
    forced: list[list[Agreement]] = [[] for _ in questions]
    free: list[list[Agreement]] = [[] for _ in questions]
    for (place, _), pair, written in zip(asked, pairs, next_tokens(module, pairs), strict=True):
        forced[place].append(agree(written, pair.target))
        free[place].append(agree([*codec.target.encode(answers[place].text), END], pair.target))
    return {"forced": summarise(best_of(forced)), "free": summarise(best_of(free))}


def as_pair(codec: PairCodec, source: str, reference: str) -> EncodedPair:
    """A question as it would stand in the training part; an empty source is one unknown token."""
    pair = codec.encode((prepare_text(source), prepare_text(reference)))
    return pair if pair.source else pair._replace(source=[UNKNOWN])


@torch.no_grad()
def next_tokens(module: nn.Module, pairs: Sequence[EncodedPair]) -> list[list[int]]:
    """The likeliest token after each true beginning of each target."""
    translator = as_translator(module)
    device = next(module.parameters()).device
    found: dict[int, list[int]] = {}
    lengths = [pair_length(pair) for pair in pairs]
    for indices in like_lengths(lengths, batch_tokens=BATCH_TOKENS):
        batch = pad_pairs([pairs[index] for index in indices])
        batch = type(batch)(*(part.to(device) for part in batch))
        encoded = translator.encode(batch.source, batch.source_valid)
        likeliest = log_probabilities(translator.decoder(batch.previous, encoded), MARKS).argmax(dim=-1)
        for index, row in zip(indices, likeliest.tolist(), strict=True):
            found[index] = row[: len(pairs[index].target)]
    return [found[index] for index in range(len(pairs))]


def best_of(agreements: Sequence[Sequence[Agreement]]) -> list[Agreement]:
    """The best agreement of each question."""
    return [max(some, key=lambda one: one.share) for some in agreements]
