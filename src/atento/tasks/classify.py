"""Classify: give one label to each text, of words or of symbols with no words."""

from collections.abc import Sequence
from functools import partial

import torch
from torch import nn

from atento.baselines.catalogue import BASELINES
from atento.data.batches import pad
from atento.metrics.labels import ACCURACY
from atento.models.build_classifier import build_classifier
from atento.models.classifier import Classifier, LabelledBatch
from atento.models.heads import LabelHead
from atento.spec import DecodeRecipe, ModelRecipe
from atento.tasks.adopting import adopt_label
from atento.tasks.classify_defaults import MODELS, defaults
from atento.tasks.label_codec import EncodedText, LabelCodec
from atento.tasks.labelling import metrics, weigh
from atento.tasks.read_labelled import LABELLED
from atento.tasks.recognising import label_texts
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.text_classifier import align, blur, length, loss, outputs_of, trace


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


def answer(module: nn.Module, codec: LabelCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
    """Validation, evaluation, prediction and serving all answer through here: the likeliest label."""
    return [codec.likeliest(scores) for scores in outputs_of(module, codec, sources).log_softmax(dim=-1)]


def look_at(module: nn.Module, codec: LabelCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """The label, and which tokens it was taken from."""
    return align(module, codec, source, *answer(module, codec, [source], recipe))


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
    steps=trace,
    selects=ACCURACY,
    metrics=metrics,
    baselines=tuple(BASELINES[name].make for name in ("majority", "bag-of-words", "bag-of-n-grams", "tf-idf")),
    models=MODELS,
    default_model="gru+additive",
    defaults=defaults,
)
