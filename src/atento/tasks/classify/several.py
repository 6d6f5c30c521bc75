"""Label: give any number of labels to each text."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from atento.baselines.catalogue import BASELINES
from atento.data.examples.batches import pad
from atento.data.records import join, split
from atento.metrics.labels import (
    LABELS_MACRO_F1,
    LABELS_MICRO_F1,
    WHOLE_SETS,
    best_thresholds,
    count_known,
    hamming,
    of_answers,
    precision_at,
)
from atento.metrics.metric import Metric
from atento.models.build.classifier import build_label_sets
from atento.models.classifier import Classifier, LabelledBatch, OneEach
from atento.models.heads import LabelSetHead
from atento.spec import DecodeRecipe, ModelRecipe
from atento.tasks.classify.defaults import LABEL_SET_MODELS, label_set_defaults
from atento.tasks.classify.text import align, blur, length, loss, outputs_of, trace
from atento.tasks.classify.text_codec import EncodedText, LabelCodec
from atento.tasks.pretrained import adopt_labels
from atento.tasks.reading.text import LABEL_SETS
from atento.tasks.recognising.text import label_sets
from atento.tasks.task import Alignment, Answer, Question, Task

# Axes: N texts, C labels.

RANKED = 100  # labels an answer ranks, at most
NONE = "–"  # what a person reads where no label is said
FIRST = (1, 3, 5)


class OnLists:
    """A simple model of label sets, asked as the task asks: targets are texts of labels, answers are ranked."""

    def __init__(self, baseline: str) -> None:
        self.model = BASELINES[baseline].make()
        self.name, self.summary = baseline.removesuffix("-labels"), str(self.model.summary)

    def fit(self, sources: Sequence[str], targets: Sequence[str]) -> "OnLists":
        """Learn from the training part."""
        self.model.fit(sources, [split(target) for target in targets])
        self.summary = str(self.model.summary)
        return self

    def predict(self, sources: Sequence[str]) -> list[list[list[str]]]:
        """[labels said, labels ranked] of each text."""
        return [[said, ranked[:RANKED]] for said, ranked in self.model.rank(sources)]


def encode(codec: LabelCodec, pair: tuple[str, str]) -> tuple[EncodedText, int]:
    """A training example as numbers, and how many labels there are."""
    return codec.encode(pair[0], split(pair[1])), len(codec.labels)


def example_length(example: tuple[EncodedText, int]) -> int:
    """How many tokens."""
    return length(example[0])


def batch(examples: Sequence[tuple[EncodedText, int]]) -> LabelledBatch:
    """Padded tokens, and a yes or no for each label (B, C)."""
    tokens, valid = pad([text.tokens for text, _ in examples])
    truth = torch.zeros(len(examples), examples[0][1])
    for row, (text, _) in enumerate(examples):
        truth[row, text.labels] = 1.0
    return LabelledBatch(tokens, valid, truth)


def build(recipe: ModelRecipe, codec: LabelCodec) -> Classifier | OneEach:
    """Sizes that follow from data are filled in here."""
    return build_label_sets(recipe, len(codec.source), LabelSetHead, len(codec.labels))


def heads_of(module: nn.Module) -> list[LabelSetHead]:
    """The head, or the heads of one network a label."""
    return [part for part in module.modules() if isinstance(part, LabelSetHead)]


def weigh(module: nn.Module, codec: LabelCodec, balance: float) -> None:
    """A rare yes weighs more while learning."""
    heads = heads_of(module)
    for head, weights in zip(heads, codec.balanced_yes(balance).chunk(len(heads)), strict=True):
        head.weigh(weights)


def settle(module: nn.Module, codec: LabelCodec, questions: Sequence[Question]) -> None:
    """Each label's threshold, by the validation part."""
    chances = outputs_of(module, codec, [question.source for question in questions]).sigmoid().double().numpy()
    truth = np.array([[label in question.references for label in codec.labels] for question in questions], dtype=bool)
    best = torch.from_numpy(best_thresholds(chances, truth.reshape(chances.shape)))
    heads = heads_of(module)
    for head, thresholds in zip(heads, best.chunk(len(heads)), strict=True):
        head.settle(thresholds)


def answer(module: nn.Module, codec: LabelCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
    """Validation, evaluation, prediction and serving all answer through here: labels above their thresholds."""
    thresholds = torch.cat([head.thresholds for head in heads_of(module)]).cpu()
    return [say(codec, chances, thresholds) for chances in outputs_of(module, codec, sources).sigmoid()]


def say(codec: LabelCodec, chances: Tensor, thresholds: Tensor) -> Answer:
    """The labels of one text by their probabilities (C,); the score is the log-probability of that very set."""
    yes = chances > thresholds
    order = chances.argsort(descending=True, stable=True).tolist()
    said = [codec.labels[number] for number in order if yes[number]]
    ranked = [codec.labels[number] for number in order[:RANKED]]
    score = torch.where(yes, chances, 1 - chances).clamp(min=1e-12).log().sum().item()
    every = dict(zip(codec.labels, chances.tolist(), strict=True))
    return Answer(", ".join(said) or NONE, score, [said, ranked], every)


def look_at(module: nn.Module, codec: LabelCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """The labels, and which tokens they were taken from."""
    return align(module, codec, source, *answer(module, codec, [source], recipe))


def how_wrong(codec: LabelCodec, output: Sequence[Sequence[str]], references: Sequence[str]) -> float:
    """How many labels are too many or too few."""
    return float(len({*output[0]} ^ {*references}))


def metrics(codec: LabelCodec) -> tuple[Metric, ...]:
    """F1 in which rare labels count as much first; then all decisions, the first labels, whole sets."""
    each = hamming(codec.labels)._replace(statistics=partial(count_known, labels=codec.labels))
    said = (LABELS_MACRO_F1, LABELS_MICRO_F1, WHOLE_SETS, each)
    ranked = [precision_at(k) for k in FIRST if k <= len(codec.labels)]
    return (*(of_answers(metric, 0) for metric in said), *(of_answers(metric, 1) for metric in ranked))


LABEL = Task(
    name="label",
    summary="Give any number of labels to each text.",
    recognise=label_sets,
    read=LABEL_SETS.read,
    ask=LABEL_SETS.ask,
    open=LABEL_SETS.open_file,
    learn=partial(LabelCodec.learn, several=True),
    adopt=adopt_labels,
    load=LabelCodec.load,
    encode=encode,
    length=example_length,
    batch=batch,
    build=build,
    blur=blur,
    weigh=weigh,
    loss=loss,
    answer=answer,
    settle=settle,
    look=look_at,
    steps=trace,
    wrong=how_wrong,
    target=join,
    selects=LABELS_MACRO_F1,
    metrics=metrics,
    baselines=(partial(OnLists, "majority-labels"), partial(OnLists, "tf-idf-labels")),
    models=LABEL_SET_MODELS,
    default_model="transformer",
    defaults=label_set_defaults,
)
