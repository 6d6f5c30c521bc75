"""What an output is: the half of a task that learns targets and gives answers.

`Output` is what every kind of target has. `ManyToOneOutput` is the common part of those that a many-to-one network
gives for a whole source: one label, several labels, a number.

One rule holds for a label that training never met: it costs nothing in the loss, it is never the answer, metrics count
it as wrong, and `unseen` names it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import torch
from torch import Tensor, nn

from atento.layers.losses import Loss, at_least_float32
from atento.metrics.metric import Metric
from atento.models.classifier import OneVsRest
from atento.models.names import ModelName
from atento.models.protocols import Judge
from atento.spec import DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.inputs.input import B, E, Input, M, ManyToOneInput
from atento.tasks.task import Alignment, Answer, Baseline, EvaluationExample, Pair, Saved, TargetLabels, TruncatedBPTT
from atento.tasks.traces import TraceMatrix, trace_matrix

# Axes: B batch, C outputs.

UNSEEN = -100  # the number of a label that training never met: cross-entropy leaves it out

T = TypeVar("T")  # an encoded target

BaselineMaker = Callable[[], Baseline]


class Example(NamedTuple, Generic[E, T]):
    """An encoded source and its encoded target."""

    source: E
    target: T


class Output(ABC, Generic[T]):
    """Targets of one kind <-> numbers, and the answers of a network. `input` is the other half of the task."""

    writes: ClassVar[bool] = False  # whether an answer is a text, written token by token
    weighs_classes: ClassVar[bool] = False  # whether rare classes can weigh more while training
    calibrates: ClassVar[bool] = False  # whether thresholds are chosen by the validation part
    target_labels: ClassVar[TargetLabels | None] = None  # None: targets are no labels
    selects: ClassVar[Metric | None] = None  # picks the best validation; None: the headline
    truncated_bptt: ClassVar[TruncatedBPTT | None] = None
    notes: tuple[str, ...]

    @classmethod
    @abstractmethod
    def learn(cls, recipe: TokensRecipe, input: Any, pairs: Sequence[Pair]) -> Self:
        """From the training part alone."""

    @classmethod
    @abstractmethod
    def load(cls, saved: Saved) -> Self:
        """What `to_json` wrote."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """All that `load` needs."""

    @classmethod
    def check_name(cls, input: type[Input[Any]], name: ModelName) -> None:
        """Refuse a model name that cannot give such answers of such sources."""
        input.check_name(name, writes=cls.writes)

    @abstractmethod
    def encode(self, target: str) -> T:
        """One target."""

    def length(self, input: Any, example: Example[Any, T]) -> int:
        """How many tokens an example counts as in a batch."""
        length: int = input.length(example.source)
        return length

    @abstractmethod
    def batch(self, input: Any, examples: Sequence[Example[Any, T]]) -> Any:
        """Padded tensors of sources and targets."""

    @staticmethod
    @abstractmethod
    def drop_words(input: Any, batch: Any, share: float) -> Any:
        """The batch with about this share of its source tokens made unknown."""

    @abstractmethod
    def build(self, recipe: ModelRecipe, input: Any) -> nn.Module:
        """A network of the recipe for both halves."""

    @staticmethod
    @abstractmethod
    def loss(module: Any, batch: Any, smoothing: float) -> Loss:
        """What training makes smaller."""

    @abstractmethod
    def answer(self, module: Any, input: Any, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
        """Validation, evaluation, prediction and serving all answer through here."""

    @abstractmethod
    def look(self, module: Any, input: Any, source: str, recipe: DecodeRecipe) -> Alignment:
        """An answer, and what the network attended to."""

    @abstractmethod
    def trace(self, module: Any, input: Any, source: str, recipe: DecodeRecipe) -> list[TraceMatrix]:
        """One forward pass, matrix by matrix."""

    @abstractmethod
    def metrics(self, input: Any) -> tuple[Metric, ...]:
        """What is reported, the headline first."""

    def error(self, output: Any, references: Sequence[Any]) -> float:
        """1 and more: a mistake."""
        return float(output not in references)

    @staticmethod
    def target(references: Sequence[str]) -> str:
        """The target of an example with these references: any right answer."""
        return references[0]

    @classmethod
    @abstractmethod
    def baselines(cls, kind: str) -> tuple[BaselineMaker, ...]:
        """The simple models for sources of that kind."""

    def unseen(self, references: Sequence[str]) -> Collection[str]:
        """Labels among the references that training never met."""
        return ()

    def weigh(self, module: nn.Module, power: float) -> None:
        """Let rare classes weigh more while training, by (1 / frequency) to that power."""
        raise NotImplementedError(f"{type(self).__name__} has no classes")

    def calibrate(self, module: Any, input: Any, questions: Sequence[EvaluationExample]) -> None:
        """Choose thresholds by the validation part."""
        raise NotImplementedError(f"{type(self).__name__} has no thresholds")


class ManyToOneOutput(Output[T]):
    """Targets that a many-to-one network gives for a whole source, as outputs (B, C)."""

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """What each output is called."""

    @abstractmethod
    def truth(self, targets: Sequence[T]) -> Tensor:
        """Encoded targets as the head wants them, with a leading axis (B,)."""

    @abstractmethod
    def answers(self, module: nn.Module, outputs: Tensor) -> list[Answer]:
        """What outputs (B, C) mean."""

    @abstractmethod
    def trace_outputs(self, module: nn.Module, outputs: Tensor) -> TraceMatrix:
        """Outputs (1, C) turned into the answer."""

    def batch(self, input: ManyToOneInput[E, B, M], examples: Sequence[Example[E, T]]) -> B:
        """Padded sources with the truth of each."""
        truth = self.truth([example.target for example in examples])
        return input.batch([example.source for example in examples], truth)

    @staticmethod
    def drop_words(input: type[ManyToOneInput[E, B, M]], batch: B, share: float) -> B:
        """Some tokens of the sources unknown."""
        return input.drop_words(batch, share)

    @staticmethod
    def loss(module: Judge[B], batch: B, smoothing: float) -> Loss:
        """The loss of the network's head."""
        return module.loss(batch, smoothing=smoothing)

    @torch.no_grad()
    def outputs(
        self, module: M | OneVsRest[M], input: ManyToOneInput[E, B, M], sources: Sequence[str]
    ) -> Iterator[tuple[list[int], B, Tensor]]:
        """Sources in groups of like length: their places, their batch, and its outputs (B, C) on the CPU."""
        for places, encoded in input.groups(sources):
            batch = input.asked(module, encoded)
            yield places, batch, at_least_float32(module(batch)).cpu()

    def answer(
        self, module: M | OneVsRest[M], input: ManyToOneInput[E, B, M], sources: Sequence[str], recipe: DecodeRecipe
    ) -> list[Answer]:
        """An answer for each source, with what it rests on where the network can say."""
        found: dict[int, Answer] = {}
        for places, batch, outputs in self.outputs(module, input, sources):
            texts = [sources[place] for place in places]
            unknown: list[str | None] = [None] * len(texts)
            evidence = unknown if isinstance(module, OneVsRest) else input.evidence(module, batch, texts)
            for place, answer, words in zip(places, self.answers(module, outputs), evidence, strict=True):
                found[place] = answer._replace(evidence=words)
        return [found[place] for place in range(len(sources))]

    def look(
        self, module: M | OneVsRest[M], input: ManyToOneInput[E, B, M], source: str, recipe: DecodeRecipe
    ) -> Alignment:
        """An answer, and what of the source it was taken from; nothing where each label has a network of its own."""
        (answer,) = self.answer(module, input, [source], recipe)
        if not isinstance(module, OneVsRest):
            return input.align(module, source, answer)
        shown = input.align(module.each()[0], source, answer)
        return shown._replace(output=[answer.text], weights=torch.zeros(0, 0, 1, len(shown.source)))

    @torch.no_grad()
    def trace(
        self, module: M | OneVsRest[M], input: ManyToOneInput[E, B, M], source: str, recipe: DecodeRecipe
    ) -> list[TraceMatrix]:
        """A forward pass up to the answer; where each label has a network of its own, of the first."""
        network = module.each()[0] if isinstance(module, OneVsRest) else module
        ((_, _, outputs),) = self.outputs(module, input, [source])
        return [
            *input.trace(network, source),
            trace_matrix("outputs", "W · summary + b", ["output"], outputs, columns=self.names),
            self.trace_outputs(module, outputs),
        ]
