"""A number as an output: each source has one, standardised over the training part."""

from collections.abc import Sequence
from functools import partial
from typing import Self

import torch
from torch import Tensor, nn

from atento.baselines.sequences import LinearOnMeans, MeanTarget
from atento.data.tables.number_lists import require_numbers
from atento.errors import InputError
from atento.metrics.estimates import MSE, R2
from atento.metrics.metric import Metric
from atento.models.builders.classifier import WIDE
from atento.models.names import ModelName
from atento.spec import ModelRecipe, TokensRecipe
from atento.tasks.inputs.input import E, Labelled, ManyToOneInput, Network
from atento.tasks.inputs.numbers import Standardization
from atento.tasks.outputs.many_to_one import ManyToOneOutput
from atento.tasks.outputs.output import BaselineMaker
from atento.tasks.task import Answer, Pair, Saved
from atento.tasks.traces import TraceMatrix, trace_matrix


class Number(ManyToOneOutput[E, Labelled, Network, float]):
    """Texts of numbers <-> standardised numbers."""

    kind = "number"

    selects = MSE
    names = ("y",)

    def __init__(self, scale: Standardization, *, notes: tuple[str, ...] = ()) -> None:
        self.scale, self.notes = scale, notes

    @classmethod
    def learn(cls, recipe: TokensRecipe, input: object, pairs: Sequence[Pair]) -> Self:
        """Mean and standard deviation of the training targets."""
        scale = Standardization.of(torch.tensor([float(target) for _, target in pairs], dtype=torch.float64))
        return cls(scale, notes=(f"targets of mean {scale.mean:.3g} and standard deviation {scale.std:.3g}",))

    @classmethod
    def load(cls, saved: Saved) -> Self:
        """What `to_json` wrote."""
        return cls(Standardization.load(saved.get("scale")))

    def to_json(self) -> dict[str, object]:
        """Mean and standard deviation."""
        return {"scale": list(self.scale)}

    @classmethod
    def check_name(cls, input: type[ManyToOneInput[E, Labelled, Network]], name: ModelName) -> None:
        """A name that the input can read; a wide part gives labels alone."""
        if name.has(WIDE):
            raise InputError(
                f"model {str(name)!r}: a wide part is a linear model of labels, and a number has none.",
                found=WIDE,
                fix=f"leave {WIDE!r} out",
            )
        super().check_name(input, name)

    def encode(self, target: str) -> float:
        """The standardised number."""
        return self.scale.to(float(target))

    def truth(self, targets: Sequence[float]) -> Tensor:
        """(B, 1)"""
        return torch.tensor(targets, dtype=torch.get_default_dtype()).unsqueeze(1)

    def build(self, recipe: ModelRecipe, input: ManyToOneInput[E, Labelled, Network]) -> Network:
        """A network with one output, learned by squared error."""
        return input.build_estimator(recipe)

    def answers(self, module: nn.Module, outputs: Tensor) -> list[Answer]:
        """The numbers on their own scale."""
        return [Answer(self.write(number), None) for (number,) in outputs.tolist()]

    def write(self, number: float) -> str:
        """A standardised number as it is written in an answer."""
        return f"{self.scale.back(number):.6g}"

    def trace_outputs(self, module: nn.Module, outputs: Tensor) -> TraceMatrix:
        """The number on its own scale."""
        numbers = outputs * self.scale.std + self.scale.mean
        return trace_matrix(
            "estimate",
            "output · std + mean of the training targets",
            ["y"],
            numbers,
            columns=["y"],
            made_of=["outputs"],
        )

    def metrics(self, input: object) -> tuple[Metric, ...]:
        """The squared error first."""
        return (MSE, R2)

    def error(self, output: str, references: Sequence[str]) -> float:
        """The error in standard deviations of the training targets."""
        return min(abs(float(output) - float(reference)) for reference in references) / self.scale.std

    @classmethod
    def baselines(cls, kind: str) -> tuple[BaselineMaker, ...]:
        """The mean target; of numbers, also a linear model of their means."""
        return (MeanTarget, *((partial(LinearOnMeans, require_numbers),) if kind == "numbers" else ()))
