"""Exact match, chrF and BLEU. The last two are sacrebleu's, taken apart into sums over sentences.

How many edits lie between an output and the nearest reference: of characters, or of the symbols between spaces.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from atento.metrics.metric import Metric, Sums, exact_statistics, share


def corpus_statistics(scorer: Any, outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Sums:
    """Sacrebleu's counts of each sentence; it wants as many references for every sentence, so the last one repeats."""
    most = max(len(allowed) for allowed in references)
    streams = [[allowed[min(place, len(allowed) - 1)] for allowed in references] for place in range(most)]
    return np.asarray(scorer._extract_corpus_statistics(list(outputs), streams), dtype=np.float64)


def corpus_formula(scorer: Any, sums: Sums) -> Sums:
    """Sacrebleu's score of summed counts, from 0 to 1."""
    return np.asarray([scorer._compute_score_from_stats(row.astype(int).tolist()).score / 100 for row in sums])


def chrf_statistics(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Sums:
    """Character n-gram counts."""
    return corpus_statistics(CHRF(), outputs, references)


def chrf_formula(sums: Sums) -> Sums:
    """chrF2 of the counts."""
    return corpus_formula(CHRF(), sums)


def bleu_statistics(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Sums:
    """Word n-gram counts, tokenised as 13a."""
    return corpus_statistics(BLEU(), outputs, references)


def bleu_formula(sums: Sums) -> Sums:
    """BLEU-4 of the counts."""
    return corpus_formula(BLEU(), sums)


EXACT = Metric("exact", "share of outputs equal to a reference", exact_statistics, share)
CHRF2 = Metric("chrf", "overlap of characters, sacrebleu nrefs:var|case:mixed|nc:6|nw:0", chrf_statistics, chrf_formula)
BLEU4 = Metric(
    "bleu", "overlap of words, sacrebleu nrefs:var|case:mixed|tok:13a|smooth:exp", bleu_statistics, bleu_formula
)


Cut = Callable[[str], Sequence[str]]


def edit_statistics(outputs: Sequence[str], references: Sequence[Sequence[str]], *, cut: Cut) -> Sums:
    """(N, 3): edits to the nearest reference, that reference's length, and one.

    An edit takes a symbol out, puts one in or replaces one (Levenshtein, 1966).
    """
    rows = []
    for output, allowed in zip(outputs, references, strict=True):
        said, known = cut(output), [cut(reference) for reference in allowed]
        edits, length = min(((Levenshtein.distance(said, true), len(true)) for true in known), key=lambda one: one[0])
        rows.append((edits, length, 1))
    return np.asarray(rows, dtype=np.float64)


def character_statistics(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Sums:
    """Of characters."""
    return edit_statistics(outputs, references, cut=str)


def symbol_statistics(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Sums:
    """Of what stands between spaces: words, phones."""
    return edit_statistics(outputs, references, cut=str.split)


def mean_edits(sums: Sums) -> Sums:
    """Edits an output."""
    return share(sums[:, [0, 2]])


SYMBOL_ERROR = Metric(
    "symbol_error",
    "edits of symbols between spaces to the nearest reference, over its length",
    symbol_statistics,
    share,
    smaller_is_better=True,
)
CHARACTER_ERROR = Metric(
    "character_error",
    "edits of characters to the nearest reference, over its length",
    character_statistics,
    share,
    smaller_is_better=True,
)
EDITS = Metric(
    "edits",
    "mean edits of characters to the nearest reference",
    character_statistics,
    mean_edits,
    smaller_is_better=True,
)
