"""Classify series: give one label to each sequence of numbers, of one or many channels.

Scales of the channels and the list of the labels, for one label a numeric sequence.
What labels and numbers of numeric sequences have in common: sequences through a classifier, where it looked.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from atento.baselines.frequent import Majority
from atento.baselines.sequences import LinearOnShapes
from atento.baselines.time_warping import NearestWarped
from atento.blocks.pooling import AttentionPooling
from atento.data.examples.batches import like_lengths
from atento.data.records import counted
from atento.data.tables.number_lists import require_numbers
from atento.layers.losses import Loss
from atento.metrics.labels import ACCURACY
from atento.models.backbones.numbers import PatchedNumbers, TransformerNumbers, steps_together
from atento.models.build.classifier import build_series_classifier
from atento.models.classifier import Classifier, LabelledBatch, as_classifier
from atento.spec import DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.classify.defaults import NUMBERS_MODELS, numbers_defaults, numbers_sizes
from atento.tasks.classify.labels import KnownLabels, labels_of, load_labels, metrics, weigh
from atento.tasks.inputs.numbers import Channels, pad_for, pad_sequences
from atento.tasks.reading.sequences import LABELLED_SEQUENCES
from atento.tasks.recognising.sequences import label_sequences
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.traces import entry

UNMET = -100  # the number that cross-entropy leaves out


class EncodedSeries(NamedTuple):
    """Scaled numbers and the number of their label; a label that training never met costs nothing."""

    values: Tensor  # (T, C)
    label: int


class SeriesCodec(KnownLabels):
    """Texts of numbers and labels <-> tensors and label numbers."""

    def __init__(
        self, channels: Channels, labels: Sequence[str], counts: Sequence[int], *, notes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(labels, counts, notes=notes)
        self.channels = channels

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[tuple[str, str]]) -> "SeriesCodec":
        """Scales and labels from the training part alone."""
        labels, counts, common = labels_of([label for _, label in pairs])
        channels, steps = Channels.learn([source for source, _ in pairs])
        notes = (f"{counted(len(channels), 'channel')}, {steps / len(pairs):.0f} steps a sequence", common)
        return cls(channels, labels, counts, notes=notes)

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> "SeriesCodec":
        """What `to_json` wrote."""
        labels, counts = load_labels(saved)
        return cls(Channels.load(saved.get("channels")), labels, counts)

    def to_json(self) -> dict[str, Any]:
        """The scale of every channel, and every label with how often it was true."""
        return {"channels": self.channels.to_json(), "labels": list(self.labels), "counts": list(self.counts)}

    def read(self, source: str) -> Tensor:
        """The scaled numbers (T, C) of a text."""
        return self.channels.read(source)

    def encode(self, pair: tuple[str, str]) -> EncodedSeries:
        """A training example."""
        return EncodedSeries(self.read(pair[0]), self.numbers.get(pair[1], UNMET))


# Axes: B batch, T time, C channels, M patches, F outputs, L layers, H heads.

STEPS_AT_ONCE = 65_536


class ReadsNumbers(Protocol):
    """What turns a text of numbers into scaled ones."""

    def read(self, source: str) -> Tensor:
        """(T, C)."""


def asked(module: nn.Module, rows: Sequence[Tensor]) -> LabelledBatch:
    """Sequences whose truth nobody knows, as the module takes them."""
    values, valid = pad_for(module, rows)
    return LabelledBatch(values, valid, valid)


@torch.no_grad()
def outputs_of(module: nn.Module, codec: ReadsNumbers, sources: Sequence[str]) -> Tensor:
    """The head's outputs (sources, F), on the processor; sequences of like length are read together."""
    classifier, rows = as_classifier(module), [codec.read(source) for source in sources]
    found = torch.zeros(len(rows), classifier.head.width, dtype=classifier.head.map.weight.dtype)
    for indices in like_lengths([len(row) for row in rows], batch_tokens=STEPS_AT_ONCE):
        found[indices] = classifier(asked(module, [rows[index] for index in indices])).to(found)
    return found


@torch.no_grad()
def align(module: nn.Module, codec: ReadsNumbers, source: str, said: Answer) -> Alignment:
    """Which steps a pooling took, or where the steps of a Transformer looked; nothing for other models."""
    classifier, rows = as_classifier(module), asked(module, [codec.read(source)])
    steps, output = steps_together(classifier.encoder, source.split()), [said.text]
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
    models=NUMBERS_MODELS,
    default_model="gru+additive",
    defaults=numbers_defaults,
    sized=numbers_sizes,
)
