"""Exact match, chrF and BLEU. The last two are sacrebleu's, taken apart into sums over sentences."""

from collections.abc import Sequence
from typing import Any

import numpy as np
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
