"""Greedy search, beam search and sampling over arrays; they see a step and nothing else.

The same rules as in `atento.decoding`: the same tokens come out, and the same seed draws the same text.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from atento.exporting.runtime.graphs import Array, Arrays, log_softmax
from atento.spec import DecodeRecipe

# Axes: B batch, R rows not yet ended, W beam width, V vocabulary, C candidates.

State = Arrays
Step = Callable[[Array, State], tuple[Array, State]]  # tokens (R,), state -> logits (R, V), the state after it
Emit = Callable[[list[int]], None]  # takes the tokens of the first row so far


class Special(NamedTuple):
    """Token numbers that a search treats in their own way."""

    end: int
    forbidden: tuple[int, ...]  # never written


class Written(NamedTuple):
    """The tokens of an output without start and end, and the sum of their log-probabilities."""

    tokens: tuple[int, ...]
    score: float


class Begun(NamedTuple):
    """The logits (B, V) of the first token of each row, and the state."""

    logits: Array
    state: State


def search(
    begun: Begun,
    step: Step,
    recipe: DecodeRecipe,
    *,
    special: Special,
    limits: Sequence[int],
    seeds: Sequence[str],
    emit: Emit | None = None,
) -> list[Written]:
    """The best output of each row; `seeds` matter only for sampling."""
    if recipe.temperature:
        choose = TokenDraws(seeds, recipe)
        return one_by_one(begun, step, choose, special=special, limits=limits, emit=emit)
    if recipe.beam == 1:
        return one_by_one(begun, step, most_probable, special=special, limits=limits, emit=emit)
    return beam(begun, step, width=recipe.beam, penalty=recipe.length_penalty, special=special, limits=limits)


def log_probabilities(logits: Array, special: Special) -> Array:
    """Over all tokens but the forbidden ones, which get −inf."""
    allowed = logits.astype(np.float32)
    allowed[..., list(special.forbidden)] = -np.inf
    return log_softmax(allowed)


def most_probable(log_probs: Array, rows: Array) -> Array:
    """The most probable token (R,) of each row."""
    return np.asarray(log_probs.argmax(axis=-1))


def one_by_one(
    begun: Begun,
    step: Step,
    choose: Callable[[Array, Array], Array],
    *,
    special: Special,
    limits: Sequence[int],
    emit: Emit | None = None,
) -> list[Written]:
    """Token by token, until every row has ended."""
    logits, state = begun
    rows, most = np.arange(len(logits)), np.asarray(limits)
    written: list[list[int]] = [[] for _ in rows]
    scores = np.zeros(len(rows), dtype=np.float32)
    for length in range(1, int(most.max(initial=0)) + 1):
        log_probs = log_probabilities(logits, special)
        token = choose(log_probs, rows)
        scores[rows] += np.take_along_axis(log_probs, token[:, None], axis=1)[:, 0]
        going = token != special.end
        for row, number in zip(rows[going].tolist(), token[going].tolist(), strict=True):
            written[row].append(number)
        if emit is not None:
            emit(written[0])
        going &= most[rows] > length
        if not going.any():
            break
        rows, token = rows[going], token[going]
        logits, state = step(token, picked(state, np.flatnonzero(going)))
    return [Written(tuple(tokens), float(score)) for tokens, score in zip(written, scores, strict=True)]


class TokenDraws:
    """Tokens drawn by inverse transform sampling: one uniform number for each row and step."""

    def __init__(self, seeds: Sequence[str], recipe: DecodeRecipe) -> None:
        self.generators = [random.Random(seed) for seed in seeds]
        self.recipe = recipe

    def __call__(self, log_probs: Array, rows: Array) -> Array:
        """Log-probabilities (R, V) of rows (R,) -> tokens (R,)."""
        recipe, scaled = self.recipe, log_probs.astype(np.float64) / self.recipe.temperature
        order = np.argsort(-scaled, axis=-1, kind="stable")
        ordered = np.take_along_axis(scaled, order, axis=-1)
        if recipe.top_k:
            ordered[:, recipe.top_k :] = -np.inf
        shares = np.exp(ordered - ordered[:, :1])
        shares /= shares.sum(axis=-1, keepdims=True)
        before = shares.cumsum(axis=-1) - shares
        shares[before >= recipe.top_p] = 0.0
        probs = np.zeros_like(shares)
        np.put_along_axis(probs, order, shares, axis=-1)
        sums = (probs / probs.sum(axis=-1, keepdims=True)).cumsum(axis=-1)
        found = []
        for row, each in zip(rows.tolist(), sums, strict=True):
            place = min(self.generators[row].random() * each[-1], np.nextafter(each[-1], 0.0))
            found.append(int(np.searchsorted(each, place, side="right")))
        return np.asarray(found)


def beam(
    begun: Begun, step: Step, *, width: int, penalty: float, special: Special, limits: Sequence[int]
) -> list[Written]:
    """The best output of each row by score / length^penalty."""
    logits, rows = np.repeat(begun.logits, width, axis=0), list(range(len(begun.logits)))
    state = picked(begun.state, np.repeat(np.arange(len(rows)), width))
    pools = [Pool(width, penalty) for _ in rows]
    scores: Array = np.full((len(rows), width), -np.inf, dtype=np.float32)
    scores[:, 0] = 0.0  # all beams are equal at the start: only one may be continued
    written = np.zeros((len(rows), width, 0), dtype=np.int64)
    for length in range(1, max(limits) + 1):
        log_probs = log_probabilities(logits, special).reshape(len(rows), width, -1)
        totals = (scores[..., None] + log_probs).reshape(len(rows), -1)
        places = np.argsort(-totals, axis=1, kind="stable")[:, : 2 * width]  # at most W of them end here
        best, beams, tokens = (
            np.take_along_axis(totals, places, axis=1),
            places // log_probs.shape[-1],
            places % log_probs.shape[-1],
        )
        ends = tokens == special.end
        for place, rank in np.argwhere(ends[:, :width] & np.isfinite(best[:, :width])).tolist():
            pools[rows[place]].add(written[place, beams[place, rank]].tolist(), float(best[place, rank]))
        going = np.argsort(ends, axis=1, kind="stable")[:, :width]  # the best candidates that go on
        chosen: list[Array] = [np.take_along_axis(part, going, axis=1) for part in (best, tokens, beams)]
        scores, token, source = chosen
        before = np.take_along_axis(written, source[..., None], axis=1)
        written = np.concatenate([before, token[..., None]], axis=-1)
        open_ = [at for at, row in enumerate(rows) if pools[row].may_gain(float(scores[at, 0]), length)]
        keep = [at for at in open_ if limits[rows[at]] > length]
        for at in set(open_).difference(keep):
            pools[rows[at]].fill(written[at].tolist(), scores[at].tolist())
        if not keep:
            break
        flat = (np.arange(len(rows))[:, None] * width + source)[keep].ravel()
        token, scores, written, rows = token[keep].ravel(), scores[keep], written[keep], [rows[at] for at in keep]
        logits, state = step(token, picked(state, flat))
    else:  # no token may be written
        for at, row in enumerate(rows):
            pools[row].fill(written[at].tolist(), scores[at].tolist())
    return [pool.found[0] for pool in pools]


class Pool:
    """The best outputs of one row, best first."""

    def __init__(self, width: int, penalty: float) -> None:
        self.width, self.penalty = width, penalty
        self.found: list[Written] = []

    def rank(self, score: float, length: int) -> float:
        """The score by which outputs of different lengths are compared."""
        return score / float(length) ** self.penalty

    def add(self, tokens: list[int], score: float) -> None:
        """One more; the worst of too many is dropped."""
        self.found.append(Written(tuple(tokens), score))
        self.found.sort(key=lambda one: -self.rank(one.score, len(one.tokens) + 1))  # the end token counts
        del self.found[self.width :]

    def may_gain(self, score: float, length: int) -> bool:
        """Whether the best partial output could still enter."""
        if score == -np.inf or len(self.found) < self.width:
            return score > -np.inf
        worst = self.found[-1]
        return self.rank(score, length) > self.rank(worst.score, len(worst.tokens) + 1)

    def fill(self, written: list[list[int]], scores: list[float]) -> None:
        """At the limit, partial outputs fill what is free."""
        for tokens, score in zip(written, scores, strict=True):
            if len(self.found) < self.width and score > -np.inf:
                self.add(tokens, score)


def picked(state: State, rows: Array) -> State:
    """The state with these rows of the batch."""
    return {name: part[rows] for name, part in state.items()}


def seeds_of(keys: Sequence[Sequence[object]], seed: int) -> list[str]:
    """A seed for each source: what it is and how often it was asked before, so that no other source matters."""
    asked: Counter[tuple[object, ...]] = Counter()
    seeds = []
    for key in keys:
        seeds.append(f"{seed} {asked[tuple(key)]} {key}")
        asked[tuple(key)] += 1
    return seeds
