"""One label of a few for each source: the list of the labels, the likeliest of them, and what it is measured by."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from atento.data.records import counted, split
from atento.errors import InputError
from atento.metrics.labels import ACCURACY, MACRO_F1
from atento.metrics.metric import Metric
from atento.models.heads import LabelHead
from atento.tasks.task import Answer

# Axes: C labels.

MOST_LABELS = 100_000
SHOWN = 3  # labels that a note names


class KnownLabels:
    """The labels of the training part and how often each was true: what every codec of labels knows."""

    def __init__(self, labels: Sequence[str], counts: Sequence[int], *, notes: tuple[str, ...]) -> None:
        self.labels, self.counts, self.notes = tuple(labels), tuple(counts), notes
        self.numbers = {label: number for number, label in enumerate(self.labels)}

    def balanced(self, balance: float) -> Tensor:
        """Weights (C,) of the labels: (n / (C n_c))^balance, so scaled that the mean case weighs 1."""
        counts = torch.tensor(self.counts, dtype=torch.float64)
        weights = (counts.sum() / (len(counts) * counts)) ** balance
        return weights * counts.sum() / (weights * counts).sum()

    def likeliest(self, scores: Tensor, *, evidence: str | None = None) -> Answer:
        """What log-probabilities (C,) say."""
        best = int(scores.argmax())
        chances = dict(zip(self.labels, scores.exp().tolist(), strict=True))
        return Answer(self.labels[best], scores[best].item(), chances=chances, evidence=evidence)


def labels_of(targets: Sequence[str], *, several: bool = False) -> tuple[list[str], list[int], str]:
    """The labels, how often each is true, and what to say of them; `several`: a target is a list of labels."""
    counts = Counter(label for target in targets for label in (split(target) if several else [target]))
    labels = sorted(counts)
    require_labels(labels, several=several)
    common = ", ".join(f"{label} {counts[label] / len(targets):.0%}" for label, _ in counts.most_common(SHOWN))
    return labels, [counts[label] for label in labels], f"{counted(len(labels), 'label')}, most often {common}"


def require_labels(labels: Sequence[str], *, several: bool) -> None:
    """What can be told apart."""
    if len(labels) < (1 if several else 2):
        raise InputError(
            "the training part has nothing to tell apart.",
            found=f"{counted(len(labels), 'label')}{': ' + labels[0] if labels else ''}",
            fix="add texts with other labels, or name the column: --set data.label=...",
        )


def load_labels(saved: Mapping[str, Any]) -> tuple[list[str], list[int]]:
    """The labels that a codec wrote, and how often each was true."""
    labels, counts = saved.get("labels"), saved.get("counts")
    named = isinstance(labels, list) and 1 <= len(labels) <= MOST_LABELS and all(isinstance(x, str) for x in labels)
    numbers = isinstance(counts, list) and all(type(count) is int and count >= 0 for count in counts)
    if not named or not numbers or not len(set(labels or ())) == len(labels or ()) == len(counts or ()):
        raise InputError(
            "this file holds no labels, one twice, or one without its count.", found=str(saved)[:80], fix="train again"
        )
    return list(labels or ()), list(counts or ())


def weigh(module: nn.Module, codec: KnownLabels, balance: float) -> None:
    """Rare labels weigh more while learning."""
    for part in module.modules():
        if isinstance(part, LabelHead):
            part.weigh(codec.balanced(balance))


def metrics(codec: KnownLabels) -> tuple[Metric, ...]:
    """Accuracy first; macro-F1 shows what it hides of rare labels."""
    return (ACCURACY, MACRO_F1)
