"""Classify: give one label to each text, of words or of symbols with no words."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from atento.baselines.catalogue import BASELINES
from atento.data.batches import pad
from atento.metrics.labels import ACCURACY, MACRO_F1
from atento.metrics.metric import Metric
from atento.models.build_classifier import build_classifier
from atento.models.classifier import Classifier, LabelledBatch
from atento.models.heads import LabelHead
from atento.spec import DecodeRecipe, ModelRecipe
from atento.tasks.adopting import adopt_label
from atento.tasks.classify_defaults import MODELS, defaults
from atento.tasks.label_codec import EncodedText, LabelCodec
from atento.tasks.read_labelled import LABELLED
from atento.tasks.recognising import label_texts
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.text_classifier import as_classifier, attention_over, blur, length, loss, outputs_of, trace


def encode(codec: LabelCodec, pair: tuple[str, str]) -> EncodedText:
    """A training example as numbers."""
    return codec.encode(pair[0], [pair[1]])


def batch(examples: Sequence[EncodedText]) -> LabelledBatch:
    """Padded tokens, and the number of each text's label."""
    tokens, valid = pad([example.tokens for example in examples])
    return LabelledBatch(tokens, valid, torch.tensor([example.labels[0] for example in examples]))


def build(recipe: ModelRecipe, codec: LabelCodec) -> Classifier:
    """Sizes that follow from data are filled in here."""
    return build_classifier(recipe, len(codec.source), LabelHead, len(codec.labels))


def weigh(module: nn.Module, codec: LabelCodec, balance: float) -> None:
    """Rare labels weigh more while learning."""
    head = as_classifier(module).head
    if isinstance(head, LabelHead):
        head.weigh(codec.balanced(balance))


def answer(module: nn.Module, codec: LabelCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
    """Validation, evaluation, prediction and serving all answer through here: the likeliest label."""
    said = []
    for scores in outputs_of(module, codec, sources).log_softmax(dim=-1):
        best = int(scores.argmax())
        chances = dict(zip(codec.labels, scores.exp().tolist(), strict=True))
        said.append(Answer(codec.labels[best], scores[best].item(), chances=chances))
    return said


def look_at(module: nn.Module, codec: LabelCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """The label, and which tokens it was taken from."""
    (said,) = answer(module, codec, [source], recipe)
    tokens = codec.read(source)
    weights, pieces = attention_over(module, tokens), codec.pieces(tokens)
    return Alignment(pieces, [said.text] if weights.size(2) == 1 else pieces, weights, said.text, said.score)


def steps(module: nn.Module, codec: LabelCodec, source: str, recipe: DecodeRecipe) -> list[dict[str, Any]]:
    """One pass, matrix by matrix."""
    return trace(module, codec, source)


def metrics(codec: LabelCodec) -> tuple[Metric, ...]:
    """Accuracy first; macro-F1 shows what it hides of rare labels."""
    return (ACCURACY, MACRO_F1)


CLASSIFY = Task(
    name="classify",
    summary="Give one label to each text.",
    recognise=label_texts,
    read=LABELLED.read,
    ask=LABELLED.ask,
    open=LABELLED.open_file,
    learn=partial(LabelCodec.learn, several=False),
    adopt=adopt_label,
    load=LabelCodec.load,
    encode=encode,
    length=length,
    batch=batch,
    build=build,
    blur=blur,
    weigh=weigh,
    loss=loss,
    answer=answer,
    look=look_at,
    steps=steps,
    selects=ACCURACY,
    metrics=metrics,
    baselines=tuple(BASELINES[name].make for name in ("majority", "bag-of-words", "bag-of-n-grams", "tf-idf")),
    models=MODELS,
    default_model="gru+additive",
    defaults=defaults,
)
