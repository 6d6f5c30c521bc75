"""What an encoder–decoder loses when it goes on from its own tokens: the same questions, answered both ways."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from atento.data.batches import like_lengths
from atento.data.vocabulary import END, UNKNOWN
from atento.decoding.hypothesis import log_probabilities
from atento.metrics.exposure import Agreement, agree, summarise
from atento.models.translator import as_translator
from atento.tasks.pair_codec import EncodedPair, PairCodec, prepare_text
from atento.tasks.task import Answer, Question
from atento.tasks.translate_training import MARKS, pad_pairs, pair_length

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
