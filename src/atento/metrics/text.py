"""Metrics of generated text: exact match, sacrebleu's chrF and BLEU as sums over sentences, and edit distances.

An edit distance is to the nearest reference, in characters or in symbols separated by spaces.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from rapidfuzz.distance import Levenshtein
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from atento.metrics.metric import Metric, Sums, exact_statistics, ratio

# Axes: N examples.

Tokenize = Callable[[str], Sequence[str]]


def corpus_statistics(
    scorer: type[BLEU] | type[CHRF], predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> Sums:
    """Sacrebleu's counts of each sentence; it needs equally many references for each, so the last one repeats."""
    most = max(len(allowed) for allowed in references)
    streams = [[allowed[min(place, len(allowed) - 1)] for allowed in references] for place in range(most)]
    return np.asarray(scorer()._extract_corpus_statistics(list(predictions), streams), dtype=np.float64)


def corpus_formula(scorer: type[BLEU] | type[CHRF], sums: Sums) -> Sums:
    """Sacrebleu's score from summed counts, from 0 to 1."""
    score_of = scorer()._compute_score_from_stats
    return np.asarray([score_of(row.astype(int).tolist()).score / 100 for row in sums])


EXACT_MATCH = Metric("exact", "share of predictions equal to a reference", exact_statistics, ratio)
CHRF2 = Metric(
    "chrf",
    "overlap of characters, sacrebleu nrefs:var|case:mixed|nc:6|nw:0",
    partial(corpus_statistics, CHRF),
    partial(corpus_formula, CHRF),
)
BLEU4 = Metric(
    "bleu",
    "overlap of words, sacrebleu nrefs:var|case:mixed|tok:13a|smooth:exp",
    partial(corpus_statistics, BLEU),
    partial(corpus_formula, BLEU),
)


def edit_statistics(predictions: Sequence[str], references: Sequence[Sequence[str]], *, tokenize: Tokenize) -> Sums:
    """(N, 3): edits to the nearest reference, that reference's length, and 1.

    An edit inserts, deletes or replaces a symbol (Levenshtein, 1966).
    """
    rows = []
    for output, allowed in zip(predictions, references, strict=True):
        predicted, known = tokenize(output), [tokenize(reference) for reference in allowed]
        distances = ((Levenshtein.distance(predicted, true), len(true)) for true in known)
        edits, length = min(distances, key=lambda one: one[0])
        rows.append((edits, length, 1))
    return np.asarray(rows, dtype=np.float64)


def mean_edits(sums: Sums) -> Sums:
    """Edits per prediction."""
    return ratio(sums[:, [0, 2]])


SYMBOL_ERROR = Metric(
    "symbol_error",
    "edits of symbols separated by spaces to the nearest reference, over its length",
    partial(edit_statistics, tokenize=str.split),  # words, phones
    ratio,
    smaller_is_better=True,
)
CHARACTER_ERROR = Metric(
    "character_error",
    "edits of characters to the nearest reference, over its length",
    partial(edit_statistics, tokenize=str),
    ratio,
    smaller_is_better=True,
)
EDITS = Metric(
    "edits",
    "mean edits of characters to the nearest reference",
    partial(edit_statistics, tokenize=str),
    mean_edits,
    smaller_is_better=True,
)
