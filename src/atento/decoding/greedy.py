"""Greedy search, and the decoding loop it shares with sampling: token by token, until every row has ended.

The two differ in a `TokenChoice`: greedy search takes the most probable token, sampling draws one."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import torch
from torch import Tensor

from atento.models.protocols import Encoded, IncrementalDecoder, reorder

# Axes: B batch, R rows not yet ended, V vocabulary.

TokenChoice = Callable[[Tensor, Tensor], Tensor]  # log-probabilities (R, V), their batch rows (R,) -> tokens (R,)
FOLLOWER: ContextVar[Callable[[int], None] | None] = ContextVar("FOLLOWER", default=None)


class SpecialTokens(NamedTuple):
    """Token numbers that a search treats in their own way."""

    start: int
    end: int
    forbidden: tuple[int, ...]  # never written: padding, the start token, the unknown token


class Hypothesis(NamedTuple):
    """An output and the sum of its tokens' log-probabilities, its end token included."""

    tokens: tuple[int, ...]  # without start and end tokens
    score: float


@contextmanager
def follow_tokens(tell: Callable[[int], None]) -> Iterator[None]:
    """Within it, `tell` receives each token of the first row as soon as greedy search or sampling has chosen it. Beam
    search tells none: until its end, any token may still be replaced.
    """
    before = FOLLOWER.set(tell)
    try:
        yield
    finally:
        FOLLOWER.reset(before)


def greedy(
    decoder: IncrementalDecoder[Any],
    encoded: Encoded,
    *,
    special_tokens: SpecialTokens,
    max_tokens: int | Sequence[int],
) -> list[Hypothesis]:
    """One hypothesis per row, the most probable token at every step, at most `max_tokens` for all rows or for each."""
    return generate(decoder, encoded, choose=argmax, special_tokens=special_tokens, max_tokens=max_tokens)


def argmax(log_probs: Tensor, rows: Tensor) -> Tensor:
    """The most probable token (R,) of log-probabilities (R, V), whichever the rows."""
    return log_probs.argmax(dim=-1)


@torch.no_grad()
def generate(
    decoder: IncrementalDecoder[Any],
    encoded: Encoded,
    *,
    choose: TokenChoice,
    special_tokens: SpecialTokens,
    max_tokens: int | Sequence[int],
) -> list[Hypothesis]:
    """One hypothesis per row, at most `max_tokens` long, one number for all rows or one for each."""
    rows = torch.arange(len(encoded.valid), device=encoded.valid.device)  # (R,) the batch row of each
    token = torch.full_like(rows, special_tokens.start)
    state = decoder.start(encoded)
    written: list[list[int]] = [[] for _ in range(len(rows))]
    scores = torch.zeros(len(rows), dtype=torch.float32, device=encoded.states.device)
    limits = torch.as_tensor(max_tokens, device=rows.device).expand(len(rows))
    tell = FOLLOWER.get()
    for length in range(1, int(limits.max()) + 1):
        logits, state = decoder.step(token, state)
        log_probs = log_probabilities(logits, special_tokens)
        token = choose(log_probs, rows)
        scores.index_add_(0, rows, log_probs.gather(1, token.unsqueeze(1)).squeeze(1))
        going = token != special_tokens.end
        for row, number in zip(rows[going].tolist(), token[going].tolist(), strict=True):
            written[row].append(number)
            if tell is not None and row == 0:
                tell(number)
        going &= limits[rows] > length
        if not going.all():  # rows that have ended leave the batch
            keep = going.nonzero().squeeze(-1)
            if len(keep) == 0:
                break
            rows, token, state = rows[keep], token[keep], reorder(state, keep)
    return [Hypothesis(tuple(tokens), score) for tokens, score in zip(written, scores.tolist(), strict=True)]


def log_probabilities(logits: Tensor, special_tokens: SpecialTokens) -> Tensor:
    """Log-softmax (..., V) over all tokens but the forbidden ones, which get −inf."""
    forbidden = torch.zeros(logits.size(-1), dtype=torch.bool, device=logits.device)
    forbidden[list(special_tokens.forbidden)] = True
    return logits.float().masked_fill(forbidden, -torch.inf).log_softmax(dim=-1)
