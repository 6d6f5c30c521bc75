"""Greedy search: the likeliest token at every step.

Writing token by token: the walk that greedy search and sampling share. A choice says which token comes next.
What a search gives, and the tokens it must know.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from atento.models.protocols import Encoded, Writer, reorder


class Marks(NamedTuple):
    """Token numbers with a meaning of their own."""

    start: int
    end: int
    forbidden: tuple[int, ...]  # never written: padding, the start mark, the unknown token


class Hypothesis(NamedTuple):
    """A written output and the sum of its tokens' log-probabilities, its end mark included."""

    tokens: tuple[int, ...]  # without start and end marks
    score: float


def log_probabilities(logits: Tensor, marks: Marks) -> Tensor:
    """Log-softmax (..., V) over the tokens that may be written."""
    barred = torch.zeros(logits.size(-1), dtype=torch.bool, device=logits.device)
    barred[list(marks.forbidden)] = True
    return logits.float().masked_fill(barred, -torch.inf).log_softmax(dim=-1)


# Axes: B batch, R rows still being written, V vocabulary.

Choice = Callable[[Tensor, Tensor], Tensor]  # log-probabilities (R, V), the batch rows they are of (R,) -> tokens (R,)


@torch.no_grad()
def write(
    decoder: Writer[Any], encoded: Encoded, *, choose: Choice, marks: Marks, longest: int | Sequence[int]
) -> list[Hypothesis]:
    """One hypothesis a row, cut after `longest` tokens, one number for all rows or one for each."""
    rows = torch.arange(len(encoded.valid), device=encoded.valid.device)  # (R,) which row each line belongs to
    token = torch.full_like(rows, marks.start)
    state = decoder.start(encoded)
    written: list[list[int]] = [[] for _ in range(len(rows))]
    scores = torch.zeros(len(rows), dtype=torch.float32, device=encoded.states.device)
    limits = torch.as_tensor(longest, device=rows.device).expand(len(rows))
    for length in range(1, int(limits.max()) + 1):
        logits, state = decoder.step(token, state)
        chances = log_probabilities(logits, marks)
        token = choose(chances, rows)
        scores.index_add_(0, rows, chances.gather(1, token.unsqueeze(1)).squeeze(1))
        going = token != marks.end
        for row, number in zip(rows[going].tolist(), token[going].tolist(), strict=True):
            written[row].append(number)
        going &= limits[rows] > length
        if not going.all():  # finished rows leave the batch
            keep = going.nonzero().squeeze(-1)
            if len(keep) == 0:
                break
            rows, token, state = rows[keep], token[keep], reorder(state, keep)
    return [Hypothesis(tuple(tokens), score) for tokens, score in zip(written, scores.tolist(), strict=True)]


# Axes: R rows, V vocabulary.


def greedy(decoder: Writer[Any], encoded: Encoded, *, marks: Marks, longest: int | Sequence[int]) -> list[Hypothesis]:
    """One hypothesis a row, cut after `longest` tokens, one number for all rows or one for each."""
    return write(decoder, encoded, choose=likeliest, marks=marks, longest=longest)


def likeliest(chances: Tensor, rows: Tensor) -> Tensor:
    """Of log-probabilities (R, V) the token of the largest (R,); the row does not matter."""
    return chances.argmax(dim=-1)
