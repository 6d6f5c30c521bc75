"""Contracts of a matcher: each of its two sequences in turn is padded, moved and changed beside the other."""

from typing import Any

import torch
from torch import Tensor

from atento.checking.finding import Finding
from atento.checking.one_sided import READING
from atento.checking.places import why_sided
from atento.checking.sequences import check_sequence
from atento.checking.subject import Outputs, Subject, chance, tokens_of, vocabulary_of
from atento.models.matcher import ECHOES, MatchBatch, Matcher

# Axes: B rows, T time, N time of the other sequence.

OTHER = 5
ONLY_HERE, SAME = ECHOES.index("only here"), ECHOES.index("the same there")


def check_matcher(module: Matcher) -> list[Finding]:
    """Tokens in, outputs of the head for each row, beside another sequence on either side."""
    draw = tokens_of(vocabulary_of(module), least=4)
    with chance(2):
        other = draw(1, OTHER)

    def view(one: Any) -> Subject:
        def read(values: Tensor, valid: Tensor) -> Outputs:
            batch = beside(values, valid, other.expand(len(values), -1))
            return Outputs(whole=torch.cat([one(batch), one(batch.swapped())], dim=-1))

        return Subject(one, read, draw, over=view, sided=why_sided(module, ahead=module))

    return check_sequence(module, view, only=READING)


def beside(values: Tensor, valid: Tensor, other: Tensor) -> MatchBatch:
    """A batch of both; echoes at padding are left as they come."""
    shared = values.unsqueeze(-1) == other.unsqueeze(-2)  # (B, T, N)
    echo = echo_of(shared.any(dim=-1))
    other_echo = echo_of((shared & valid.unsqueeze(-1)).any(dim=-2))
    whole = torch.ones_like(other, dtype=torch.bool)
    return MatchBatch(values, valid, echo, other, whole, other_echo, torch.zeros(len(values), dtype=torch.long))


def echo_of(shared: Tensor) -> Tensor:
    """The echo of tokens that the other sequence has, or has not."""
    return torch.where(shared, SAME, ONLY_HERE)
