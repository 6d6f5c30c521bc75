"""Greedy search, and the decoding loop it shares with sampling: token by token, until every row has ended.

The two differ in a `TokenChoice`: greedy search takes the most probable token, sampling draws one."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import torch
from torch import Tensor

from atento.models.protocols import Decoder, Encoded, IncrementalDecoder, SearchSteps, StateSteps

# Axes: B batch, R rows not yet ended, V vocabulary.

TokenChoice = Callable[[Tensor, Tensor], Tensor]  # log-probabilities (R, V), their batch rows (R,) -> tokens (R,)
LOOK_EVERY = 8  # steps on a GPU between two looks at which rows have ended
MOST_LEFT = 0.75  # share of the rows that go on at which the others leave the batch
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
    """One hypothesis per row, at most `max_tokens` long, one number for all rows or one for each.

    Rows that have ended leave the batch once they are a quarter of it. All is kept on the device, and looked at every
    few steps: a GPU need not wait for Python, which would have to wait for it.
    """
    device, batch = encoded.valid.device, len(encoded.valid)
    limits = torch.as_tensor(max_tokens, device=device).expand(batch)
    longest = int(limits.max()) if batch else 0
    steps = steps_of(decoder, encoded, room=longest)
    rows = torch.arange(batch, device=device)  # (R,) the batch row of each
    token = torch.full_like(rows, special_tokens.start)
    going = limits > 0  # (R,) whether a row goes on
    written = torch.full((batch, longest), special_tokens.end, device=device)
    scores = torch.zeros(batch, dtype=torch.float32, device=device)
    forbidden, tell = forbidden_tokens(special_tokens, encoded.valid), FOLLOWER.get()
    look_every = LOOK_EVERY if encoded.valid.is_cuda and tell is None else 1
    for length in range(1, longest + 1):
        log_probs = log_probabilities(steps.step(token), special_tokens, forbidden)
        chosen = choose(log_probs, rows)
        scores.index_add_(0, rows, log_probs.gather(1, chosen.unsqueeze(1)).squeeze(1).masked_fill(~going, 0.0))
        token = chosen.masked_fill(~going, special_tokens.end)
        written[rows, length - 1] = token
        if tell is not None:
            tell_first(tell, rows, token, going, special_tokens)
        going = going & (token != special_tokens.end) & (limits[rows] > length)
        if length % look_every == 0 and length < longest:
            left = int(going.sum())
            if left == 0:
                break
            if left <= MOST_LEFT * len(rows):
                keep = going.nonzero().squeeze(-1)
                rows, token, going = rows[keep], token[keep], going[keep]
                steps.keep(keep)
    texts = [row[: row.index(special_tokens.end)] if special_tokens.end in row else row for row in written.tolist()]
    return [Hypothesis(tuple(text), score) for text, score in zip(texts, scores.tolist(), strict=True)]


def steps_of(decoder: IncrementalDecoder[Any], encoded: Encoded, *, room: int, copies: int = 1) -> SearchSteps:
    """The steps of a decoder: its own, or by its state."""
    if isinstance(decoder, Decoder):
        return decoder.steps(encoded, room=room, copies=copies)
    return StateSteps(decoder, encoded, copies=copies)


def tell_first(
    tell: Callable[[int], None], rows: Tensor, token: Tensor, going: Tensor, special_tokens: SpecialTokens
) -> None:
    """Tell the token of the first row of the batch, while that goes on."""
    if int(rows[0]) == 0 and bool(going[0]) and int(token[0]) != special_tokens.end:
        tell(int(token[0]))


def forbidden_tokens(special_tokens: SpecialTokens, like: Tensor) -> Tensor:
    """The numbers of the tokens that are never written, on the device of a tensor."""
    return torch.tensor(special_tokens.forbidden, dtype=torch.long, device=like.device)


def log_probabilities(logits: Tensor, special_tokens: SpecialTokens, forbidden: Tensor | None = None) -> Tensor:
    """Log-softmax (..., V) over all tokens but the forbidden ones, which get −inf; `forbidden` are their numbers."""
    forbidden = forbidden_tokens(special_tokens, logits) if forbidden is None else forbidden
    return logits.float().index_fill(-1, forbidden, -torch.inf).log_softmax(dim=-1)
