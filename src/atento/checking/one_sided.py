"""Contracts of models of one half: a classifier and a tagger only read, a language model only writes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from atento.checking.decoders import decoder_cache, state_rows
from atento.checking.finding import Finding, tried
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
from atento.models.classifier import Classifier
from atento.models.language_model import LanguageModel, TextBatch
from atento.models.tagger import Tagger

# Axes: B rows, N time, V vocabulary, M real tokens.

READING = [name for name in SEQUENCES if name not in FUTURE]


def check_classifier(module: Classifier) -> list[Finding]:
    """Tokens or numbers in, outputs of the head for each row."""
    draw = drawing(module.encoder)

    def view(one: Any) -> Subject:
        def read(values: Tensor, valid: Tensor) -> Outputs:
            return Outputs(whole=one.head(one.sum_up(one.encoder.encode(values, valid))))

        return Subject(one, read, draw, over=view, sided=why_sided(module))

    return check_sequence(module, view, only=READING)


def check_tagger(module: Tagger) -> list[Finding]:
    """Tokens or numbers in, outputs of the head for each step."""
    draw = drawing(module.encoder)

    def view(one: Any) -> Subject:
        def read(values: Tensor, valid: Tensor) -> Outputs:
            return Outputs(items=one.head(one.encoder.encode(values, valid).states))

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


def drawing(encoder: nn.Module) -> Callable[[int, int], Tensor]:
    """Tokens where it has a table of them, else numbers of the width it reads."""
    vocabulary = vocabulary_of(encoder)
    if vocabulary:
        return tokens_of(vocabulary, least=4)
    copy: Any = exact_copy(encoder)

    def attempt(size: int) -> None:
        copy.encode(torch.zeros(1, 2, size, dtype=torch.float64), torch.ones(1, 2, dtype=torch.bool))

    (size,) = widths_that_fit(copy, attempt, sizes=1)
    return numbers_of(size)
