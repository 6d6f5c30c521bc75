"""Classify series: give one label to each sequence of numbers, of one or many channels."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from atento.baselines.frequent import Majority
from atento.baselines.shapes import LinearOnShapes
from atento.baselines.warping import NearestWarped
from atento.blocks.pooling import AttentionPooling
from atento.data.batches import batches_by_length
from atento.data.number_sequences import require_numbers
from atento.layers.losses import Loss
from atento.metrics.labels import ACCURACY, MACRO_F1
from atento.metrics.metric import Metric
from atento.models.build_series_classifier import build_series_classifier
from atento.models.classifier import Classifier, LabelledBatch
from atento.models.estimator import TransformerNumbers
from atento.models.heads import LabelHead
from atento.models.patched_numbers import PatchedNumbers, steps_together
from atento.spec import DecodeRecipe, ModelRecipe
from atento.tasks.channels import pad_sequences
from atento.tasks.classify_series_codec import EncodedSeries, SeriesCodec
from atento.tasks.classify_series_defaults import MODELS, defaults, sized
from atento.tasks.read_sequences import LABELLED_SEQUENCES
from atento.tasks.recognising_sequences import label_sequences
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.traces import entry

# Axes: B batch, T time, C channels, M patches, L layers, H heads.

STEPS_AT_ONCE = 65_536


def encode(codec: SeriesCodec, pair: tuple[str, str]) -> EncodedSeries:
    """A training example as scaled numbers."""
    return codec.encode(pair)


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


def weigh(module: nn.Module, codec: SeriesCodec, balance: float) -> None:
    """Rare labels weigh more while learning."""
    head = as_classifier(module).head
    if isinstance(head, LabelHead):
        head.weigh(codec.balanced(balance))


def loss(module: nn.Module, rows: LabelledBatch, smoothing: float) -> Loss:
    """Cross-entropy of the labels."""
    return as_classifier(module).loss(rows, smoothing=smoothing)


@torch.no_grad()
def answer(module: nn.Module, codec: SeriesCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
    """Validation, evaluation, prediction and serving all answer through here: the likeliest label."""
    classifier, rows = as_classifier(module), [codec.read(source) for source in sources]
    lengths = [len(row) for row in rows]
    found = torch.zeros(len(rows), len(codec.labels))
    order = sorted(range(len(rows)), key=lambda index: lengths[index])
    for indices in batches_by_length(lengths, order, batch_tokens=STEPS_AT_ONCE):
        outputs = classifier(asked(module, [rows[index] for index in indices]))
        found[indices] = outputs.float().log_softmax(dim=-1).cpu()
    return [say(codec, scores) for scores in found]


def say(codec: SeriesCodec, scores: Tensor) -> Answer:
    """The likeliest label by log-probabilities (labels,)."""
    best = int(scores.argmax())
    return Answer(
        codec.labels[best], scores[best].item(), chances=dict(zip(codec.labels, scores.exp().tolist(), strict=True))
    )


def asked(module: nn.Module, rows: Sequence[Tensor]) -> LabelledBatch:
    """Sequences whose labels nobody knows, as the module takes them."""
    like = next(module.parameters())
    values, valid = pad_sequences(rows)
    return LabelledBatch(values.to(like), valid.to(like.device), valid)


@torch.no_grad()
def look_at(module: nn.Module, codec: SeriesCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """Which steps a pooling took, or where the steps of a Transformer looked; nothing for other models."""
    classifier, row = as_classifier(module), codec.read(source)
    (said,) = answer(module, codec, [source], recipe)
    rows, steps, output = asked(module, [row]), steps_together(classifier.encoder, source.split()), [said.text]
    weights = torch.zeros(0, 0, 1, len(steps))
    if isinstance(classifier.pooling, AttentionPooling):
        weights = classifier.weights(rows)[None, None]  # (1, 1, 1, M)
    else:
        encoder, values, valid = classifier.encoder, rows.source, rows.valid
        if isinstance(encoder, PatchedNumbers):
            values, valid = encoder.cut(values, valid)
            encoder = encoder.encoder
        if isinstance(encoder, TransformerNumbers):
            output, weights = steps, encoder.stack.weights(encoder.place(values, valid), valid=valid)[0]  # (L, H, M, M)
    return Alignment(steps, output, weights.float().cpu(), said.text, said.score)


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


def as_classifier(module: nn.Module) -> Classifier:
    """The module, typed."""
    if not isinstance(module, Classifier):
        raise TypeError(f"labels come from a classifier, not {type(module).__name__}")
    return module


def metrics(codec: SeriesCodec) -> tuple[Metric, ...]:
    """Accuracy first; macro-F1 shows what it hides of rare labels."""
    return (ACCURACY, MACRO_F1)


CLASSIFY_SERIES = Task(
    name="classify-series",
    summary="Give one label to each sequence of numbers.",
    recognise=label_sequences,
    read=LABELLED_SEQUENCES.read,
    ask=LABELLED_SEQUENCES.ask,
    open=LABELLED_SEQUENCES.open_file,
    learn=SeriesCodec.learn,
    load=SeriesCodec.load,
    encode=encode,
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
