"""Estimate: give a number to each sequence of numbers."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from atento.baselines.estimates import LinearOnMeans, MeanTarget
from atento.data.number_sequences import require_numbers
from atento.layers.losses import Loss
from atento.metrics.estimates import MSE, R2
from atento.metrics.metric import Metric
from atento.models.classifier import Classifier, LabelledBatch, as_classifier
from atento.models.estimator import build_estimator
from atento.spec import DecodeRecipe, ModelRecipe
from atento.tasks.channels import pad_sequences
from atento.tasks.estimate_defaults import MODELS, defaults
from atento.tasks.number_codec import EncodedSequence, NumberCodec
from atento.tasks.read_estimates import ESTIMATES
from atento.tasks.recognising_sequences import estimate_sequences
from atento.tasks.sequence_classifier import align, asked, outputs_of
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.traces import entry

# Axes: B batch, N time, C channels.


def batch(examples: Sequence[EncodedSequence]) -> LabelledBatch:
    """Scaled numbers -> padded tensors."""
    values, valid = pad_sequences([example.values for example in examples])
    return LabelledBatch(values, valid, torch.tensor([[example.target] for example in examples], dtype=values.dtype))


def length(example: EncodedSequence) -> int:
    """How many steps."""
    return len(example.values)


def build(recipe: ModelRecipe, codec: NumberCodec) -> Classifier:
    """Sizes that follow from data are filled in here."""
    return build_estimator(recipe, len(codec.channels))


def squared_loss(module: nn.Module, rows: LabelledBatch, smoothing: float) -> Loss:
    """Squared error on the target's own scale; there are no labels to smooth."""
    return as_classifier(module).loss(rows)


def estimate(module: nn.Module, codec: NumberCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
    """Validation, evaluation, prediction and serving all answer through here."""
    return [Answer(codec.write(number), None) for (number,) in outputs_of(module, codec, sources).tolist()]


def look_at(module: nn.Module, codec: NumberCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """The number, and which steps it was taken from."""
    return align(module, codec, source, *estimate(module, codec, [source], recipe))


@torch.no_grad()
def trace(module: nn.Module, codec: NumberCodec, source: str, recipe: DecodeRecipe) -> list[dict[str, Any]]:
    """One pass, matrix by matrix."""
    estimator, steps = as_classifier(module), source.split()
    values, valid, _ = asked(module, [codec.read(source)])
    encoded = estimator.encoder.encode(values, valid)
    summary = estimator.sum_up(encoded)
    output = estimator.head(summary)
    scaled = [f"x{number + 1}" for number in range(values.size(-1))]
    return [
        entry("numbers", "(x − mean) / spread of the training part", steps, values[0], columns=scaled),
        entry("states", f"{type(estimator.encoder).__name__}: one vector a step", steps, encoded.states[0]),
        entry("summary", "the whole sequence in one vector", ["summary"], summary),
        entry(
            "estimate", "w · summary + b, on the target's scale", [codec.write(float(output))], output, columns=["y"]
        ),
    ]


def how_wrong(codec: NumberCodec, output: str, references: Sequence[str]) -> float:
    """The error in standard deviations of the training targets."""
    return min(abs(float(output) - float(reference)) for reference in references) / codec.target.spread


def metrics(codec: NumberCodec) -> tuple[Metric, ...]:
    """The error first."""
    return (MSE, R2)


ESTIMATE = Task(
    name="estimate",
    summary="Give a number to each sequence of numbers.",
    recognise=estimate_sequences,
    read=ESTIMATES.read,
    ask=ESTIMATES.ask,
    open=ESTIMATES.open_file,
    learn=NumberCodec.learn,
    load=NumberCodec.load,
    encode=NumberCodec.encode,
    length=length,
    batch=batch,
    build=build,
    loss=squared_loss,
    answer=estimate,
    look=look_at,
    steps=trace,
    wrong=how_wrong,
    selects=MSE,
    metrics=metrics,
    baselines=(MeanTarget, partial(LinearOnMeans, require_numbers)),
    models=MODELS,
    default_model="gru+additive",
    defaults=defaults,
)
