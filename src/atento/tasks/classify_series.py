"""Classify series: give one label to each sequence of numbers, of one or many channels."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from atento.baselines.frequent import Majority
from atento.baselines.shapes import LinearOnShapes
from atento.baselines.warping import NearestWarped
from atento.blocks.pooling import AttentionPooling
from atento.data.number_sequences import require_numbers
from atento.layers.losses import Loss
from atento.metrics.labels import ACCURACY
from atento.models.build_series_classifier import build_series_classifier
from atento.models.classifier import Classifier, LabelledBatch, as_classifier
from atento.models.patched_numbers import steps_together
from atento.spec import DecodeRecipe, ModelRecipe
from atento.tasks.channels import pad_sequences
from atento.tasks.classify_series_codec import EncodedSeries, SeriesCodec
from atento.tasks.classify_series_defaults import MODELS, defaults, sized
from atento.tasks.labelling import metrics, weigh
from atento.tasks.read_sequences import LABELLED_SEQUENCES
from atento.tasks.recognising_sequences import label_sequences
from atento.tasks.sequence_classifier import align, asked, outputs_of
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.traces import entry


def length(example: EncodedSeries) -> int:
    """How many steps."""
    return len(example.values)


def batch(examples: Sequence[EncodedSeries]) -> LabelledBatch:
    """Padded numbers, and the number of each sequence's label."""
    values, valid = pad_sequences([example.values for example in examples])
    return LabelledBatch(values, valid, torch.tensor([example.label for example in examples]))


def build(recipe: ModelRecipe, codec: SeriesCodec) -> Classifier:
    """Sizes that follow from data are filled in here."""
    return build_series_classifier(recipe, len(codec.channels), len(codec.labels))


def loss(module: nn.Module, rows: LabelledBatch, smoothing: float) -> Loss:
    """Cross-entropy of the labels."""
    return as_classifier(module).loss(rows, smoothing=smoothing)


def answer(module: nn.Module, codec: SeriesCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
    """Validation, evaluation, prediction and serving all answer through here: the likeliest label."""
    return [codec.likeliest(scores) for scores in outputs_of(module, codec, sources).float().log_softmax(dim=-1)]


def look_at(module: nn.Module, codec: SeriesCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """The label, and which steps it was taken from."""
    return align(module, codec, source, *answer(module, codec, [source], recipe))


@torch.no_grad()
def trace(module: nn.Module, codec: SeriesCodec, source: str, recipe: DecodeRecipe) -> list[dict[str, Any]]:
    """One pass, matrix by matrix."""
    classifier, row = as_classifier(module), codec.read(source)
    rows = asked(module, [row])
    encoded = classifier.encoder.encode(rows.source, rows.valid)
    summary, places = classifier.sum_up(encoded), steps_together(classifier.encoder, source.split())
    scaled = [f"x{number + 1}" for number in range(row.size(-1))]
    found = [
        entry("numbers", "(x − mean) / spread of the training part", source.split(), row, columns=scaled),
        entry("states", f"{type(classifier.encoder).__name__}: one vector each", places, encoded.states[0].cpu()),
    ]
    if isinstance(classifier.pooling, AttentionPooling):
        found.append(entry("weights", "how much was taken", places, classifier.weights(rows).cpu().mT, columns=["w"]))
    outputs = classifier.head(summary).cpu()
    return [
        *found,
        entry("summary", "the whole sequence in one vector", ["summary"], summary.cpu()),
        entry("outputs", "W · summary + b", ["output"], outputs, columns=codec.labels),
    ]


CLASSIFY_SERIES = Task(
    name="classify-series",
    summary="Give one label to each sequence of numbers.",
    recognise=label_sequences,
    read=LABELLED_SEQUENCES.read,
    ask=LABELLED_SEQUENCES.ask,
    open=LABELLED_SEQUENCES.open_file,
    learn=SeriesCodec.learn,
    load=SeriesCodec.load,
    encode=SeriesCodec.encode,
    length=length,
    batch=batch,
    build=build,
    weigh=weigh,
    loss=loss,
    answer=answer,
    look=look_at,
    steps=trace,
    selects=ACCURACY,
    metrics=metrics,
    baselines=(Majority, partial(LinearOnShapes, require_numbers), partial(NearestWarped, require_numbers)),
    models=MODELS,
    default_model="gru+additive",
    defaults=defaults,
    sized=sized,
)
