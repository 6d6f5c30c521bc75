"""Contracts of an encoder–decoder model: source and target, beam search, and losses that add up."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from atento.checks.attention_parts import why_side_matters
from atento.checks.decoders import NUMBERS, TARGET, check_decoder, check_image_rows, some_beginning, some_images
from atento.checks.finding import EXACT, SHORT, Finding, difference, judged
from atento.checks.models import drawing
from atento.checks.sequences import FUTURE, NOT_FUTURE, check_sequence
from atento.checks.subject import (
    ROWS,
    TIME,
    Law,
    Outputs,
    Subject,
    check_laws,
    ragged,
    seeded,
    tokens_of,
    vocabulary_of,
)
from atento.data.text.vocabulary import END, PAD, START, UNKNOWN
from atento.decoding import SpecialTokens, beam, greedy
from atento.decoding.greedy import log_probabilities
from atento.layers.losses import Loss, token_cross_entropy
from atento.models.backbones.images import ImageEncoder, all_valid
from atento.models.backbones.numbers import PatchedNumberEncoder
from atento.models.ensemble import first_of
from atento.models.protocols import reorder
from atento.models.translator import TranslationBatch, Translator

# Axes: B rows, N source time, T target time, V vocabulary.

WIDTH = 3
SPECIAL = SpecialTokens(start=START, end=END, forbidden=(PAD, UNKNOWN, START))
OF_A_DECODER = (*FUTURE, "cache", "state rows", "weights")


def check_translator(module: Translator) -> list[Finding]:
    """The contracts of a translator from source to logits, those of its decoder, of beam search and of losses."""
    decoder = check_decoder(module.decoder, source_size=module.encoder.size)
    losses: Law = partial(micro_batches, batch=some_batch(module), loss=token_loss)
    laws: dict[str, Law] = {"beam": beam_scores, "beam of one": beam_of_one, "micro-batches": losses}
    return [
        *(
            check_image_source(module)
            if isinstance(first_of(module.encoder), ImageEncoder)
            else check_sequence_source(module)
        ),
        *(finding for finding in decoder if finding.contract in OF_A_DECODER),
        *check_laws(module, laws),
    ]


def check_sequence_source(module: Translator) -> list[Finding]:
    """The contracts of source tokens or numbers."""
    each = not isinstance(first_of(module.encoder), PatchedNumberEncoder)  # which has no state for each step

    def read(one: Translator, tokens: Tensor, valid: Tensor) -> Outputs:
        encoded = one.encode(tokens, valid)
        logits = one.decoder(some_beginning(one.decoder, len(tokens)), encoded)
        return Outputs(encoded.states if each else None, logits)

    sided = why_side_matters(module, ahead=module.decoder)
    return check_sequence(Subject(module, read, drawing(first_of(module.encoder)), side_matters=sided), only=NOT_FUTURE)


def check_image_source(module: Translator) -> list[Finding]:
    """The contracts of source images."""

    def logits(one: Any, pixels: Tensor) -> Tensor:
        encoded = one.encode(pixels, all_valid(pixels))
        return one.decoder(some_beginning(one.decoder, len(pixels)), encoded)

    return [finding for finding in check_image_rows(module, logits) if finding.contract in NOT_FUTURE]


def some_batch(module: Translator) -> TranslationBatch:
    """Random sources and targets of unequal lengths."""
    with seeded(5):
        if isinstance(first_of(module.encoder), ImageEncoder):
            source = some_images(torch.randn(ROWS, NUMBERS, dtype=torch.float64))
            source_valid = all_valid(source)
        else:
            source, source_valid = drawing(first_of(module.encoder))(ROWS, TIME), ragged()
        target = tokens_of(vocabulary_of(module.decoder), least=4)(ROWS, TARGET)
    valid = torch.arange(TARGET) < torch.tensor([[3], [5], [4]])
    previous = torch.cat([torch.full((ROWS, 1), START), target[:, :-1]], dim=1)
    return TranslationBatch(source, source_valid, previous, target, valid)


def token_loss(module: nn.Module, batch: TranslationBatch) -> Loss:
    """Cross-entropy of the real target tokens."""
    return token_cross_entropy(module(batch), batch.target[batch.target_valid])


def micro_batches(module: nn.Module, batch: Any, loss: Callable[[nn.Module, Any], Loss]) -> Finding:
    """Losses of single rows add up to that of the batch, and so do gradients: no mean of means."""
    weights = [weight for weight in module.parameters() if weight.requires_grad]
    whole = loss(module, batch)
    rows = [loss(module, type(batch)(*(part[row : row + 1] for part in batch))) for row in range(len(batch[0]))]
    total = torch.stack([row.total for row in rows]).sum() / max(1, sum(row.items for row in rows))
    pairs = zip(gradient(total, weights), gradient(whole.mean, weights), strict=True)
    gap = max([difference(total, whole.mean), *(difference(*pair) for pair in pairs)])
    words = "losses and gradients of single rows add up to the batch's, by tokens"
    return judged("micro-batches", gap, SHORT, words)


def gradient(value: Tensor, weights: Sequence[Tensor]) -> list[Tensor]:
    """The gradient of each weight; zero where it is not used."""
    found = torch.autograd.grad(value, weights, allow_unused=True, retain_graph=True)
    return [torch.zeros_like(weight) if one is None else one for one, weight in zip(found, weights, strict=True)]


def beam_scores(module: Any) -> Finding:
    """The score of each hypothesis is its log-probability under teacher forcing."""
    batch, gap = some_batch(module), 0.0
    with torch.no_grad():
        encoded = module.encode(batch.source, batch.source_valid)
        for row, found in enumerate(
            beam(module.decoder, encoded, special_tokens=SPECIAL, max_tokens=TARGET, width=WIDTH)
        ):
            alone = reorder(encoded, torch.tensor([row]))
            for hypothesis in found:
                tokens = [*hypothesis.tokens, SPECIAL.end][:TARGET]  # one that was cut has no end token
                logits = module.decoder(torch.tensor([[START, *tokens[:-1]]]), alone)[0]
                forced = log_probabilities(logits, SPECIAL)[torch.arange(len(tokens)), tokens].sum()
                gap = max(gap, difference(torch.tensor(hypothesis.score), forced))
    return judged("beam", gap, SHORT, "the score of a beam is its log-probability under teacher forcing")


def beam_of_one(module: Any) -> Finding:
    """A beam of width 1 gives the same as greedy search."""
    batch = some_batch(module)
    with torch.no_grad():
        encoded = module.encode(batch.source, batch.source_valid)
        ones = [found[0] for found in beam(module.decoder, encoded, special_tokens=SPECIAL, max_tokens=TARGET, width=1)]
        best = greedy(module.decoder, encoded, special_tokens=SPECIAL, max_tokens=TARGET)
    unlike = sum(one.tokens != other.tokens for one, other in zip(ones, best, strict=True))
    return judged("beam of one", float(unlike), EXACT, "a beam of width 1 gives the same as greedy search")
