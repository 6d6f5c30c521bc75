"""Metrics of labels: of one label per example, and of a set of labels per example (multi-label).

A multi-label prediction is a list of labels, the most probable first; the references are all true labels. From
probabilities to labels: one threshold per label, chosen for the best F1.
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atento.errors import InputError
from atento.metrics.metric import Metric, Sums, exact_statistics, hit_counts, ratio

# Axes: N examples, L labels, R resamples, T thresholds.

DEFAULT_THRESHOLD = 0.5
MIN_POSITIVES = 10  # examples of a label; with fewer it takes the threshold that is best for all labels together
THRESHOLDS = np.linspace(0.02, 0.98, 49)  # (T,)

LabelSets = Sequence[Sequence[str]]
Count = Callable[[Sequence[Any], Sequence[Sequence[str]]], Sums]


def count_labels(predicted: Sequence[Collection[str]], true: Sequence[Collection[str]]) -> Any:
    """(N, 3·L), sparse: for every label that occurs, whether it is a true positive, is predicted, is true."""
    from scipy.sparse import csr_array  # slow to load

    labels = sorted({label for example in (*predicted, *true) for label in example})
    column = {label: number for number, label in enumerate(labels)}
    places: list[int] = []
    ends = [0]
    for some, right in zip(predicted, true, strict=True):
        for kind, example in enumerate((set(some) & set(right), set(some), set(right))):
            places.extend(kind * len(labels) + column[label] for label in sorted(example))
        ends.append(len(places))
    return csr_array((np.ones(len(places)), places, ends), shape=(len(predicted), 3 * len(labels)))


def count_one_label(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> Sums:
    """The counts of one label per example; of several references the predicted one is the true one, else the first."""
    pairs = zip(predictions, references, strict=True)
    true = [(label,) if label in allowed else tuple(allowed[:1]) for label, allowed in pairs]
    return count_labels([(label,) for label in predictions], true)


def macro_f1(sums: Sums) -> Sums:
    """The mean over labels of F1 = 2 hits / (predicted + true); a label neither predicted nor true is left out."""
    hits, predicted, true = split_counts(sums)
    occurs = predicted + true > 0
    each = 2 * hits / np.where(occurs, predicted + true, 1.0)  # (R, L)
    return np.asarray(each.sum(axis=1) / np.maximum(occurs.sum(axis=1), 1))


def micro_f1(sums: Sums) -> Sums:
    """F1 of all decisions together, whatever their label."""
    hits, predicted, true = split_counts(sums)
    return np.asarray(2 * hits.sum(axis=1) / np.maximum((predicted + true).sum(axis=1), 1))


def split_counts(sums: Sums) -> tuple[Sums, Sums, Sums]:
    """True positives, predicted and true, each (R, L)."""
    hits, predicted, true = sums.reshape(len(sums), 3, sums.shape[1] // 3).transpose(1, 0, 2)  # L may be 0
    return hits, predicted, true


ACCURACY = Metric("accuracy", "share of labels that are right", exact_statistics, ratio)
MACRO_F1 = Metric("macro_f1", "F1 of each label, averaged: rare labels count as much", count_one_label, macro_f1)


def count_exact_sets(predicted: LabelSets, true: LabelSets) -> Sums:
    """(N, 2): 1 where the predicted set is the true one, and 1."""
    return hit_counts([set(some) == set(right) for some, right in zip(predicted, true, strict=True)])


def count_top_k(predicted: LabelSets, true: LabelSets, *, k: int) -> Sums:
    """(N, 2): how many of the first k predicted labels are true, and k."""
    return hit_counts([len(set(some[:k]) & set(right)) for some, right in zip(predicted, true, strict=True)], k)


def count_decisions(predicted: LabelSets, true: LabelSets, *, labels: Sequence[str]) -> Sums:
    """(N, 2): how many labels are right, predicted or left out, and how many there are, with those that only occur."""
    labels = sorted({*labels, *(label for example in (*predicted, *true) for label in example)})
    return hit_counts(
        [len(labels) - len(set(some) ^ set(right)) for some, right in zip(predicted, true, strict=True)], len(labels)
    )


SUBSET_ACCURACY = Metric("whole_sets", "share of examples with exactly the true labels", count_exact_sets, ratio)
MULTILABEL_MACRO_F1 = MACRO_F1._replace(statistics=count_labels)
MULTILABEL_MICRO_F1 = Metric("micro_f1", "F1 of all decisions together", count_labels, micro_f1)


def precision_at(k: int) -> Metric:
    """The share of true labels among the first k; where fewer are predicted, the missing ones are misses."""
    if k < 1:
        raise InputError("precision at k needs k of at least 1.", found=f"k={k}", fix="k=1 or more")
    summary = f"share of the {k} most probable labels that are true"
    return Metric(f"precision_at_{k}", summary, partial(count_top_k, k=k), ratio)


def hamming(labels: Sequence[str]) -> Metric:
    """The share of right yes-or-no decisions over all labels: one minus the Hamming loss."""
    if not labels:
        raise InputError("hamming needs all possible labels.", found="labels=[]", fix="pass the list of labels")
    return Metric("hamming", "share of right decisions over all labels", partial(count_decisions, labels=labels), ratio)


def of_answer_part(metric: Metric, part: int) -> Metric:
    """The metric of answers [predicted labels, ranked labels]: part 0 takes the predicted ones, part 1 the ranking."""
    return metric._replace(statistics=partial(count_part, count=metric.statistics, part=part))


def count_part(answers: Sequence[Sequence[Sequence[str]]], true: LabelSets, *, count: Count, part: int) -> Sums:
    """The statistics of one part of every answer."""
    return count([answer[part] for answer in answers], true)


def best_thresholds(probabilities: NDArray[np.float64], truth: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The threshold (L,) of each label with the best F1, from probabilities and truth (N, L).

    A label with few examples takes the threshold that is best for all labels together, as its own would be mostly
    noise; without any example the threshold is 0.5.
    """
    if not truth.any():
        return np.full(probabilities.shape[1], DEFAULT_THRESHOLD)
    quality = np.stack([f1_at_threshold(probabilities, truth, threshold) for threshold in THRESHOLDS])  # (T, L)
    frequent = truth.sum(axis=0) >= MIN_POSITIVES
    occurs = truth.any(axis=0)
    common = THRESHOLDS[middle_of_maximum(quality[:, occurs].mean(axis=1))]
    own = np.array([THRESHOLDS[middle_of_maximum(column)] for column in quality.T])
    return np.where(frequent, own, common)


def f1_at_threshold(
    probabilities: NDArray[np.float64], truth: NDArray[np.bool_], threshold: float
) -> NDArray[np.float64]:
    """F1 (L,) of every label, predicted above the threshold; 0 where it is neither predicted nor true."""
    predicted = probabilities > threshold
    hits, both = (predicted & truth).sum(axis=0), predicted.sum(axis=0) + truth.sum(axis=0)
    return np.asarray(2 * hits / np.maximum(both, 1))


def middle_of_maximum(quality: NDArray[np.float64]) -> int:
    """The index of the largest value; of adjacent equal ones the middle."""
    first = int(quality.argmax())
    last = first
    while last + 1 < len(quality) and quality[last + 1] == quality[first]:
        last += 1
    return (first + last) // 2
