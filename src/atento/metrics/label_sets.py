"""Several labels a case. An output is the labels said, likeliest first; the references are all that are true."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from atento.errors import InputError, unknown_name
from atento.metrics.labels import count_labels, macro_f1, micro_f1
from atento.metrics.metric import Metric, Sums, hits_of, share

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
