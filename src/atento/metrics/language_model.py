"""How surprised a language model is by a text: from the log-probabilities of whole sequences and their lengths.

How often what is true is preferred to what chance would have drawn.
Exposure: what a model loses when it reads its own words instead of the true ones (Ranzato et al., 2016, sec. 1).
"""

import math
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from atento.errors import InputError
from atento.metrics.metric import Metric, Sums, share

# Axes: N passages of texts.

MOST_NATS = math.log(sys.float_info.max)  # exp of more is no float
PASSAGE = 1000  # characters; a long text is judged in parts so long, whose spread says how sure its figure is
TINY = 1e-9  # a text of no characters costs nothing


def nats_per_token(log_probabilities: Sequence[float], tokens: Sequence[int]) -> float:
    """Minus the log-probability of all sequences over all their tokens; an end mark that is predicted is a token."""
    if len(log_probabilities) != len(tokens):
        raise InputError(
            "every sequence has a log-probability and a number of tokens.",
            found=f"{len(log_probabilities)} log-probabilities, {len(tokens)} numbers of tokens",
            fix="give as many of each",
        )
    if sum(tokens) < 1:
        raise InputError("a text without tokens surprises nobody.", found=f"tokens={list(tokens)}", fix="give a text")
    return -math.fsum(log_probabilities) / sum(tokens)


def bits_per_token(log_probabilities: Sequence[float], tokens: Sequence[int]) -> float:
    """The same in bits."""
    return nats_per_token(log_probabilities, tokens) / math.log(2)


def perplexity(log_probabilities: Sequence[float], tokens: Sequence[int]) -> float:
    """exp of the nats a token: among how many equally likely tokens the model seems to choose."""
    nats = nats_per_token(log_probabilities, tokens)
    return math.exp(nats) if nats < MOST_NATS else math.inf


def judged_text(text: str, chances: Sequence[float]) -> list[Any]:
    """What is judged of a text, from the log-probabilities of its tokens, be they characters or not:
    [log-probability, characters, words, log-probability of each passage of it].
    """
    parts = max(1, round(len(text) / PASSAGE))
    borders = [len(chances) * part // parts for part in range(parts + 1)]
    sums = [math.fsum(chances[begin:end]) for begin, end in pairwise(borders)]
    return [math.fsum(sums), len(text), len(text.split()), sums]


def text_statistics(outputs: Sequence[Any], references: Sequence[Sequence[str]]) -> Sums:
    """(N, 3): of each passage of each text the nats it cost, its characters and its words; passages of a text are
    equally long. An output is [log-probability, characters, words, log-probability of each passage].
    """
    rows = [
        (-part, characters / len(parts), words / len(parts))
        for _, characters, words, parts in outputs
        for part in parts
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def nats_a_character(sums: Sums) -> Sums:
    """−log P / characters."""
    return np.asarray(sums[:, 0] / np.maximum(sums[:, 1], TINY))


def bits_a_character(sums: Sums) -> Sums:
    """The same in bits."""
    return np.asarray(nats_a_character(sums) / math.log(2))


def word_perplexity(sums: Sums) -> Sums:
    """exp(−log P / words): whatever a model's tokens are, its text has as many words."""
    return np.exp(np.minimum(sums[:, 0] / np.maximum(sums[:, 2], TINY), MOST_NATS))


NATS = Metric(
    "nats_per_char",
    "surprise at each character in nats, of all held-out text; 0 is perfect",
    text_statistics,
    nats_a_character,
    smaller_is_better=True,
)
BITS = Metric("bits_per_char", "the same in bits", text_statistics, bits_a_character, smaller_is_better=True)
PERPLEXITY = Metric(
    "word_perplexity",
    "among how many equally likely words the model seems to choose, spaces and signs included",
    text_statistics,
    word_perplexity,
    smaller_is_better=True,
)
MASKED_NATS = Metric(
    "nats_per_char",
    "surprise at hidden tokens in nats a character, each filled from both sides: no probability of a text, not to be "
    "compared with models that write it",
    text_statistics,
    nats_a_character,
    smaller_is_better=True,
)


def preference_statistics(outputs: Sequence[Any], references: Sequence[Sequence[str]]) -> Sums:
    """(N, 2): outputs are [preferred, asked] of each text, as sums over its words."""
    return np.asarray([list(output) for output in outputs], dtype=np.float64).reshape(-1, 2)


PREFERRED = Metric(
    "preferred",
    "how often the true next word is preferred to a drawn one; 0.5 is chance",
    preference_statistics,
    share,
)


class Agreement(NamedTuple):
    """How much of one truth was written."""

    hits: int  # true tokens that stand at their place
    tokens: int  # of the truth

    @property
    def share(self) -> float:
        """Of the true tokens."""
        return self.hits / max(self.tokens, 1)


def agree(written: Sequence[int], truth: Sequence[int]) -> Agreement:
    """Place by place; what was written beyond the truth is a miss by the end mark that should stand there."""
    return Agreement(sum(one == other for one, other in zip(written, truth, strict=False)), len(truth))


def summarise(best: Sequence[Agreement]) -> dict[str, float]:
    """Share of tokens that are right, and of examples right in every token."""
    tokens = sum(one.tokens for one in best)
    hits = sum(one.hits for one in best)
    return {
        "tokens": hits / max(tokens, 1),
        "exact": sum(one.hits == one.tokens for one in best) / max(len(best), 1),
    }
