"""Several labels as an output: each source has any number of the labels that the training part knows.

Each label is a decision of its own, above a threshold that the validation part chooses. A model name with `one-each`
gives each label a network of its own.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from atento.baselines.catalogue import BASELINES
from atento.baselines.explanation import Explains, Explanation, GivesProbabilities
from atento.baselines.probabilities import LabelProbabilities
from atento.data.records import join_items, split_items
from atento.errors import InputError
from atento.metrics.classes import class_scores
from atento.metrics.labels import (
    MULTILABEL_MACRO_F1,
    MULTILABEL_MICRO_F1,
    SUBSET_ACCURACY,
    best_thresholds,
    hamming,
    of_answer_part,
    precision_at,
)
from atento.metrics.metric import Metric
from atento.models.builders.choices import without_suffix
from atento.models.builders.classifier import WIDE
from atento.models.classifier import OneVsRest
from atento.models.ensemble import AnyJudge, thresholds_of
from atento.models.heads import MultiLabelHead
from atento.models.names import ModelName
from atento.spec import ModelRecipe, TokensRecipe
from atento.tasks.inputs.input import E, Labelled, ManyToOneInput, Network
from atento.tasks.outputs.fitted import HasCalibration, HasClosedForm
from atento.tasks.outputs.many_to_one import ManyToOneOutput
from atento.tasks.outputs.one_label import count_labels, load_labels
from atento.tasks.outputs.output import BaselineMaker, HasClasses
from atento.tasks.outputs.wide_part import explain_terms, solve_wide, weigh_both
from atento.tasks.task import Answer, Baseline, Details, Pair, Saved, TargetLabels, TextExample
from atento.tasks.traces import TraceMatrix, trace_matrix

# Axes: B batch, C labels.

ONE_EACH = "one-each"
RANKED = 100  # labels an answer ranks, at most
NONE = "–"  # how an answer without a label is written
FIRST = (1, 3, 5)


class SeveralLabels(
    HasClasses,
    ManyToOneOutput[E, Labelled, Network, list[int]],
    HasCalibration[ManyToOneInput[E, Labelled, Network], AnyJudge[Network]],
    HasClosedForm[ManyToOneInput[E, Labelled, Network], AnyJudge[Network]],
):
    """Lists of labels <-> their numbers."""

    kind = "labels"

    target_labels = TargetLabels(split_items, several=True)
    selects = MULTILABEL_MACRO_F1

    def __init__(
        self, labels: Sequence[str], counts: Sequence[int], *, examples: int, notes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(labels, counts, notes=notes)
        self.examples = examples

    @classmethod
    def learn(cls, recipe: TokensRecipe, input: object, pairs: Sequence[Pair]) -> Self:
        """The labels of the training part, one at least."""
        labels, counts, notes = count_labels([split_items(target) for _, target in pairs], least=1)
        return cls(labels, counts, examples=len(pairs), notes=notes)

    @classmethod
    def load(cls, saved: Saved) -> Self:
        """What `to_json` wrote."""
        labels, counts = load_labels(saved)
        examples = saved.get("examples")
        if type(examples) is not int:
            raise InputError("this file holds no number of examples.", found=repr(examples)[:80], fix="train again")
        return cls(labels, counts, examples=examples)

    def to_json(self) -> dict[str, object]:
        """Every label with how often it was true, and of how many examples."""
        return {"labels": list(self.labels), "counts": list(self.counts), "examples": self.examples}

    @classmethod
    def check_name(cls, input: type[ManyToOneInput[E, Labelled, Network]], name: ModelName) -> None:
        """A name that the input can read, with or without `one-each`."""
        if name.has(ONE_EACH) and name.has(WIDE):
            raise InputError(
                f"model {str(name)!r}: a wide part stands beside one network for all labels.",
                found=f"{WIDE} and {ONE_EACH}",
                fix=f"leave {ONE_EACH!r} or {WIDE!r} out",
            )
        super().check_name(input, name.without(ONE_EACH))

    def encode(self, target: str) -> list[int]:
        """The numbers of the labels; one that training never met has none."""
        return [self.numbers[label] for label in split_items(target) if label in self.numbers]

    def truth(self, targets: Sequence[list[int]]) -> Tensor:
        """(B, C), 1 where a label is true."""
        truth = torch.zeros(len(targets), len(self.labels))
        for row, numbers in enumerate(targets):
            truth[row, numbers] = 1.0
        return truth

    def build(self, recipe: ModelRecipe, input: ManyToOneInput[E, Labelled, Network]) -> Network | OneVsRest[Network]:
        """A network with a logit for each label, or one network each."""
        plain = without_suffix(recipe, ONE_EACH)
        if plain.name == recipe.name:
            return input.build(recipe, MultiLabelHead, len(self.labels))
        return OneVsRest([input.build(plain, MultiLabelHead, 1) for _ in self.labels])

    def answers(self, module: nn.Module, outputs: Tensor) -> list[Answer]:
        """The labels of each above their thresholds."""
        thresholds = torch.cat(thresholds_of(module)).cpu()
        return [self.answer_of(probabilities, thresholds) for probabilities in outputs.sigmoid()]

    def answer_of(self, probabilities: Tensor, thresholds: Tensor) -> Answer:
        """The labels by their probabilities (C,); the score is the log-probability of that very set."""
        chosen = probabilities > thresholds
        order = probabilities.argsort(descending=True, stable=True)
        labels = [self.labels[number] for number in order[chosen[order]].tolist()]
        ranked = [self.labels[number] for number in order[:RANKED].tolist()]
        score = torch.where(chosen, probabilities, 1 - probabilities).clamp(min=1e-12).log().sum().item()
        every = LabelProbabilities(self.numbers, probabilities.numpy())
        return Answer(", ".join(labels) or NONE, score, [labels, ranked], every)

    def trace_outputs(self, module: nn.Module, outputs: Tensor) -> TraceMatrix:
        """The probability of each label."""
        return trace_matrix(
            "probabilities", "sigmoid(outputs)", ["p"], outputs.sigmoid(), columns=self.labels, made_of=["outputs"]
        )

    def metrics(self, input: object) -> tuple[Metric, ...]:
        """F1 in which rare labels count as much first; then all decisions, the first labels, whole sets."""
        chosen = (MULTILABEL_MACRO_F1, MULTILABEL_MICRO_F1, SUBSET_ACCURACY, hamming(self.labels))
        ranked = [precision_at(k) for k in FIRST if k <= len(self.labels)]
        return (*(of_answer_part(metric, 0) for metric in chosen), *(of_answer_part(metric, 1) for metric in ranked))

    def details(
        self,
        predictions: Sequence[Sequence[Sequence[str]]],
        references: Sequence[Sequence[str]],
        answers: Sequence[Answer] | None,
    ) -> Details:
        """How well each label is found."""
        scores = class_scores([chosen for chosen, _ in predictions], references)
        return {"class_report": {"classes": scores}} if predictions else {}

    def error(self, output: Sequence[Sequence[str]], references: Sequence[str]) -> float:
        """How many labels are too many or too few."""
        return float(len({*output[0]} ^ {*references}))

    @staticmethod
    def target(references: Sequence[str]) -> str:
        """All labels that are true."""
        return join_items(references)

    def weigh(self, module: nn.Module, power: float) -> None:
        """A label's yes weighs ((n − n_c) / n_c)^power times its no."""
        counts = torch.tensor(self.counts, dtype=torch.float64)
        weights = ((self.examples - counts).clamp(min=1) / counts) ** power  # (C,)
        heads = heads_of(module)
        for head, own in zip(heads, weights.chunk(len(heads)), strict=True):
            head.set_class_weights(own)

    def calibrate(
        self,
        module: AnyJudge[Network],
        input: ManyToOneInput[E, Labelled, Network],
        questions: Sequence[TextExample],
    ) -> None:
        """Each label's threshold is the one of best F1 on the validation part; before that, how much each part of a
        wide model counts.
        """
        truth = self.truth_of([question.references for question in questions])
        target = torch.from_numpy(truth).double()
        weigh_both(
            module,
            input,
            [question.source for question in questions],
            lambda outputs: nn.functional.binary_cross_entropy_with_logits(outputs, target),
        )
        outputs = torch.zeros(len(questions), len(self.labels), dtype=torch.float32)
        for places, _, group in self.outputs(module, input, [question.source for question in questions]):
            outputs[places] = group.float()
        best = torch.from_numpy(best_thresholds(outputs.sigmoid().double().numpy(), truth))
        found = thresholds_of(module)
        for thresholds, own in zip(found, best.chunk(len(found)), strict=True):
            thresholds.copy_(own)

    def truth_of(self, label_sets: Sequence[Sequence[str]]) -> NDArray[np.bool_]:
        """(N, C), True where a label is true; those that training never met have no column."""
        truth = np.zeros((len(label_sets), len(self.labels)), dtype=bool)
        for row, labels in enumerate(label_sets):
            truth[row, [self.numbers[label] for label in labels if label in self.numbers]] = True
        return truth

    def closed_form(
        self,
        module: AnyJudge[Network],
        input: ManyToOneInput[E, Labelled, Network],
        pairs: Sequence[Pair],
    ) -> str:
        """A wide part begins as one logistic regression for each label."""
        truth = self.truth_of([split_items(target) for _, target in pairs])
        return solve_wide(module, input, [source for source, _ in pairs], truth, several=True)

    def explain(self, module: nn.Module, input: object, source: str) -> str:
        """The n-grams that a wide part counts for its most probable label."""
        return explain_terms(module, input, source, self.labels)

    @classmethod
    def baselines(cls, kind: str) -> tuple[BaselineMaker, ...]:
        """The most frequent labels; of texts, also a linear model for each label."""
        of_texts = (partial(LabelSetBaseline, "tf-idf-labels"),) if kind in ("text", "two texts") else ()
        return (partial(LabelSetBaseline, "majority-labels"), *of_texts)

    def baseline_answers(self, baseline: Baseline, sources: Sequence[str]) -> list[Answer]:
        """The chosen labels; all of them ranked beside."""
        given = baseline.probabilities(sources) if isinstance(baseline, LabelSetBaseline) else [None] * len(sources)
        answers = zip(baseline.predict(sources), given, strict=True)
        return [Answer(", ".join(sets[0]) or NONE, None, sets, probabilities) for sets, probabilities in answers]


class LabelSetBaseline:
    """A simple model of label sets whose targets are texts of labels and whose answers are ranked."""

    def __init__(self, baseline: str) -> None:
        self.model = BASELINES[baseline].make()
        self.name, self.summary = baseline.removesuffix("-labels"), str(self.model.summary)

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> Self:
        """Learn from the training part."""
        self.model.fit(sources, [split_items(target) for target in targets])
        self.summary = str(self.model.summary)
        return self

    def predict(self, sources: Sequence[str]) -> list[list[list[str]]]:
        """[labels chosen, labels ranked] of each source."""
        return [[chosen, ranked[:RANKED]] for chosen, ranked in self.model.rank(sources)]

    def probabilities(self, sources: Sequence[str]) -> Sequence[Mapping[str, float]] | list[None]:
        """The probability of each label, for each source; None where the model gives none."""
        if isinstance(self.model, GivesProbabilities):
            return self.model.probabilities(sources)
        return [None] * len(sources)

    def explain(self, source: str) -> Explanation | None:
        """What counts most for the most probable label, where the model can say."""
        return self.model.explain(source) if isinstance(self.model, Explains) else None


def heads_of(module: nn.Module) -> list[MultiLabelHead]:
    """The head, or the heads of one network per label."""
    return [part for part in module.modules() if isinstance(part, MultiLabelHead)]
