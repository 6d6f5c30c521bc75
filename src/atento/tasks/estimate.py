"""Estimate: give a number to each sequence of numbers.

Number sequences and the number of each, on scales of their own: mean 0 and spread 1 over the training part.
Recipes of the estimate task, chosen by measurement. How stands in docs/decisions/0011-probes.md.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from atento.baselines.sequences import LinearOnMeans, MeanTarget
from atento.data.records import counted
from atento.data.tables.number_lists import require_numbers
from atento.errors import InputError
from atento.layers.losses import Loss
from atento.metrics.estimates import MSE, R2
from atento.metrics.metric import Metric
from atento.models.backbones.numbers import build_estimator
from atento.models.classifier import Classifier, LabelledBatch, as_classifier
from atento.models.names import ModelName
from atento.spec import DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.classify.series import align, asked, outputs_of
from atento.tasks.inputs.numbers import Channels, Scale, is_scale, pad_sequences
from atento.tasks.reading.text import ESTIMATES
from atento.tasks.recognising.sequences import estimate_sequences
from atento.tasks.task import Alignment, Answer, Task
from atento.tasks.traces import entry

MODELS = ("rnn", "gru", "lstm", "gru+additive", "transformer")

Values = dict[str, Any]

COMMON: Values = {"model.hidden": 64, "model.dropout": 0.0, "model.directions": 1, "train.batch_tokens": 2500}

ANY_DATA: dict[str, Values] = {
    "rnn": {**COMMON, "train.lr": 1e-3},
    "gru": {**COMMON, "train.lr": 5e-3},
    "lstm": {**COMMON, "train.lr": 5e-3},
    "transformer": {**COMMON, "train.lr": 1e-3, "model.layers": 2, "model.directions": 2},
}

BUILTIN: dict[str, Values] = {"adding": {"train.budget": 60}}


def defaults(data: str, model: ModelName) -> Values:
    """Recipe values for a model on a set; anything a user says goes before them."""
    return {**ANY_DATA.get(model.family, {}), **BUILTIN.get(data, {})}


class EncodedSequence(NamedTuple):
    """Scaled numbers."""

    values: Tensor  # (T, C)
    target: float


class NumberCodec:
    """Texts of numbers <-> tensors."""

    def __init__(self, channels: Channels, target: Scale, *, notes: tuple[str, ...] = ()) -> None:
        self.channels, self.target, self.notes = channels, target, notes

    @classmethod
    def learn(cls, recipe: TokensRecipe, pairs: Sequence[tuple[str, str]]) -> "NumberCodec":
        """Scales from the training part alone."""
        channels, steps = Channels.learn([source for source, _ in pairs])
        target = Scale.of(torch.tensor([float(target) for _, target in pairs], dtype=torch.float64))
        note = (
            f"{counted(len(channels), 'channel')}, {steps / len(pairs):.0f} steps a sequence; targets of mean "
            f"{target.mean:.3g} and standard deviation {target.spread:.3g}"
        )
        return cls(channels, target, notes=(note,))

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> "NumberCodec":
        """What `to_json` wrote."""
        target = saved.get("target")
        if not is_scale(target):
            raise InputError("this file holds no scales of numbers.", found=str(saved)[:80], fix="train again")
        return cls(Channels.load(saved.get("channels")), Scale(*target or ()))

    def to_json(self) -> dict[str, Any]:
        """Mean and spread of each channel and of the target."""
        return {"channels": self.channels.to_json(), "target": list(self.target)}

    def encode(self, pair: tuple[str, str]) -> EncodedSequence:
        """A training example."""
        return EncodedSequence(self.read(pair[0]), self.target.to(float(pair[1])))

    def read(self, source: str) -> Tensor:
        """The scaled numbers (T, C) of a text."""
        return self.channels.read(source)

    def write(self, number: float) -> str:
        """An answer as a person reads it."""
        return f"{self.target.back(number):.6g}"


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
