"""What an output is: the half of a task that learns targets and gives answers.

`Output` is what every kind of target has. `ManyToOneOutput` is the common part of those that a many-to-one network
gives for a whole source: one label, several labels, a number. What only some outputs can do is a base of its own:
`HasClasses`, `Autoregressive`, and in fitted.py `HasCalibration`, `HasClosedForm`.

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
from atento.models.ensemble import AnyJudge, JudgeEnsemble, first_network, whole_networks
from atento.models.names import ModelName
from atento.models.protocols import Judge
from atento.spec import DecodeRecipe, ModelRecipe, TokensRecipe
from atento.tasks.inputs.input import E, HasWords, Input, Labelled, ManyToOneInput, Network
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
from atento.tasks.traces import Alignment, TraceMatrix, trace_matrix

# Axes: B batch, C outputs.

SUMMARIES = ["summary", "summaries"]  # titles of what a head reads
EACH = "outputs of each member"  # the title of what an ensemble is the mean of
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


class ManyToOneOutput(
    Output[ManyToOneInput[E, Labelled, Network], E, T, Labelled, AnyJudge[Network]],
    Generic[E, Labelled, Network, T],
):
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

    def explain(self, module: nn.Module, input: object, source: str) -> str:
        """What moved an answer, in words, where the module can say more than its attention; empty: it cannot."""
        return ""

    def batch(self, input: ManyToOneInput[E, Labelled, Network], examples: Sequence[Example[E, T]]) -> Labelled:
        """Padded sources with the truth of each."""
        truth = self.truth([example.target for example in examples])
        return input.batch([example.source for example in examples], truth)

    @staticmethod
    def drop_words(input: type[ManyToOneInput[E, Labelled, Network]], batch: Labelled, share: float) -> Labelled:
        """Some tokens of the sources unknown, where they have any."""
        return input.drop_words(batch, share) if issubclass(input, HasWords) else batch

    @staticmethod
    def ensemble(members: Sequence[AnyJudge[Network]]) -> JudgeEnsemble[Network]:
        """The mean of probabilities or of numbers."""
        return JudgeEnsemble(members)

    @staticmethod
    def loss(module: Judge[Any], batch: Labelled, smoothing: float) -> Loss:
        """The loss of the network's head."""
        return module.loss(batch, smoothing=smoothing)

    @torch.no_grad()
    def outputs(
        self, module: AnyJudge[Network], input: ManyToOneInput[E, Labelled, Network], sources: Sequence[str]
    ) -> Iterator[tuple[list[int], Labelled, Tensor]]:
        """Sources in groups of like length: their places, their batch, and its outputs (B, C) on the CPU."""
        for places, encoded in input.groups(sources):
            batch = input.asked(module, encoded)
            yield places, batch, at_least_float32(module(batch)).cpu()

    def answer(
        self,
        module: AnyJudge[Network],
        input: ManyToOneInput[E, Labelled, Network],
        sources: Sequence[str],
        recipe: DecodeRecipe,
    ) -> list[Answer]:
        """An answer for each source, with what it rests on where the network can say."""
        found: dict[int, Answer] = {}
        networks = whole_networks(module)
        for places, batch, outputs in self.outputs(module, input, sources):
            texts = [sources[place] for place in places]
            unknown: list[str | None] = [None] * len(texts)
            evidence = input.evidence(networks, batch, texts) if networks else unknown
            for place, answer, words in zip(places, self.answers(module, outputs), evidence, strict=True):
                found[place] = answer._replace(evidence=words)
        return [found[place] for place in range(len(sources))]

    def look(
        self,
        module: AnyJudge[Network],
        input: ManyToOneInput[E, Labelled, Network],
        source: str,
        recipe: DecodeRecipe,
    ) -> Alignment:
        """An answer, and what of the source it was taken from: of an ensemble, by one member after the other; nothing
        where each label has a network of its own.
        """
        (answer,) = self.answer(module, input, [source], recipe)
        shown = [input.align(network, source, answer) for network in whole_networks(module)]
        if shown:
            weights, words = torch.cat([one.weights for one in shown]), self.explain(module, input, source)
            return shown[0]._replace(weights=weights, explanation=words)
        nothing = input.align(first_network(module), source, answer)
        return nothing._replace(output=[answer.text], weights=torch.zeros(0, 0, 1, len(nothing.source)))

    @torch.no_grad()
    def trace(
        self,
        module: AnyJudge[Network],
        input: ManyToOneInput[E, Labelled, Network],
        source: str,
        recipe: DecodeRecipe,
    ) -> list[TraceMatrix]:
        """A forward pass up to the answer; where each label has a network of its own, of the first. Of an ensemble
        that of the first member, then the outputs of all.
        """
        network = first_network(module)
        ((_, batch, outputs),) = self.outputs(module, input, [source])
        formula, made_of, found = "W · summary + b", SUMMARIES, input.trace(network, source)
        if getattr(network, "wide", None) is not None:
            formula = f"weighted: the linear model of n-grams, and {formula}"
        if isinstance(module, JudgeEnsemble):
            each = torch.cat([at_least_float32(member(batch)).cpu() for member in module.each()])  # (M, C)
            members = [f"member {number + 1}" for number in range(len(each))]
            formula = f"{formula}; the matrices before this one are of member 1 of {len(each)}"
            found.append(trace_matrix(EACH, formula, members, each, columns=self.names, made_of=made_of))
            formula, made_of = module.head.mean_formula, [EACH]
        return [
            *found,
            trace_matrix("outputs", formula, ["output"], outputs, columns=self.names, made_of=made_of),
            self.trace_outputs(module, outputs),
        ]
