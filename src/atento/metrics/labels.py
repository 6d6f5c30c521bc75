"""One label a case: accuracy, and F1 in which a rare label counts as much as a common one."""

from collections.abc import Collection, Sequence

import numpy as np

from atento.metrics.metric import Metric, Sums, exact_statistics, share

# Axes: N examples, L labels, R resamples.


def count_labels(said: Sequence[Collection[str]], true: Sequence[Collection[str]]) -> Sums:
    """(N, 3·L): for every label that occurs, whether it was rightly said, was said, is true."""
    labels = sorted({label for case in (*said, *true) for label in case})
    column = {label: number for number, label in enumerate(labels)}
    counts = np.zeros((len(said), 3, len(labels)))
    for place, (some, right) in enumerate(zip(said, true, strict=True)):
        for kind, case in enumerate((set(some) & set(right), some, right)):
            counts[place, kind, [column[label] for label in case]] = 1
    return counts.reshape(len(said), -1)


def count_one_label(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Sums:
    """The counts of one label a case; where several are right, the one said is the true one, else the first."""
    pairs = zip(outputs, references, strict=True)
    true = [(output,) if output in allowed else tuple(allowed[:1]) for output, allowed in pairs]
    return count_labels([(output,) for output in outputs], true)


def macro_f1(sums: Sums) -> Sums:
    """The mean of the labels' own F1 = 2 hits / (said + true); a label neither said nor true is left out."""
    hits, said, true = by_kind(sums)
    occurs = said + true > 0
    each = 2 * hits / np.where(occurs, said + true, 1.0)  # (R, L)
    return np.asarray(each.sum(axis=1) / np.maximum(occurs.sum(axis=1), 1))


def micro_f1(sums: Sums) -> Sums:
    """F1 of all decisions together, whatever their label."""
    hits, said, true = by_kind(sums)
    return np.asarray(2 * hits.sum(axis=1) / np.maximum((said + true).sum(axis=1), 1))


def by_kind(sums: Sums) -> tuple[Sums, Sums, Sums]:
    """Hits, said and true, each (R, L)."""
    hits, said, true = sums.reshape(len(sums), 3, sums.shape[1] // 3).transpose(1, 0, 2)  # there may be no label
    return hits, said, true


ACCURACY = Metric("accuracy", "share of labels that are right", exact_statistics, share)
MACRO_F1 = Metric("macro_f1", "F1 of each label, averaged: rare labels count as much", count_one_label, macro_f1)
