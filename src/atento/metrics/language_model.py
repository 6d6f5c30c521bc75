"""Metrics of language models: perplexity per character and word, preference, and the exposure of free generation.

A scored text is [log-probability, characters, words, log-probability of each passage]: figures per character and per
word are comparable between models of different tokens. Exposure is what a model loses when it reads its own tokens
instead of the true ones (Ranzato et al., 2016, sec. 1).
"""

import math
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from atento.metrics.metric import Metric, Sums, ratio

# Axes: N passages of texts.

MAX_NATS = math.log(sys.float_info.max)  # exp of more overflows
PASSAGE = 1000  # characters; a long text is scored in passages, which the bootstrap draws
TINY = 1e-9  # avoids a division by zero for an empty text


def text_score(text: str, log_probabilities: Sequence[float]) -> list[Any]:
    """A scored text, from the log-probabilities of its tokens, whatever the tokens are."""
    parts = max(1, round(len(text) / PASSAGE))
    borders = [len(log_probabilities) * part // parts for part in range(parts + 1)]
    sums = [math.fsum(log_probabilities[begin:end]) for begin, end in pairwise(borders)]
    return [math.fsum(sums), len(text), len(text.split()), sums]


def text_statistics(scored: Sequence[Any], references: Sequence[Sequence[str]]) -> Sums:
    """(N, 3): nats, characters and words of each passage of each scored text; passages of a text are equally long."""
    rows = [
        (-part, characters / len(parts), words / len(parts)) for _, characters, words, parts in scored for part in parts
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def nats_per_character(sums: Sums) -> Sums:
    """−log P / characters."""
    return np.asarray(sums[:, 0] / np.maximum(sums[:, 1], TINY))


def bits_per_character(sums: Sums) -> Sums:
    """−log₂ P / characters."""
    return np.asarray(nats_per_character(sums) / math.log(2))


def word_perplexity(sums: Sums) -> Sums:
    """exp(−log P / words)."""
    return np.exp(np.minimum(sums[:, 0] / np.maximum(sums[:, 2], TINY), MAX_NATS))


NATS_PER_CHARACTER = Metric(
    "nats_per_char",
    "negative log-likelihood per character in nats, over all held-out text; 0 is perfect",
    text_statistics,
    nats_per_character,
    smaller_is_better=True,
)
BITS_PER_CHARACTER = Metric(
    "bits_per_char", "the same in bits", text_statistics, bits_per_character, smaller_is_better=True
)
WORD_PERPLEXITY = Metric(
    "word_perplexity",
    "perplexity per word, spaces and punctuation included",
    text_statistics,
    word_perplexity,
    smaller_is_better=True,
)
MASKED_NATS_PER_CHARACTER = NATS_PER_CHARACTER._replace(
    summary="negative log-likelihood of masked tokens in nats per character, each predicted from both sides: not the "
    "probability of a text, not comparable with models that generate it"
)


def preference_statistics(outputs: Sequence[Any], references: Sequence[Sequence[str]]) -> Sums:
    """(N, 2): an output is [preferred, compared] of one text, as counts over its words."""
    return np.asarray([list(output) for output in outputs], dtype=np.float64).reshape(-1, 2)


PREFERENCE = Metric(
    "preferred",
    "how often the true next word is preferred to a random one; 0.5 is chance",
    preference_statistics,
    ratio,
)


class TokenMatches(NamedTuple):
    """How many tokens of one reference were predicted at their position."""

    hits: int
    tokens: int  # of the reference

    @property
    def share(self) -> float:
        """The share of the reference's tokens that were predicted."""
        return self.hits / max(self.tokens, 1)


def match_tokens(predicted: Sequence[int], reference: Sequence[int]) -> TokenMatches:
    """Compare position by position; tokens beyond the reference show as a miss at its end token."""
    return TokenMatches(sum(one == other for one, other in zip(predicted, reference, strict=False)), len(reference))


def match_rates(matches: Sequence[TokenMatches]) -> dict[str, float]:
    """The share of tokens that are right, and of examples with every token right."""
    tokens = sum(one.tokens for one in matches)
    hits = sum(one.hits for one in matches)
    return {
        "tokens": hits / max(tokens, 1),
        "exact": sum(one.hits == one.tokens for one in matches) / max(len(matches), 1),
    }
