"""Contracts of models of one half: a classifier and a tagger only read, a language model only writes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from atento.checking.decoders import decoder_cache, state_rows
from atento.checking.finding import Finding, tried
from atento.checking.pictures import check_seeing
from atento.checking.places import why_sided
from atento.checking.sequences import FUTURE, SEQUENCES, check_sequence
from atento.checking.subject import (
    ROWS,
    Outputs,
    Subject,
    exact_copy,
    numbers_of,
    tokens_of,
    vocabulary_of,
    widths_that_fit,
)
from atento.models.classifier import Classifier, LabelledBatch, OneEach
from atento.models.language_model import LanguageModel, TextBatch
from atento.models.letters import WordEmbedding
from atento.models.masked import MaskedModel
from atento.models.patched_numbers import PatchedNumbers
from atento.models.pictures import PictureEncoder, all_there
from atento.models.tagger import Tagger

# Axes: B rows, N time, V vocabulary, M real tokens.

LETTERS = 5  # of the longest word
READING = [name for name in SEQUENCES if name not in FUTURE]


def check_classifier(module: Classifier | OneEach) -> list[Finding]:
    """Tokens, numbers or pictures in, outputs of the head, or of one head a label, for each row."""
    if isinstance(module, Classifier) and isinstance(module.encoder, PictureEncoder):
        return [found for found in check_seeing(module, outputs_of) if found.contract in READING]
    draw = drawing((module if isinstance(module, Classifier) else module.each()[0]).encoder)

    def view(one: Any) -> Subject:
        def read(values: Tensor, valid: Tensor) -> Outputs:
            return Outputs(whole=one(LabelledBatch(values, valid, valid)))

        return Subject(one, read, draw, over=view, sided=why_sided(module))

    return check_sequence(module, view, only=READING)


def outputs_of(module: Any, pixels: Tensor) -> Tensor:
    """What the head says of pictures (B, 3, S, S)."""
    there = all_there(pixels)
    said: Tensor = module(LabelledBatch(pixels, there, there))
    return said


def check_tagger(module: Tagger) -> list[Finding]:
    """Tokens, words or numbers in, outputs of the head for each step, of a chain also log Z for each row."""
    draw = drawing(module.encoder)

    def view(one: Any) -> Subject:
        def read(values: Tensor, valid: Tensor) -> Outputs:
            items = one.head(one.encoder.encode(values, valid).states)
            return Outputs(items, None if one.chain is None else one.chain.log_partition(items, valid=valid))

        return Subject(one, read, draw, over=view, sided=why_sided(module))

    return check_sequence(module, view, only=READING)


def check_language_model(module: LanguageModel) -> list[Finding]:
    """Tokens in, for each what may come next; then one at a time."""
    draw = tokens_of(vocabulary_of(module), least=4)

    def view(one: nn.Module) -> Subject:
        def read(tokens: Tensor, valid: Tensor) -> Outputs:
            logits = one(TextBatch(tokens, tokens, valid))  # (M, V)
            items = logits.new_zeros(*valid.shape, logits.size(-1)).masked_scatter(valid.unsqueeze(-1), logits)
            return Outputs(items=items)

        return Subject(one, read, draw, over=view, sided=why_sided(module))

    copy = exact_copy(module)
    laws: dict[str, Callable[..., Finding]] = {"cache": decoder_cache, "state rows": state_rows}
    own = [tried(name, partial(law, exact_copy(module).decoder, copy.begin(ROWS))) for name, law in laws.items()]
    return [*check_sequence(module, view), *own]


def check_masked_model(module: MaskedModel) -> list[Finding]:
    """Tokens in, for each what stands in its place."""
    draw = drawing(module.encoder)

    def view(one: Any) -> Subject:
        def read(tokens: Tensor, valid: Tensor) -> Outputs:
            return Outputs(items=one.to_logits(one.encoder.encode(tokens, valid).states))

        return Subject(one, read, draw, over=view, sided=why_sided(module))

    return check_sequence(module, view, only=READING)


def drawing(encoder: nn.Module) -> Callable[[int, int], Tensor]:
    """Tokens where it has a table of them, words with letters where it reads those, else numbers of its width."""
    words = next((part for part in encoder.modules() if isinstance(part, WordEmbedding)), None)
    if words is not None:
        return words_of(words)
    vocabulary = vocabulary_of(encoder)
    if vocabulary:
        return tokens_of(vocabulary, least=getattr(encoder, "end", 4))  # the end of a sentence too, where it is read
    if isinstance(encoder, PatchedNumbers):
        return numbers_of(encoder.channels)
    copy: Any = exact_copy(encoder)

    def attempt(size: int) -> None:
        copy.encode(torch.zeros(1, 2, size, dtype=torch.float64), torch.ones(1, 2, dtype=torch.bool))

    (size,) = widths_that_fit(copy, attempt, sizes=1)
    return numbers_of(size)


def words_of(embedding: WordEmbedding) -> Callable[[int, int], Tensor]:
    """Draws words (B, N, 1 + L): a number and some letters, 0 after the last."""
    alphabet = 5 if embedding.letters is None else embedding.letters.alphabet

    def draw(rows: int, time: int) -> Tensor:
        words = tokens_of(embedding.table.num_embeddings, least=4)(rows, time)
        letters = torch.randint(1, alphabet, (rows, time, LETTERS))
        spelled = torch.arange(LETTERS) < torch.randint(1, LETTERS + 1, (rows, time, 1))
        return torch.cat([words.unsqueeze(-1), letters * spelled], dim=-1)

    return draw
