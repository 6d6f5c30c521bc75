"""What a single score of labels hides: precision, recall and F1 of each class, the confusion matrix, calibration.

All of it is plain JSON, as metrics.json holds it. A number that is not defined, such as the precision of a class that
was never predicted, is None.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TypedDict

import numpy as np

from atento.metrics.tags import find_spans

MOST_CONFUSED = 50  # classes of a confusion matrix; with more it would hold mostly zeros
BINS = 10  # of equal width in which calibration is measured


class ClassScores(TypedDict):
    """One class: how well it is found, and how often it is true and predicted."""

    label: str
    precision: float | None
    recall: float | None
    f1: float | None
    support: int  # examples of which it is true
    predicted: int


class Confusion(TypedDict):
    """How many examples of each true class (rows) were given each class (columns)."""

    labels: list[str]
    counts: list[list[int]]


class CalibrationBin(TypedDict):
    """The predictions whose probability lies between two bounds."""

    low: float
    high: float
    count: int
    confidence: float  # the mean probability of the predicted class
    accuracy: float


class Calibration(TypedDict):
    """Whether a probability of 0.8 is right in 80 of 100 cases."""

    error: float  # expected calibration error: 0 is perfect
    bins: list[CalibrationBin]


class ClassReport(TypedDict, total=False):
    """All of it; a matrix only of one label per example, calibration only where there are probabilities."""

    classes: list[ClassScores]
    confusion: Confusion
    calibration: Calibration


def class_scores(predicted: Sequence[Collection[str]], true: Sequence[Collection[str]]) -> list[ClassScores]:
    """Precision, recall and F1 of every class that occurs, the most frequent first."""
    given = Counter(label for labels in predicted for label in set(labels))
    support = Counter(label for labels in true for label in set(labels))
    hits = Counter(label for some, right in zip(predicted, true, strict=True) for label in set(some) & set(right))
    return [
        ClassScores(
            label=label,
            precision=share(hits[label], given[label]),
            recall=share(hits[label], support[label]),
            f1=share(2 * hits[label], given[label] + support[label]),
            support=support[label],
            predicted=given[label],
        )
        for label in sorted({*given, *support}, key=lambda label: (-support[label], label))
    ]


def share(part: int, whole: int) -> float | None:
    """part / whole; None where there is no whole."""
    return part / whole if whole else None


def confusion_matrix(predicted: Sequence[str], true: Sequence[str], labels: Sequence[str]) -> Confusion:
    """Counts of true class (rows) against predicted class (columns), in the order of the labels."""
    place = {label: number for number, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)), dtype=int)
    for some, right in zip(predicted, true, strict=True):
        counts[place[right], place[some]] += 1
    return Confusion(labels=list(labels), counts=counts.tolist())


def calibration(probabilities: Sequence[float], right: Sequence[bool], *, bins: int = BINS) -> Calibration | None:
    """The expected calibration error (Guo et al., 2017, eq. 5) over bins of equal width; None without examples.

    probabilities: of the predicted class of each example; right: whether it is the true one.
    """
    if not len(probabilities):
        return None
    confidence, hits = np.asarray(probabilities, dtype=np.float64), np.asarray(right, dtype=np.float64)
    of_bin = np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1)  # (0, 0.1], (0.1, 0.2], …
    found = []
    for number in range(bins):
        inside = of_bin == number
        if inside.any():
            found.append(
                CalibrationBin(
                    low=number / bins,
                    high=(number + 1) / bins,
                    count=int(inside.sum()),
                    confidence=float(confidence[inside].mean()),
                    accuracy=float(hits[inside].mean()),
                )
            )
    gaps = sum(one["count"] * abs(one["accuracy"] - one["confidence"]) for one in found)
    return Calibration(error=gaps / len(confidence), bins=found)


def one_label_report(
    predicted: Sequence[str], references: Sequence[Sequence[str]], probabilities: Sequence[float] | None = None
) -> ClassReport:
    """Of one label per example; of several references the predicted one is the true one, else the first."""
    pairs = zip(predicted, references, strict=True)
    true = [label if label in allowed else allowed[0] for label, allowed in pairs]
    scores = class_scores([[label] for label in predicted], [[label] for label in true])
    report = ClassReport(classes=scores)
    if len(scores) <= MOST_CONFUSED:
        report["confusion"] = confusion_matrix(predicted, true, [one["label"] for one in scores])
    right = [some == one for some, one in zip(predicted, true, strict=True)]
    measured = None if probabilities is None else calibration(probabilities, right)
    if measured is not None:
        report["calibration"] = measured
    return report


def span_scores(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[ClassScores]:
    """Of predicted and true tags that mark spans: how well the spans of each type are found, as conlleval counts."""
    predicted, true = list[list[str]](), list[list[str]]()
    for tags, right in pairs:
        found, wanted = set(find_spans(tags)), set(find_spans(right))
        for span in found | wanted:
            predicted.append([span.kind] if span in found else [])
            true.append([span.kind] if span in wanted else [])
    return class_scores(predicted, true)
