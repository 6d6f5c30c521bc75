"""One label a case: accuracy, and F1 in which a rare label counts as much as a common one.

Several labels a case. An output is the labels said, likeliest first; the references are all that are true.
From how likely each label is to which labels are said: one threshold a label, chosen for the best F1.
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.errors import InputError, unknown_name
from atento.metrics.metric import Metric, Sums, exact_statistics, hits_of, share

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


# Axes: N examples, L labels.

Labels = Sequence[Sequence[str]]
Count = Callable[[Sequence[Any], Sequence[Sequence[str]]], Sums]


def count_whole_sets(said: Labels, true: Labels) -> Sums:
    """(N, 2): all labels right and none too many, and one."""
    return hits_of([set(some) == set(right) for some, right in zip(said, true, strict=True)])


def count_first(said: Labels, true: Labels, *, k: int) -> Sums:
    """(N, 2): how many of the first k labels said are true, and k."""
    return hits_of([len(set(some[:k]) & set(right)) for some, right in zip(said, true, strict=True)], k)


def count_decisions(said: Labels, true: Labels, *, labels: Sequence[str]) -> Sums:
    """(N, 2): how many labels were rightly said or left out, and how many there are."""
    for label in (label for case in (*said, *true) for label in case):
        if label not in labels:
            raise unknown_name("label", label, labels)
    return hits_of(
        [len(labels) - len(set(some) ^ set(right)) for some, right in zip(said, true, strict=True)], len(labels)
    )


def precision_at(k: int) -> Metric:
    """The share of true labels among the k likeliest; one that was never said is a miss."""
    if k < 1:
        raise InputError("precision at k looks at one label at least.", found=f"k={k}", fix="k=1 or more")
    return Metric(
        f"precision_at_{k}", f"share of the {k} likeliest labels that are true", partial(count_first, k=k), share
    )


def hamming(labels: Sequence[str]) -> Metric:
    """The share of right yes-or-no decisions over all labels there are: one minus the Hamming loss."""
    if not labels:
        raise InputError("hamming needs the labels there are.", found="labels=[]", fix="name them all")
    labels = sorted(set(labels))
    return Metric("hamming", "share of labels rightly said or left out", partial(count_decisions, labels=labels), share)


WHOLE_SETS = Metric("whole_sets", "share of cases with all labels right and none too many", count_whole_sets, share)
LABELS_MACRO_F1 = Metric("macro_f1", "F1 of each label, averaged: rare labels count as much", count_labels, macro_f1)
LABELS_MICRO_F1 = Metric("micro_f1", "F1 of all decisions together", count_labels, micro_f1)


def of_answers(metric: Metric, part: int) -> Metric:
    """The same metric of answers [labels said, labels ranked]: part 0 takes those said, part 1 the ranking."""
    return metric._replace(statistics=partial(count_part, count=metric.statistics, part=part))


def count_part(answers: Sequence[Sequence[Sequence[str]]], true: Labels, *, count: Count, part: int) -> Sums:
    """The statistics of one part of every answer."""
    return count([answer[part] for answer in answers], true)


def count_known(said: Labels, true: Labels, *, labels: Sequence[str]) -> Sums:
    """`count_decisions` over the labels given and those that occur: one that training never met is a miss, no error."""
    return count_decisions(said, true, labels=sorted({*labels, *(label for case in (*said, *true) for label in case)}))


# Axes: N examples, L labels, T thresholds.

USUAL = 0.5
LEAST_YES = 10  # examples of a label; with fewer its threshold is the one that is best for all labels together
GRID = np.linspace(0.02, 0.98, 49)  # (T,)


def best_thresholds(chances: NDArray[np.float64], truth: NDArray[np.bool_]) -> NDArray[np.float64]:
    """chances and truth (N, L) -> (L,): above it a label is said. What is best on few examples is mostly chance, so a
    label with few takes the common threshold, and all one half where there are no examples.
    """
    if not truth.any():
        return np.full(chances.shape[1], USUAL)
    quality = np.stack([f1_above(chances, truth, threshold) for threshold in GRID])  # (T, L)
    often = truth.sum(axis=0) >= LEAST_YES
    occurs = truth.any(axis=0)
    common = GRID[middle_of_best(quality[:, occurs].mean(axis=1))]
    own = np.array([GRID[middle_of_best(column)] for column in quality.T])
    return np.where(often, own, common)


def f1_above(chances: NDArray[np.float64], truth: NDArray[np.bool_], threshold: float) -> NDArray[np.float64]:
    """F1 (L,) of every label, said where it is likelier than the threshold; 0 where it is neither said nor true."""
    said = chances > threshold
    hits, both = (said & truth).sum(axis=0), said.sum(axis=0) + truth.sum(axis=0)
    return np.asarray(2 * hits / np.maximum(both, 1))


def middle_of_best(quality: NDArray[np.float64]) -> int:
    """The place of the best value; of a run of equally good ones its middle."""
    first = int(quality.argmax())
    last = first
    while last + 1 < len(quality) and quality[last + 1] == quality[first]:
        last += 1
    return (first + last) // 2
