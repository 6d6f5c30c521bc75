"""What an output is: the half of a task that learns targets and gives answers.

`Output` is what every kind of target has; what those have in common that stand for a whole source is in
many_to_one.py. What only some outputs can do is a base of its own: `HasClasses`, `Autoregressive`, and in fitted.py
`HasCalibration`, `HasClosedForm`.

One rule holds for a label that training never met: it costs nothing in the loss, it is never the answer, metrics count
it as wrong, and `unseen` names it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

from torch import nn

from atento.layers.losses import Loss
from atento.metrics.metric import Metric
from atento.models.names import ModelName
from atento.spec import DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.inputs.input import E, Input
from atento.tasks.task import (
    Answer,
    B,
    Baseline,
    Details,
    M,
    Pair,
    Prediction,
    Saved,
    TargetLabels,
    TextExample,
    TruncatedBPTT,
)
from atento.tasks.traces import Alignment, TraceMatrix

UNSEEN = -100  # the number of a label that training never met: cross-entropy leaves it out

In = TypeVar("In", bound=Input[Any])  # the input that an output goes together with
T = TypeVar("T")  # an encoded target

BaselineMaker = Callable[[], Baseline]


class Example(NamedTuple, Generic[E, T]):
    """An encoded source and its encoded target."""

    source: E
    target: T


class Output(ABC, Generic[In, E, T, B, M]):
    """Targets of one kind <-> numbers, and the answers of a network. `input` is the other half of the task."""

    kind: ClassVar[str]  # of an answer: label, labels, tags, text, number
    target_labels: ClassVar[TargetLabels | None] = None  # None: targets are no labels
    selects: ClassVar[Metric | None] = None  # picks the best validation; None: the headline
    truncated_bptt: ClassVar[TruncatedBPTT | None] = None
    notes: tuple[str, ...]
    max_length: int | None = None  # most tokens or tags of a target that `encode` keeps; None: all

    @property
    def learned_tokens(self) -> Collection[str]:
        """The labels, tags or tokens that were learned, as they stand in targets."""
        return ()

    @classmethod
    @abstractmethod
    def learn(cls, recipe: TokensRecipe, input: In, pairs: Sequence[Pair]) -> Self:
        """From the training part alone."""

    @classmethod
    @abstractmethod
    def load(cls, saved: Saved) -> Self:
        """What `to_json` wrote."""

    @abstractmethod
    def to_json(self) -> dict[str, object]:
        """All that `load` needs."""

    @classmethod
    def check_name(cls, input: type[In], name: ModelName) -> None:
        """Refuse a model name that cannot give such answers of such sources."""
        input.check_name(name, writes=issubclass(cls, Autoregressive))

    @abstractmethod
    def encode(self, target: str) -> T:
        """One target."""

    def length(self, input: In, example: Example[E, T]) -> int:
        """How many tokens an example counts as in a batch."""
        return input.length(example.source)

    @abstractmethod
    def batch(self, input: In, examples: Sequence[Example[E, T]]) -> B:
        """Padded tensors of sources and targets."""

    @staticmethod
    @abstractmethod
    def drop_words(input: type[In], batch: B, share: float) -> B:
        """The batch with about this share of its source tokens made unknown."""

    @abstractmethod
    def build(self, recipe: ModelRecipe, input: In) -> M:
        """A network of the recipe for both halves."""

    @staticmethod
    @abstractmethod
    def ensemble(members: Sequence[M]) -> M:
        """Networks of one recipe as one, whose prediction is the mean of theirs."""

    @staticmethod
    @abstractmethod
    def loss(module: M, batch: B, smoothing: float) -> Loss:
        """What training makes smaller."""

    @abstractmethod
    def answer(self, module: M, input: In, sources: Sequence[str], recipe: DecodeRecipe) -> list[Answer]:
        """Validation, evaluation, prediction and serving all answer through here."""

    @abstractmethod
    def look(self, module: M, input: In, source: str, recipe: DecodeRecipe) -> Alignment:
        """An answer, and what the network attended to."""

    @abstractmethod
    def trace(self, module: M, input: In, source: str, recipe: DecodeRecipe) -> list[TraceMatrix]:
        """One forward pass, matrix by matrix."""

    @abstractmethod
    def metrics(self, input: In) -> tuple[Metric, ...]:
        """What is reported, the headline first."""

    def error(self, output: Prediction, references: Sequence[str]) -> float:
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

    def baseline_answers(self, baseline: Baseline, sources: Sequence[str]) -> list[Answer]:
        """What a fitted baseline answers: the texts that it predicts."""
        return [Answer(str(prediction), None) for prediction in baseline.predict(sources)]

    def unseen(self, references: Sequence[str]) -> Collection[str]:
        """Labels among the references that training never met."""
        return ()

    def details(
        self,
        predictions: Sequence[Prediction],
        references: Sequence[Sequence[str]],
        answers: Sequence[Answer] | None,
    ) -> Details:
        """What the scores hide: of labels, how well each is found."""
        return {}


class HasClasses(ABC):
    """An output of labels that the training part counts, so that rare ones can weigh more."""

    def __init__(self, labels: Sequence[str], counts: Sequence[int], *, notes: tuple[str, ...] = ()) -> None:
        self.labels, self.counts, self.notes = tuple(labels), tuple(counts), notes
        self.numbers = {label: number for number, label in enumerate(self.labels)}

    @property
    def names(self) -> Sequence[str]:
        """The labels."""
        return self.labels

    @property
    def learned_tokens(self) -> Collection[str]:
        """The labels, as they stand in targets."""
        return self.labels

    def unseen(self, references: Sequence[str]) -> Collection[str]:
        """Labels that training never met."""
        return [label for label in references if label not in self.numbers]

    @abstractmethod
    def weigh(self, module: nn.Module, power: float) -> None:
        """Weigh each class by (1 / frequency) to that power."""


class Autoregressive(ABC, Generic[In, B, M]):
    """An output that is written token by token, each after those before it."""

    @staticmethod
    @abstractmethod
    def mix_own_tokens(module: M, batch: B, share: float, own: str) -> B:
        """Scheduled sampling: each input is the true token with this probability, else one of the module's own."""

    @abstractmethod
    def exposure(
        self,
        module: M,
        input: In,
        questions: Sequence[TextExample],
        answers: Sequence[Answer],
    ) -> dict[str, dict[str, float]]:
        """Accuracy after true tokens, and after the module's own."""
