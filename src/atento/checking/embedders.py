"""Contracts of models that learn vectors of words: what they foresee of each word of a text."""

from typing import Any

from torch import Tensor, nn

from atento.checking.finding import Finding
from atento.checking.sequences import check_sequence
from atento.checking.subject import Outputs, Subject, tokens_of, vocabulary_of
from atento.models.next_word import NextWord
from atento.models.skip_gram import MARKS, SkipGram, WordsBatch


def check_embedder(module: SkipGram | NextWord) -> list[Finding]:
    """Tokens in, for each the scores of every word in its place, from those before."""
    draw = tokens_of(vocabulary_of(module), least=MARKS)

    def view(one: nn.Module) -> Subject:
        def read(tokens: Tensor, valid: Tensor) -> Outputs:
            scores: Any = one(WordsBatch(tokens, valid))  # (M, V)
            items = scores.new_zeros(*valid.shape, scores.size(-1)).masked_scatter(valid.unsqueeze(-1), scores)
            return Outputs(items=items)

        return Subject(one, read, draw, over=view)

    return check_sequence(module, view)
