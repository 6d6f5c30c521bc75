"""Estimate: give a number to each sequence of numbers."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from atento.baselines.estimates import LinearOnMeans, MeanTarget
from atento.blocks.pooling import AttentionPooling
from atento.data.batches import batches_by_length
from atento.data.number_sequences import require_numbers
from atento.layers.losses import Loss
from atento.metrics.estimates import MSE, R2
from atento.metrics.metric import Metric
from atento.models.classifier import Classifier, LabelledBatch
from atento.models.estimator import TransformerNumbers, build_estimator
from atento.spec import DecodeRecipe, ModelRecipe
from atento.tasks.channels import pad_sequences
from atento.tasks.estimate_defaults import MODELS, defaults
from atento.tasks.number_codec import EncodedSequence, NumberCodec
from atento.tasks.read_estimates import ESTIMATES
from atento.tasks.recognising_sequences import estimate_sequences
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.traces import entry

# Axes: B batch, N time, C channels.

STEPS_AT_ONCE = 65_536


def batch(examples: Sequence[EncodedSequence]) -> LabelledBatch:
    """Scaled numbers -> padded tensors."""
    values, valid = pad_sequences([example.values for example in examples])
    return LabelledBatch(values, valid, torch.tensor([[example.target] for example in examples], dtype=values.dtype))


def encode(codec: NumberCodec, pair: tuple[str, str]) -> EncodedSequence:
    """A training example as scaled numbers."""
    return codec.encode(pair)


def length(example: EncodedSequence) -> int:
    """How many steps."""
    return len(example.values)


def build(recipe: ModelRecipe, codec: NumberCodec) -> Classifier:
    """Sizes that follow from data are filled in here."""
    return build_estimator(recipe, len(codec.channels))


def squared_loss(module: nn.Module, rows: LabelledBatch, smoothing: float) -> Loss:
    """Squared error on the target's own scale; there are no labels to smooth."""
    return as_estimator(module).loss(rows)


@torch.no_grad()
def estimate(module: nn.Module, codec: NumberCodec, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
    """Validation, evaluation, prediction and serving all answer through here."""
    estimator, like = as_estimator(module), next(module.parameters())
    rows = [codec.read(source) for source in sources]
    lengths = [len(row) for row in rows]
    found: dict[int, float] = {}
    order = sorted(range(len(rows)), key=lambda index: lengths[index])
    for indices in batches_by_length(lengths, order, batch_tokens=STEPS_AT_ONCE):
        values, valid = pad_sequences([rows[index] for index in indices])
        outputs = estimator(LabelledBatch(values.to(like), valid.to(like.device), valid))
        found.update(zip(indices, estimator.head.answer(outputs).squeeze(-1).tolist(), strict=True))
    return [Answer(codec.write(found[index]), None) for index in range(len(rows))]


@torch.no_grad()
def look_at(module: nn.Module, codec: NumberCodec, source: str, recipe: DecodeRecipe) -> Alignment:
    """Which steps a pooling took, or where the steps of a Transformer looked; nothing for other models."""
    estimator, like = as_estimator(module), next(module.parameters())
    (answer,) = estimate(module, codec, [source], recipe)
    values, valid = pad_sequences([codec.read(source)])
    rows = LabelledBatch(values.to(like), valid.to(like.device), valid)
    steps, output = source.split(), [answer.text]
    weights = torch.zeros(0, 0, 1, len(steps))
    if isinstance(estimator.pooling, AttentionPooling):
        weights = estimator.weights(rows)[None, None]  # (1, 1, 1, N)
    elif isinstance(estimator.encoder, TransformerNumbers):
        encoder, output = estimator.encoder, steps
        weights = encoder.stack.weights(encoder.place(rows.source, rows.valid), valid=rows.valid)[0]  # (L, H, N, N)
    return Alignment(steps, output, weights.float().cpu(), answer.text, None)


@torch.no_grad()
def trace(module: nn.Module, codec: NumberCodec, source: str, recipe: DecodeRecipe) -> list[dict[str, Any]]:
    """One pass, matrix by matrix."""
    estimator, like = as_estimator(module), next(module.parameters())
    values, valid = pad_sequences([codec.read(source)])
    encoded = estimator.encoder.encode(values.to(like), valid.to(like.device))
    steps = source.split()
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


def as_estimator(module: nn.Module) -> Classifier:
    """The module, typed."""
    if not isinstance(module, Classifier):
        raise TypeError(f"estimate works with a Classifier, not {type(module).__name__}")
    return module


def load_codec(saved: Any) -> NumberCodec:
    """The scales from what was saved."""
    return NumberCodec.load(saved)


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
    load=load_codec,
    encode=encode,
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
