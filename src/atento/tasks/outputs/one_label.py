"""One label as an output: each source has one of the labels that the training part knows."""

import math
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from atento.baselines.catalogue import BASELINES
from atento.baselines.explanation import GivesProbabilities
from atento.baselines.frequent import Majority
from atento.baselines.images import LinearImageQuestions, LinearImages, NearestImage, QuestionOnly
from atento.baselines.probabilities import LabelProbabilities
from atento.baselines.sequences import LinearOnStatistics
from atento.baselines.time_warping import DTWNearest
from atento.baselines.word_overlap import WordOverlap
from atento.data.images.loading import load_image
from atento.data.records import counted
from atento.data.tables.number_lists import require_numbers
from atento.data.text.encoding import two_texts
from atento.errors import InputError
from atento.metrics.classes import one_label_report
from atento.metrics.labels import ACCURACY, MACRO_F1
from atento.metrics.metric import Metric
from atento.models.ensemble import AnyJudge
from atento.models.heads import LabelHead
from atento.spec import ModelRecipe, TokensRecipe
from atento.tasks.inputs.input import E, Labelled, ManyToOneInput, Network
from atento.tasks.outputs.fitted import HasCalibration, HasClosedForm
from atento.tasks.outputs.many_to_one import ManyToOneOutput
from atento.tasks.outputs.output import UNSEEN, BaselineMaker, HasClasses
from atento.tasks.outputs.wide_part import explain_terms, solve_wide, weigh_both
from atento.tasks.task import Answer, Baseline, Details, Pair, Saved, TargetLabels, TextExample
from atento.tasks.traces import TraceMatrix, trace_matrix

# Axes: B batch, C labels.

MOST_LABELS = 100_000
SHOWN = 3  # labels that a note names
THUMBNAIL = 8  # pixels a side of the images that baselines see

SMALL = partial(load_image, side=THUMBNAIL)
BY_KIND: dict[str, tuple[BaselineMaker, ...]] = {
    "text": tuple(BASELINES[name].make for name in ("majority", "bag-of-words", "bag-of-n-grams", "tf-idf", "nb-svm")),
    "two texts": (Majority, WordOverlap, BASELINES["tf-idf"].make),
    "numbers": (Majority, partial(LinearOnStatistics, require_numbers), partial(DTWNearest, require_numbers)),
    "image": (Majority, partial(LinearImages, SMALL), partial(NearestImage, SMALL)),
    "image and question": (
        Majority,
        partial(QuestionOnly, two_texts),
        partial(LinearImageQuestions, SMALL, split=two_texts),
    ),
}


class OneLabel(
    HasClasses,
    ManyToOneOutput[E, Labelled, Network, int],
    HasCalibration[ManyToOneInput[E, Labelled, Network], AnyJudge[Network]],
    HasClosedForm[ManyToOneInput[E, Labelled, Network], AnyJudge[Network]],
):
    """Labels <-> their numbers."""

    kind = "label"

    selects = ACCURACY
    target_labels = TargetLabels(lambda target: [target])

    @classmethod
    def learn(cls, recipe: TokensRecipe, input: object, pairs: Sequence[Pair]) -> Self:
        """The labels of the training part, two at least."""
        labels, counts, notes = count_labels([[label] for _, label in pairs], least=2)
        return cls(labels, counts, notes=notes)

    @classmethod
    def load(cls, saved: Saved) -> Self:
        """What `to_json` wrote."""
        return cls(*load_labels(saved))

    def to_json(self) -> dict[str, object]:
        """Every label with how often it was true."""
        return {"labels": list(self.labels), "counts": list(self.counts)}

    def encode(self, target: str) -> int:
        """The label's number."""
        return self.numbers.get(target, UNSEEN)

    def truth(self, targets: Sequence[int]) -> Tensor:
        """(B,)"""
        return torch.tensor(targets)

    def build(self, recipe: ModelRecipe, input: ManyToOneInput[E, Labelled, Network]) -> Network:
        """A network with a logit for each label."""
        return input.build(recipe, LabelHead, len(self.labels))

    def answers(self, module: nn.Module, outputs: Tensor) -> list[Answer]:
        """The most probable label of each."""
        found = []
        for scores in outputs.log_softmax(dim=-1):
            best = int(scores.argmax())
            probabilities = LabelProbabilities(self.numbers, scores.exp().numpy())
            found.append(Answer(self.labels[best], scores[best].item(), probabilities=probabilities))
        return found

    def trace_outputs(self, module: nn.Module, outputs: Tensor) -> TraceMatrix:
        """The probability of each label."""
        return trace_matrix(
            "probabilities",
            "softmax(outputs)",
            ["p"],
            outputs.softmax(dim=-1),
            columns=self.labels,
            made_of=["outputs"],
        )

    def metrics(self, input: object) -> tuple[Metric, ...]:
        """Accuracy first; macro-F1 shows what it hides of rare labels."""
        return (ACCURACY, MACRO_F1)

    def details(
        self, predictions: Sequence[str], references: Sequence[Sequence[str]], answers: Sequence[Answer] | None
    ) -> Details:
        """How well each label is found, which are confused, and whether probabilities can be believed."""
        known = [
            math.exp(answer.score) for answer in answers or () if answer.probabilities and answer.score is not None
        ]
        sure = known if len(known) == len(predictions) else None
        return {"class_report": one_label_report(predictions, references, sure)} if predictions else {}

    def weigh(self, module: nn.Module, power: float) -> None:
        """Labels weigh (n / (C n_c))^power, so scaled that the mean example weighs 1."""
        counts = torch.tensor(self.counts, dtype=torch.float64)
        weights = (counts.sum() / (len(counts) * counts)) ** power
        for part in module.modules():
            if isinstance(part, LabelHead):
                part.set_class_weights(weights * counts.sum() / (weights * counts).sum())

    def closed_form(
        self,
        module: AnyJudge[Network],
        input: ManyToOneInput[E, Labelled, Network],
        pairs: Sequence[Pair],
    ) -> str:
        """A wide part begins as a linear model of the n-grams of all training texts."""
        truth = np.eye(len(self.labels), dtype=bool)[[self.numbers[label] for _, label in pairs]]
        return solve_wide(module, input, [source for source, _ in pairs], truth, several=False)

    def calibrate(
        self,
        module: AnyJudge[Network],
        input: ManyToOneInput[E, Labelled, Network],
        questions: Sequence[TextExample],
    ) -> None:
        """How much the network and a wide part count, by the cross-entropy of the validation part."""
        known = [question for question in questions if question.references[0] in self.numbers]
        truth = torch.tensor([self.numbers[question.references[0]] for question in known])
        weigh_both(
            module,
            input,
            [question.source for question in known],
            lambda outputs: nn.functional.cross_entropy(outputs, truth),
        )

    def explain(self, module: nn.Module, input: object, source: str) -> str:
        """The n-grams that a wide part counts for its most probable label."""
        return explain_terms(module, input, source, self.labels)

    @classmethod
    def baselines(cls, kind: str) -> tuple[BaselineMaker, ...]:
        """The most frequent label, linear models and nearest neighbours."""
        return BY_KIND[kind]

    def baseline_answers(self, baseline: Baseline, sources: Sequence[str]) -> list[Answer]:
        """The labels, with their probabilities where the baseline gives any."""
        answers = super().baseline_answers(baseline, sources)
        if not isinstance(baseline, GivesProbabilities):
            return answers
        given = baseline.probabilities(sources)
        if given and any(label not in given[0] for label in self.labels):  # of no label that it was fitted on
            given = [{label: one.get(label, 0.0) for label in self.labels} for one in given]
        return [
            answer._replace(score=log_of(one[answer.text]), probabilities=one)
            for answer, one in zip(answers, given, strict=True)
        ]


def log_of(probability: float) -> float:
    """The log-probability; of none, that of the smallest number."""
    return math.log(max(probability, sys.float_info.min))


def count_labels(targets: Sequence[Sequence[str]], *, least: int) -> tuple[list[str], list[int], tuple[str, ...]]:
    """The labels of all targets, how often each is true, and a note of them; so many at least are required."""
    counts = Counter(label for target in targets for label in target)
    labels = sorted(counts)
    if len(labels) < least:
        raise InputError(
            "the training part has nothing to tell apart.",
            found=f"{counted(len(labels), 'label')}{': ' + labels[0] if labels else ''}",
            fix="add texts with other labels, or name the column: --set data.label=...",
        )
    common = ", ".join(f"{label} {counts[label] / len(targets):.0%}" for label, _ in counts.most_common(SHOWN))
    return labels, [counts[label] for label in labels], (f"{counted(len(labels), 'label')}, most often {common}",)


def load_labels(saved: Saved) -> tuple[list[str], list[int]]:
    """The labels that an output wrote, and how often each was true."""
    labels, counts = saved.get("labels"), saved.get("counts")
    if (
        isinstance(labels, list)
        and isinstance(counts, list)
        and 1 <= len(labels) <= MOST_LABELS
        and all(isinstance(label, str) for label in labels)
        and all(type(count) is int and count >= 0 for count in counts)
        and len(set(labels)) == len(labels) == len(counts)
    ):
        return labels, counts
    raise InputError(
        "this file holds no labels, one twice, or one without its count.", found=str(saved)[:80], fix="train again"
    )
